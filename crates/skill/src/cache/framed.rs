//! Cache files of two parts, with a mark of what they are and a checksum.

use std::fs;
use std::io::Write;
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The mark at the start of a file: what it holds, and in which version.
pub(super) type Magic = [u8; 16];

const HEADER: usize = 16 + 8 + 8;

/// The content of an intact file.
pub(super) struct Framed {
    bytes: Vec<u8>,
    second: usize,
}

impl Framed {
    pub(super) fn first(&self) -> &[u8] {
        &self.bytes[HEADER..self.second]
    }

    pub(super) fn second(&self) -> &[u8] {
        &self.bytes[self.second..]
    }
}

/// Reads a file that was written with the same mark and has not been damaged since.
pub(super) fn read(file: &Path, magic: &Magic) -> Option<Framed> {
    parse(fs::read(file).ok()?, magic)
}

/// Takes a file's content apart, if it is intact.
pub(super) fn parse(bytes: Vec<u8>, magic: &Magic) -> Option<Framed> {
    let rest = bytes.strip_prefix(magic)?;
    let (checksum, rest) = rest.split_first_chunk::<8>()?;
    if xxh3_64(rest) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    (length <= rest.len()).then(|| Framed { second: HEADER + length, bytes })
}

/// Replaces the file as a whole; `None` where that is not possible.
pub(super) fn write(file: &Path, magic: &Magic, first: &[u8], second: &[u8]) -> Option<()> {
    let folder = file.parent()?;
    fs::create_dir_all(folder).ok()?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).ok()?;
    let length = (first.len() as u64).to_le_bytes();
    let mut checksum = Xxh3Default::new();
    for part in [&length[..], first, second] {
        checksum.update(part);
    }
    for part in [magic, &checksum.digest().to_le_bytes()[..], &length, first, second] {
        temporary.write_all(part).ok()?;
    }
    temporary.persist(file).ok()?;
    Some(())
}

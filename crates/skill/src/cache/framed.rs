//! Cache files of two parts, with a mark of what they are and checksums.
//!
//! The parts are read one after the other, so that work on the first can begin before the second is
//! there.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use xxhash_rust::xxh3::xxh3_64;

/// The mark at the start of a file: what it holds, and in which version.
pub(super) type Magic = [u8; 16];

/// Lengths and checksums of both parts.
const HEADER: usize = 16 + 4 * 8;

/// An opened file: its first part is there and intact, the second can be read.
pub(super) struct Framed<R> {
    pub(super) first: Vec<u8>,
    pub(super) second: Unread<R>,
}

/// A part that has not been read.
pub(super) struct Unread<R> {
    from: R,
    part: Part,
}

/// What is known of a part before it is read.
struct Part {
    length: u64,
    checksum: u64,
}

/// Opens a file that was written with the same mark, and reads its first part.
pub(super) fn open(file: &Path, magic: &Magic) -> Option<Framed<File>> {
    // A pipe would be waited for, and a device may never end.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(file).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    parse(file, magic)
}

/// Reads the first part, if it is intact.
pub(super) fn parse<R: Read>(mut from: R, magic: &Magic) -> Option<Framed<R>> {
    let mut header = [0; HEADER];
    from.read_exact(&mut header).ok()?;
    let (mark, numbers) = header.split_first_chunk::<16>()?;
    let mut numbers = numbers.as_chunks::<8>().0.iter().copied().map(u64::from_le_bytes);
    let mut part = || Some(Part { length: numbers.next()?, checksum: numbers.next()? });
    let (first, second) = (part()?, part()?);
    let first = (mark == magic).then(|| first.read(&mut from))??;
    Some(Framed { first, second: Unread { from, part: second } })
}

impl<R: Read> Unread<R> {
    /// The part, if it is intact and nothing follows it.
    pub(super) fn read(mut self) -> Option<Vec<u8>> {
        let bytes = self.part.read(&mut self.from)?;
        matches!(self.from.read(&mut [0]), Ok(0)).then_some(bytes)
    }
}

impl Part {
    fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u64, checksum: xxh3_64(bytes) }
    }

    fn read(&self, from: impl Read) -> Option<Vec<u8>> {
        // A length may lie, so no more is set aside than what a cache may well hold.
        let mut bytes = Vec::with_capacity(usize::try_from(self.length.min(16 << 20)).ok()?);
        from.take(self.length).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == self.length && xxh3_64(&bytes) == self.checksum).then_some(bytes)
    }
}

/// Replaces the file as a whole; `None` where that is not possible.
pub(super) fn write(file: &Path, magic: &Magic, first: &[u8], second: &[u8]) -> Option<()> {
    let folder = file.parent()?;
    fs::create_dir_all(folder).ok()?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).ok()?;
    let mut header = magic.to_vec();
    for Part { length, checksum } in [first, second].map(Part::of) {
        header.extend(length.to_le_bytes());
        header.extend(checksum.to_le_bytes());
    }
    for part in [&header, first, second] {
        temporary.write_all(part).ok()?;
    }
    temporary.persist(file).ok()?;
    Some(())
}

//! What is to become a pack or an installed skill: one open file, and where in it each file lies.
//!
//! Invariant: whatever the source was, content is read through this one handle, and what is read is
//! checked for size, checksum and limits while it streams.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

use flate2::{Crc, bufread::DeflateDecoder};

use crate::name::PackPath;
use crate::refusal::{Flaw, Refusal};
pub use skill::lock::Mode;

/// How much a pack may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries of an archive, or files of a folder.
    pub entries: u64,
    /// Bytes of all files together.
    pub bytes: u64,
    /// How many times larger content may be than its compressed form.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 10_000, bytes: 100 << 20, ratio: 100 }
    }
}

/// How content is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// As it is.
    Stored,
    /// Compressed.
    Deflated,
}

/// A file of the material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path.
    pub path: PackPath,
    /// Its mode.
    pub mode: Mode,
    /// Bytes it has.
    pub size: u64,
    /// Where its content begins.
    pub start: u64,
    /// Bytes it takes.
    pub stored: u64,
    /// How it is kept.
    pub method: Method,
    /// Its checksum, where there is one.
    pub crc: Option<u32>,
}

/// Why an archive cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is not as it must be.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It cannot be read.
    #[error("cannot read the zip file")]
    Read(#[from] io::Error),
}

/// Files in one open file.
#[derive(Debug)]
pub struct Material {
    pub(crate) file: File,
    pub(crate) entries: Vec<Entry>,
    pub(crate) limits: Limits,
    pub(crate) left_out: Vec<String>,
}

impl Material {
    /// The same files, with `dir` in place of every folder at the top.
    pub fn under(mut self, dir: &str) -> Result<Self, Refusal> {
        for entry in &mut self.entries {
            if let (_, Some(rest)) = entry.path.top() {
                entry.path = PackPath::new(format!("{dir}/{rest}").as_bytes())?;
            }
        }
        self.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(self)
    }

    /// The files, by path.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Paths of the source that belong to no skill, such as what macOS adds to an archive.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Entry> {
        self.entries
            .binary_search_by(|entry| entry.path.as_str().cmp(path))
            .ok()
            .map(|at| &self.entries[at])
    }

    /// Streams the content of an entry to `to`, and checks it on the way.
    pub fn copy(&self, entry: &Entry, to: &mut dyn Write) -> Result<(), ArchiveError> {
        let stored = Section { file: &self.file, at: entry.start, left: entry.stored };
        match entry.method {
            Method::Stored => copy_checked(stored, entry, self.limits.ratio, to),
            Method::Deflated => {
                let mut inflated =
                    DeflateDecoder::new(io::BufReader::with_capacity(32 << 10, stored));
                copy_checked(&mut inflated, entry, self.limits.ratio, to)?;
                // Bytes behind the compressed stream belong to nothing.
                match inflated.total_in() == entry.stored {
                    true => Ok(()),
                    false => Err(Refusal::of(Flaw::SizeLie, entry.path.as_str())
                        .because("its compressed form")
                        .into()),
                }
            }
        }
    }

    /// The whole content of an entry of at most `limit` bytes.
    pub(crate) fn read(&self, entry: &Entry, limit: u64) -> Result<Vec<u8>, ArchiveError> {
        if entry.size > limit {
            let refusal = Refusal::of(Flaw::TooLarge, entry.path.as_str());
            return Err(refusal.because(format!("the limit is {limit} bytes")).into());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(entry.size).unwrap_or_default());
        self.copy(entry, &mut bytes)?;
        Ok(bytes)
    }
}

/// Content is never trusted to be as long as it says: it is counted while it comes.
fn copy_checked(
    mut from: impl Read,
    entry: &Entry,
    ratio: u64,
    to: &mut dyn Write,
) -> Result<(), ArchiveError> {
    let refuse = |flaw| Err(ArchiveError::from(Refusal::of(flaw, entry.path.as_str())));
    let mut crc = Crc::new();
    let mut buffer = vec![0; usize::try_from(entry.size.clamp(1, 64 << 10)).unwrap_or(64 << 10)];
    let mut count = 0_u64;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return refuse(Flaw::Truncated);
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return refuse(Flaw::BadData);
            }
            Err(error) => return Err(error.into()),
        };
        count += read as u64;
        if count > entry.stored.saturating_mul(ratio) {
            return refuse(Flaw::RatioTooHigh);
        }
        if count > entry.size {
            return refuse(Flaw::SizeLie);
        }
        if entry.crc.is_some() {
            crc.update(&buffer[..read]);
        }
        to.write_all(&buffer[..read])?;
    }
    if count != entry.size {
        return refuse(Flaw::SizeLie);
    }
    if entry.crc.is_some_and(|expected| expected != crc.sum()) {
        return refuse(Flaw::WrongCrc);
    }
    Ok(())
}

/// A part of a file, read without moving the handle that others share.
struct Section<'a> {
    file: &'a File,
    at: u64,
    left: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if wanted == 0 {
            return Ok(0);
        }
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

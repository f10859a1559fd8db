//! Writing a pack: the same files give the same bytes, today and with every later version.
//!
//! Invariant: nothing but paths, modes and content shows in the bytes. Content is stored as it is,
//! because what a compressor makes of it changes from version to version. The comment at the end is a
//! hash over everything that is not content, so that no byte of a pack can be changed unseen.

use std::io::{self, Write};

use basics::sha256::hex;
use flate2::Crc;
use sha2::{Digest, Sha256};

use crate::material::Mode;

/// The first day that a zip file knows.
const TIME_AND_DATE: u32 = 0x0021_0000;
const UTF8: u16 = 1 << 11;
const VERSION: u16 = 20;
const UNIX: u16 = 3 << 8;

const PREFIX: &str = "headers sha256:";
/// The length of a pack's comment.
pub(super) const COMMENT: usize = PREFIX.len() + 64;

/// The comment of a pack whose headers have this hash.
pub(super) fn comment(headers: Sha256) -> Vec<u8> {
    format!("{PREFIX}{}", hex(&headers.finalize())).into_bytes()
}

/// Writes entries one after another; their order is the caller's.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    to: W,
    written: u32,
    directory: Vec<u8>,
    entries: u16,
    headers: Sha256,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, written: 0, directory: Vec::new(), entries: 0, headers: Sha256::new() }
    }

    pub(crate) fn add(&mut self, path: &str, mode: Mode, content: &[u8]) -> io::Result<()> {
        let too_large = |_| io::Error::new(io::ErrorKind::FileTooLarge, "a pack has at most 4 GiB");
        let size = u32::try_from(content.len()).map_err(too_large)?;
        let mut crc = Crc::new();
        crc.update(content);
        let mut common = Vec::new();
        common.extend(VERSION.to_le_bytes());
        common.extend(UTF8.to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        common.extend(TIME_AND_DATE.to_le_bytes());
        common.extend(crc.sum().to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend((path.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend((UNIX | VERSION).to_le_bytes());
        self.directory.extend(&common);
        // No comment, first part, no internal attributes.
        self.directory.extend([0; 6]);
        self.directory.extend(((0o100_000 | mode.bits()) << 16).to_le_bytes());
        self.directory.extend(self.written.to_le_bytes());
        self.directory.extend(path.as_bytes());
        let header = [b"PK\x03\x04", &common[..], path.as_bytes()].concat();
        self.headers.update(&header);
        self.to.write_all(&header)?;
        self.to.write_all(content)?;
        let length = header.len() + content.len();
        self.written = u32::try_from(u64::from(self.written) + length as u64).map_err(too_large)?;
        self.entries += 1;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(self.entries.to_le_bytes());
        end.extend(self.entries.to_le_bytes());
        end.extend((self.directory.len() as u32).to_le_bytes());
        end.extend(self.written.to_le_bytes());
        end.extend((COMMENT as u16).to_le_bytes());
        self.headers.update(&self.directory);
        self.headers.update(&end);
        end.extend(comment(self.headers));
        self.to.write_all(&self.directory)?;
        self.to.write_all(&end)?;
        self.to.flush()?;
        Ok(self.to)
    }
}

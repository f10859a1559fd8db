//! The records of a zip file, as they stand in it.

use std::fs::File;

use super::read_exactly;
use crate::material::{ArchiveError, Mode};
use crate::refusal::{Flaw, Refusal};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const END: &[u8; 4] = b"PK\x05\x06";
const END_SIZE: usize = 22;
const ZIP64_LOCATOR: &[u8; 4] = b"PK\x06\x07";

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The end record, and with it the place of the central directory.
#[derive(Debug)]
pub(super) struct End {
    pub(super) entries: u16,
    pub(super) directory_start: u64,
    pub(super) directory_size: u32,
    /// The record itself, with its comment.
    pub(super) record: Vec<u8>,
}

impl End {
    pub(super) const SIZE: usize = END_SIZE;

    /// Finds the one end record, which ends where the file does.
    pub(super) fn find(file: &File, size: u64) -> Result<Self, ArchiveError> {
        let refuse = |flaw| Err(Refusal::whole(flaw).into());
        let longest = (END_SIZE + usize::from(u16::MAX)) as u64;
        let tail_start = size.saturating_sub(longest);
        let tail = read_exactly(file, tail_start, size - tail_start)?;
        let Some(at) = tail.windows(4).rposition(|window| window == END) else {
            let begins = read_exactly(file, 0, size.min(4))?;
            return refuse(if begins == LOCAL.to_le_bytes() {
                Flaw::Truncated
            } else {
                Flaw::NotAZip
            });
        };
        let record = &tail[at..];
        if record.len() < END_SIZE {
            return refuse(Flaw::Truncated);
        }
        let comment_end = END_SIZE + usize::from(u16_at(record, 20));
        if comment_end > record.len() {
            return refuse(Flaw::Truncated);
        }
        let position = tail_start + at as u64;
        let end = Self {
            entries: u16_at(record, 10),
            directory_start: u32_at(record, 16).into(),
            directory_size: u32_at(record, 12),
            record: record.to_vec(),
        };
        let directory_end = end.directory_start + u64::from(end.directory_size);
        // A record before this one is another reader's truth, unless it is some file's content.
        let between =
            usize::try_from(directory_end.saturating_sub(tail_start)).unwrap_or(usize::MAX).min(at);
        if tail[between..at].windows(4).any(|window| window == END) {
            return refuse(Flaw::SeveralEndRecords);
        }
        if comment_end < record.len() {
            return refuse(Flaw::TrailingData);
        }
        if at >= 20 && tail[at - 20..].starts_with(ZIP64_LOCATOR) || u32_at(record, 16) == u32::MAX
        {
            return refuse(Flaw::Zip64);
        }
        if u16_at(record, 4) != 0 || u16_at(record, 6) != 0 || u16_at(record, 8) != end.entries {
            return refuse(Flaw::SplitArchive);
        }
        match directory_end {
            _ if directory_end == position => Ok(end),
            _ if directory_end > position => refuse(Flaw::OverlappingEntries),
            // Offsets that count from where the zip file was before something was put in front of it.
            _ => refuse(Flaw::LeadingData),
        }
    }
}

/// An entry of the central directory.
#[derive(Debug)]
pub(super) struct Central<'a> {
    made_by: u16,
    flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u32,
    pub(super) size: u32,
    pub(super) start: u32,
    attributes: u32,
    pub(super) name: &'a [u8],
}

impl<'a> Central<'a> {
    const SIZE: usize = 46;

    /// Reads the first entry; answers with the bytes behind it.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Refusal> {
        let damaged =
            || Refusal::whole(Flaw::Truncated).because("the central directory is damaged");
        if bytes.len() < Self::SIZE || u32_at(bytes, 0) != CENTRAL {
            return Err(damaged());
        }
        let name_end = Self::SIZE + usize::from(u16_at(bytes, 28));
        let extra_end = name_end + usize::from(u16_at(bytes, 30));
        let end = extra_end + usize::from(u16_at(bytes, 32));
        let name = bytes.get(Self::SIZE..name_end).ok_or_else(damaged)?;
        let extra = bytes.get(name_end..extra_end).ok_or_else(damaged)?;
        let rest = bytes.get(end..).ok_or_else(damaged)?;
        let central = Self {
            made_by: u16_at(bytes, 4),
            flags: u16_at(bytes, 8),
            method: u16_at(bytes, 10),
            crc: u32_at(bytes, 16),
            compressed: u32_at(bytes, 20),
            size: u32_at(bytes, 24),
            start: u32_at(bytes, 42),
            attributes: u32_at(bytes, 38),
            name,
        };
        let refuse = |flaw| Err(Refusal::of(flaw, String::from_utf8_lossy(name)));
        if u16_at(bytes, 34) != 0 {
            return refuse(Flaw::SplitArchive);
        }
        if [central.compressed, central.size, central.start].contains(&u32::MAX) {
            return refuse(Flaw::Zip64);
        }
        if central.flags & (1 | 1 << 6 | 1 << 13) != 0 || central.method == 99 {
            return refuse(Flaw::Encrypted);
        }
        if let Err(flaw) = check_extra(extra) {
            return refuse(flaw);
        }
        Ok((central, rest))
    }

    /// The mode in the upper half of the attributes, where a Unix system wrote it.
    fn unix_mode(&self) -> Option<u32> {
        let mode = self.attributes >> 16;
        // 3 is Unix, 19 is macOS.
        (matches!(self.made_by >> 8, 3 | 19) && mode != 0).then_some(mode)
    }

    pub(super) fn is_folder_by_mode(&self) -> Option<bool> {
        match self.unix_mode()? & 0o170_000 {
            0 => None,
            kind => Some(kind == 0o040_000),
        }
    }

    /// What may be done with the file; links, devices and their like are refused.
    pub(super) fn mode(&self) -> Result<Mode, Flaw> {
        // An entry that hides what it is behind another system's name is no better.
        let high = self.attributes >> 16;
        match high & 0o170_000 {
            0 | 0o040_000 | 0o100_000 => {}
            0o120_000 => return Err(Flaw::Symlink),
            0o020_000 | 0o060_000 => return Err(Flaw::Device),
            0o010_000 => return Err(Flaw::Fifo),
            0o140_000 => return Err(Flaw::Socket),
            _ => return Err(Flaw::OddType),
        }
        if self.unix_mode().is_some_and(|mode| mode & 0o7000 != 0) {
            return Err(Flaw::Setuid);
        }
        Ok(Mode::of(self.unix_mode().unwrap_or(0)))
    }
}

/// The fixed part of a local header.
#[derive(Debug)]
pub(super) struct Local {
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u32,
    size: u32,
    pub(super) name_length: u16,
    pub(super) extra_length: u16,
}

impl Local {
    pub(super) const SIZE: u64 = 30;

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        (u32_at(bytes, 0) == LOCAL).then(|| Self {
            flags: u16_at(bytes, 6),
            method: u16_at(bytes, 8),
            crc: u32_at(bytes, 14),
            compressed: u32_at(bytes, 18),
            size: u32_at(bytes, 22),
            name_length: u16_at(bytes, 26),
            extra_length: u16_at(bytes, 28),
        })
    }

    /// Whether sizes and checksum follow the content instead.
    pub(super) fn has_descriptor(&self) -> bool {
        self.flags & (1 << 3) != 0
    }

    pub(super) fn compare(&self, central: &Central<'_>) -> Result<(), &'static str> {
        if self.flags != central.flags {
            return Err("other flags");
        }
        if self.method != central.method {
            return Err("another method");
        }
        let here = [self.crc, self.compressed, self.size];
        let there = [central.crc, central.compressed, central.size];
        let later = self.has_descriptor() && here == [0; 3];
        if here != there && !later {
            return Err("another size or checksum");
        }
        Ok(())
    }
}

/// The length of the data descriptor at the start of `bytes`, if it says what it must.
pub(super) fn descriptor_length(bytes: &[u8], central: &Central<'_>) -> Option<u64> {
    let says = |at: usize| {
        bytes.len() >= at + 12
            && [u32_at(bytes, at), u32_at(bytes, at + 4), u32_at(bytes, at + 8)]
                == [central.crc, central.compressed, central.size]
    };
    match () {
        () if u32_at(bytes, 0) == DESCRIPTOR && says(4) => Some(16),
        () if says(0) => Some(12),
        () => None,
    }
}

/// Extra fields hold times and owners; one that renames or resizes an entry is not allowed.
pub(super) fn check_extra(mut extra: &[u8]) -> Result<(), Flaw> {
    while extra.len() >= 4 {
        match u16_at(extra, 0) {
            0x0001 => return Err(Flaw::Zip64),
            0x9901 | 0x0017 => return Err(Flaw::Encrypted),
            // Another name, another comment.
            0x7075 | 0x6375 => return Err(Flaw::OddExtraField),
            _ => {}
        }
        extra = extra.get(4 + usize::from(u16_at(extra, 2))..).ok_or(Flaw::OddExtraField)?;
    }
    // Some writers pad with up to three zero bytes.
    if extra.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(Flaw::OddExtraField) }
}

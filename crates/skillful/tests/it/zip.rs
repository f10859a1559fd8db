//! Zip files as nobody should write them.

use std::io::Write;

use flate2::{Compression, Crc, write::DeflateEncoder};

/// An entry; everything about it can be a lie.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) name: Vec<u8>,
    pub(crate) local_name: Option<Vec<u8>>,
    pub(crate) data: Vec<u8>,
    pub(crate) size: u32,
    pub(crate) crc: u32,
    pub(crate) method: u16,
    pub(crate) local_method: Option<u16>,
    pub(crate) flags: u16,
    pub(crate) local_flags: Option<u16>,
    pub(crate) local_size: Option<u32>,
    pub(crate) compressed: Option<u32>,
    pub(crate) mode: u32,
    pub(crate) made_by: u16,
    pub(crate) extra: Vec<u8>,
    pub(crate) local_extra: Vec<u8>,
    /// Bytes in front of the local header, and behind the data.
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    /// Where the directory says it is.
    pub(crate) start: Option<u32>,
}

pub(crate) fn crc(content: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(content);
    crc.sum()
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn item(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Item {
    let content = content.as_ref();
    Item {
        name: name.as_ref().to_vec(),
        local_name: None,
        data: content.to_vec(),
        size: content.len() as u32,
        crc: crc(content),
        method: 0,
        local_method: None,
        flags: 0,
        local_flags: None,
        local_size: None,
        compressed: None,
        mode: 0o100_644,
        made_by: 3 << 8 | 20,
        extra: Vec::new(),
        local_extra: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        start: None,
    }
}

impl Item {
    pub(crate) fn deflated(mut self) -> Self {
        self.data = deflate(&self.data);
        self.method = 8;
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

pub(crate) fn zip(items: &[Item]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for item in items {
        bytes.extend(&item.before);
        let start = item.start.unwrap_or(bytes.len() as u32);
        let compressed = item.compressed.unwrap_or(item.data.len() as u32);
        let header = |flags: u16, method: u16, size: u32, name: &[u8], extra: &[u8]| {
            let mut header = 20_u16.to_le_bytes().to_vec();
            header.extend(flags.to_le_bytes());
            header.extend(method.to_le_bytes());
            header.extend(0x0021_0000_u32.to_le_bytes());
            header.extend(item.crc.to_le_bytes());
            header.extend(compressed.to_le_bytes());
            header.extend(size.to_le_bytes());
            header.extend((name.len() as u16).to_le_bytes());
            header.extend((extra.len() as u16).to_le_bytes());
            header
        };
        let local_name = item.local_name.as_ref().unwrap_or(&item.name);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(header(
            item.local_flags.unwrap_or(item.flags),
            item.local_method.unwrap_or(item.method),
            item.local_size.unwrap_or(item.size),
            local_name,
            &item.local_extra,
        ));
        bytes.extend(local_name);
        bytes.extend(&item.local_extra);
        bytes.extend(&item.data);
        bytes.extend(&item.after);
        directory.extend(b"PK\x01\x02");
        directory.extend(item.made_by.to_le_bytes());
        directory.extend(header(item.flags, item.method, item.size, &item.name, &item.extra));
        directory.extend([0; 6]);
        directory.extend((item.mode << 16).to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend(&item.name);
        directory.extend(&item.extra);
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(end(items.len() as u16, directory.len() as u32, start));
    bytes
}

pub(crate) fn end(entries: u16, size: u32, start: u32) -> Vec<u8> {
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend(entries.to_le_bytes());
    end.extend(entries.to_le_bytes());
    end.extend(size.to_le_bytes());
    end.extend(start.to_le_bytes());
    end.extend(0_u16.to_le_bytes());
    end
}

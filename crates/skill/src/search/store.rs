//! A search index as bytes.

use super::SearchIndex;

type Terms = (u64, Vec<u32>, String, Vec<(u32, u32)>);

impl SearchIndex {
    /// Everything but the postings, and the postings, which are kept as they are.
    pub(crate) fn encode(&self) -> Option<(Vec<u8>, &[u8])> {
        let terms = (self.fingerprint, &self.lengths, &self.terms, &self.ends);
        Some((postcard::to_stdvec(&terms).ok()?, &self.postings))
    }

    pub(crate) fn decode(terms: &[u8], postings: &[u8]) -> Option<Self> {
        let (fingerprint, lengths, terms, ends): Terms = postcard::from_bytes(terms).ok()?;
        Some(Self { fingerprint, lengths, terms, ends, postings: postings.to_vec() })
    }
}

pub(super) fn put_postings(list: &[(u32, u32)], bytes: &mut Vec<u8>) {
    let mut last = 0;
    for (document, count) in list {
        put(document - last, bytes);
        put(*count, bytes);
        last = *document;
    }
}

pub(super) fn postings(mut bytes: &[u8]) -> Option<Vec<(usize, u32)>> {
    let mut list = Vec::with_capacity(bytes.len() / 2);
    let mut document = 0_u32;
    while !bytes.is_empty() {
        document = document.checked_add(take(&mut bytes)?)?;
        list.push((document as usize, take(&mut bytes)?));
    }
    Some(list)
}

fn put(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7F).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

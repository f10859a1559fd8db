//! What is kept of an installed pack: its manifest and signature, beside the skills.
//!
//! Invariant: it may have come with a clone, so nothing is followed or waited for, and a hash that is
//! none names nothing.

use super::Root;
use crate::check::{LARGEST_MANIFEST, LARGEST_SIGNATURE};
use crate::disk::read_plain;
use crate::manifest::{DETACHED, MANIFEST, SIGNATURE};

/// The manifest of an installed pack, and its signature.
#[derive(Debug)]
pub struct KeptPack {
    /// The bytes of `manifest.json`.
    pub manifest: Vec<u8>,
    /// The signature of these bytes.
    pub signature: Option<String>,
    /// Whether that lay beside the pack.
    pub is_detached: bool,
}

impl Root {
    /// Reads what is kept of a pack, by its manifest's hash.
    pub fn kept_pack(&self, hash: &str) -> Option<KeptPack> {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let folder = self.packs().join(hash);
        if !is_hash || self.reached(&folder.join(MANIFEST)).is_err() {
            return None;
        }
        let signature = read_plain(&folder.join(SIGNATURE), LARGEST_SIGNATURE).ok();
        Some(KeptPack {
            manifest: read_plain(&folder.join(MANIFEST), LARGEST_MANIFEST).ok()?,
            signature: signature.and_then(|bytes| String::from_utf8(bytes).ok()),
            is_detached: folder.join(DETACHED).exists(),
        })
    }
}

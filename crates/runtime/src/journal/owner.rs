//! Whose record it is.
//!
//! A chain of hashes shows that a record was changed, not who made it: anybody can make a chain. So each commit is
//! signed with a key that lies in the user's home, where no project reaches. A record that a project brought along has
//! no such signature, nor has one of another run, another workspace or another home.

use std::fmt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Bytes of a key.
pub(super) const KEY: usize = 32;

/// The secret that signs records.
#[derive(Clone)]
pub struct RecordKey([u8; KEY]);

impl RecordKey {
    /// A key from random bytes.
    pub fn new(bytes: [u8; KEY]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RecordKey(…)")
    }
}

/// Who makes records here: a user's key, and the workspace they belong to.
#[derive(Debug, Clone)]
pub struct Owner {
    key: RecordKey,
    workspace: PathBuf,
}

/// Where a record comes from, the best first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It was made here: by this user, in this workspace.
    Here,
    /// It was made elsewhere, and the user looked at it and took it over.
    Adopted,
    /// Nobody knows. It can be looked at, and nothing is done because of it.
    Elsewhere,
}

impl Origin {
    /// Whether the user stands behind it.
    pub fn is_own(self) -> bool {
        self != Self::Elsewhere
    }

    /// The words for it in `verify`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Here => "made here",
            Self::Adopted => "adopted",
            Self::Elsewhere => "not made here",
        }
    }
}

/// The end of a commit: what the owner says about its hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature {
    /// What it claims: never [`Origin::Elsewhere`].
    pub(super) origin: Origin,
    /// In hexadecimal.
    pub(super) mac: String,
}

impl Signature {
    const MADE: &str = "made:";
    const ADOPTED: &str = "adopted:";

    /// Reads one that [`Signature`] wrote.
    pub(super) fn parse(word: &[u8]) -> Option<Self> {
        let word = std::str::from_utf8(word).ok()?;
        let (origin, mac) = match (word.strip_prefix(Self::MADE), word.strip_prefix(Self::ADOPTED))
        {
            (Some(mac), _) => (Origin::Here, mac),
            (_, Some(mac)) => (Origin::Adopted, mac),
            _ => return None,
        };
        let is_mac = mac.len() == 2 * KEY
            && mac.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_mac.then(|| Self { origin, mac: mac.to_owned() })
    }

    /// Whether bytes are the beginning of one, as a kill leaves it.
    pub(super) fn is_begun(bytes: &[u8]) -> bool {
        let digits = [b'0'; 2 * KEY];
        [Self::MADE, Self::ADOPTED].into_iter().any(|word| {
            let whole = [word.as_bytes(), &digits].concat();
            bytes.len() <= whole.len()
                && bytes.iter().zip(&whole).enumerate().all(|(place, (byte, wanted))| {
                    if place < word.len() {
                        byte == wanted
                    } else {
                        matches!(byte, b'0'..=b'9' | b'a'..=b'f')
                    }
                })
        })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.origin == Origin::Adopted { Self::ADOPTED } else { Self::MADE };
        write!(formatter, "{word}{}", self.mac)
    }
}

impl Owner {
    /// The owner of the records of a workspace.
    pub fn new(key: RecordKey, workspace: &Path) -> Self {
        Self { key, workspace: workspace.to_owned() }
    }

    /// Signs a commit that makes a run's events `events` in number; `hashes` are those of its lines, as they are
    /// written.
    pub(super) fn sign(
        &self,
        origin: Origin,
        run_id: &str,
        events: u64,
        hashes: &str,
    ) -> Signature {
        let mac = self.mac(origin, run_id, events, hashes).finalize().into_bytes();
        Signature { origin, mac: basics::sha256::hex(&mac) }
    }

    /// Whether a signature is one of this owner's for this commit.
    pub(super) fn signed(
        &self,
        signature: &Signature,
        run_id: &str,
        events: u64,
        hashes: &str,
    ) -> bool {
        let Signature { origin, mac } = signature;
        let mut bytes = [0; KEY];
        let read = bytes.iter_mut().zip(mac.as_bytes().chunks(2)).all(|(byte, digits)| {
            let digits = std::str::from_utf8(digits).ok();
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).is_some_and(|found| {
                *byte = found;
                true
            })
        });
        // In constant time, so that nobody finds a signature byte by byte.
        read && self.mac(*origin, run_id, events, hashes).verify_slice(&bytes).is_ok()
    }

    /// Signs a text that is no record, such as a result of an eval; `purpose` says what it is.
    pub fn sign_text(&self, purpose: &str, text: &str) -> String {
        self.sign(Origin::Here, purpose, 0, text).to_string()
    }

    /// Whether this is what [`Owner::sign_text`] says of a text.
    pub fn signed_text(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let signature = Signature::parse(signature.as_bytes());
        signature.is_some_and(|found| {
            found.origin == Origin::Here && self.signed(&found, purpose, 0, text)
        })
    }

    fn mac(&self, origin: Origin, run_id: &str, events: u64, hashes: &str) -> Hmac<Sha256> {
        use std::os::unix::ffi::OsStrExt;
        // A key that is shorter than a block is filled with zeros, by definition; so filled, none is refused.
        let mut block = [0; 64];
        block[..KEY].copy_from_slice(&self.key.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(b"skillful record 1\0");
        let workspace = self.workspace.as_os_str().as_bytes();
        // Each with its length, so that no two commits give the same bytes.
        for part in [origin.describe().as_bytes(), run_id.as_bytes(), workspace, hashes.as_bytes()]
        {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.update(&events.to_be_bytes());
        mac
    }
}

#[cfg(test)]
mod tests;

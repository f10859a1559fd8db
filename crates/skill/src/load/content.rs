//! Everything that a skill's folder holds, as one hash: what an approval or trust is bound to.
//!
//! Invariant: nothing is passed over, whatever it is called and however deep it lies. Where something cannot be
//! vouched for, there is no hash, and the reason is said.
//! Invariant: a skill without links and empty folders has the hash that a lockfile gives it.

mod links;
mod walk;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

use basics::sha256::{Sha256, hex};
use basics::text::for_terminal;
use sha2::{Digest, Sha256 as Hasher};

use super::{Files, LoadError};
use crate::content_hash::ContentHash;
use crate::entry::{Entry, Verdict, Waiting};
use crate::lock::{FileRecord, Mode, absorb};
use walk::Walk;

/// Files, folders and links of a skill that are looked at.
const COUNT: usize = 20_000;
/// Bytes of them.
const BYTES: u64 = 256 << 20;
/// How deep folders may nest; each level keeps a handle open.
const DEPTH: usize = 100;

/// Why nobody can vouch for all that a skill holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Gap {
    /// A link leads out of the skill, and what is there can change at any time.
    #[error("`{path}` leads out of the skill", path = for_terminal(path))]
    LeadsOut {
        /// The link.
        path: String,
    },
    /// A pipe, a socket or a device.
    #[error("`{path}` is neither a file nor a folder", path = for_terminal(path))]
    NotAFile {
        /// What it is called.
        path: String,
    },
    /// The system refuses to read it.
    #[error("`{path}` cannot be read: {reason}", path = for_terminal(path))]
    Unreadable {
        /// The file or folder.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// There are too many.
    #[error("it has more than {COUNT} files and folders")]
    TooManyFiles,
    /// They are too large.
    #[error("it has more than {} MiB", BYTES >> 20)]
    TooManyBytes,
    /// They are too deep.
    #[error("folders are nested deeper than {DEPTH} levels")]
    TooDeep,
}

/// Why a skill could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// It holds something that nobody can vouch for.
    #[error(transparent)]
    Gap(#[from] Gap),
    /// The copy cannot be written.
    #[error("cannot copy the skill")]
    Write(#[from] io::Error),
}

/// Everything that a skill's folder holds.
#[derive(Debug)]
pub struct Content {
    /// In the byte order of their paths.
    items: Vec<Item>,
    hash: Result<ContentHash, Gap>,
}

/// Something in a skill's folder. A folder counts only where it is empty.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    path: Vec<u8>,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    File { mode: Mode, size: u64, sha256: String },
    Link { target: Vec<u8> },
    Folder,
}

impl Content {
    fn new(mut items: Vec<Item>, gap: Option<Gap>) -> Self {
        items.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let gap = gap.or_else(|| links::leading_out(&items));
        let hash = gap.map_or_else(|| Ok(hash(&items)), Err);
        Self { items, hash }
    }

    /// The hash over everything, or why there is none.
    pub fn hash(&self) -> Result<&ContentHash, &Gap> {
        self.hash.as_ref()
    }

    /// The files that could be read, in the order of their paths.
    pub fn records(&self) -> Vec<FileRecord> {
        let record = |item: &Item| match &item.kind {
            Kind::File { mode, size, sha256 } => Some(FileRecord {
                path: String::from_utf8_lossy(&item.path).into_owned(),
                sha256: sha256.clone(),
                size: *size,
                mode: *mode,
            }),
            Kind::Link { .. } | Kind::Folder => None,
        };
        self.items.iter().filter_map(record).collect()
    }

    /// Whether `bytes` are what the file at `path` held.
    fn holds(&self, path: &str, bytes: &[u8]) -> bool {
        let real = links::resolve(&self.items, &[], path.as_bytes());
        let found = real.inside().and_then(|real| item_at(&self.items, &real));
        matches!(found, Some(Kind::File { sha256: known, .. }) if *known == Sha256::of(bytes).to_string())
    }
}

fn item_at<'a>(items: &'a [Item], path: &[u8]) -> Option<&'a Kind> {
    let place = items.binary_search_by(|item| item.path.as_slice().cmp(path)).ok()?;
    Some(&items[place].kind)
}

fn hash(items: &[Item]) -> ContentHash {
    let mut tree = Hasher::new();
    for Item { path, kind } in items {
        match kind {
            Kind::File { mode, size, sha256 } => {
                absorb(&mut tree, path, mode.bits(), *size, sha256);
            }
            Kind::Link { target } => {
                absorb(
                    &mut tree,
                    path,
                    0o120_777,
                    target.len() as u64,
                    &Sha256::of(target).to_string(),
                );
            }
            Kind::Folder => absorb(&mut tree, path, 0o40_755, 0, ""),
        }
    }
    ContentHash(format!("sha256:{}", hex(&tree.finalize())))
}

impl Files {
    /// Everything that the skill holds, as it was when this was first asked for.
    pub fn content(&self) -> &Content {
        self.content.get_or_init(|| {
            let mut walk = Walk::default();
            let gap = match self.walk(&mut walk, None) {
                Ok(()) => None,
                Err(CopyError::Gap(gap)) => Some(gap),
                // Nothing is written.
                Err(CopyError::Write(error)) => Some(Gap::Unreadable {
                    path: self.name().to_owned(),
                    reason: error.kind().to_string(),
                }),
            };
            walk.finish(gap)
        })
    }

    /// Writes everything that the skill holds to a new folder of its name in `folder`. Answers with that name,
    /// and with the hash of exactly what was written.
    pub fn copy_to(&self, folder: impl AsFd) -> Result<(OsString, ContentHash), CopyError> {
        let name = self.folder_name();
        let target = walk::create_folder(folder, name)?;
        let mut walk = Walk::default();
        self.walk(&mut walk, Some(&target))?;
        Ok((name.to_owned(), walk.finish(None).hash?))
    }

    /// Refuses a skill that is not what was trusted, to the last byte.
    pub fn check_trusted(&self) -> Result<(), LoadError> {
        let Some(trusted) = &self.trusted else { return Ok(()) };
        match self.content().hash() {
            Ok(hash) if hash == trusted => Ok(()),
            Ok(_) => Err(self.changed(None)),
            Err(gap) => Err(self.changed(Some(gap.clone()))),
        }
    }

    /// Refuses bytes of a file that are not those that were trusted.
    pub(super) fn check_bytes(&self, path: &str, bytes: &[u8]) -> Result<(), LoadError> {
        let is_same = self.trusted.is_none() || self.content().holds(path, bytes);
        if is_same { Ok(()) } else { Err(self.changed(None)) }
    }

    fn changed(&self, gap: Option<Gap>) -> LoadError {
        LoadError::Changed { name: self.name().to_owned(), gap }
    }
}

impl Entry {
    /// The skill for a person who looks at it: nothing of it is refused, and `trusted` says whether all that it
    /// holds is what was trusted.
    pub fn looked_at(&self) -> Self {
        let changed = matches!(check_trusted(self), Err(LoadError::Changed { .. }));
        let mut looked_at = self.clone();
        looked_at.judge(match self.waiting {
            _ if changed => Verdict::Waits(Waiting::Changed),
            Some(waiting) => Verdict::Waits(waiting),
            None => Verdict::Trusted(None),
        });
        looked_at
    }
}

/// Refuses a skill that is not what was trusted, to the last byte.
pub fn check_trusted(entry: &Entry) -> Result<(), LoadError> {
    Files::open(entry)?.check_trusted()
}

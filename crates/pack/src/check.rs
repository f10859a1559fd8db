//! Everything that is checked of a pack before it may be installed.
//!
//! Invariant: only [`check`] makes a [`Verified`], and installing takes one.

mod skills;

use crate::material::{ArchiveError, Entry, Material};
use crate::refusal::details;
use basics::failure::{Exit, Explain};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use basics::sha256::hex;
use sha2::{Digest, Sha256};
use skill::lock::{FileRecord, Signer};
use skill::metadata::ReadOptions;
use skill::trust::TrustStore;

use crate::manifest::{MANIFEST, Manifest, SIGNATURE};
use crate::refusal::{Flaw, Refusal};
use crate::signature;
pub use skills::{PackedSkill, check_name};

/// A manifest beyond this is not one: 10,000 files take about 2 MB.
pub(crate) const LARGEST_MANIFEST: u64 = 16 << 20;
pub(crate) const LARGEST_SIGNATURE: u64 = 64 << 10;

/// A pack and what was found out about it.
#[derive(Debug)]
pub struct Pack {
    /// Its content.
    pub material: Material,
    /// Its skills, by their folder.
    pub skills: Vec<PackedSkill>,
    /// All files but manifest and signature, by path.
    pub files: Vec<FileRecord>,
    /// The bytes of `manifest.json`.
    pub manifest: Option<Vec<u8>>,
    /// The signature of these bytes.
    pub signature: Option<String>,
    /// Whether that lay beside the pack.
    pub is_detached: bool,
    /// Who signed it.
    pub signer: Option<Signer>,
    /// What was found and let pass, because the user allowed it.
    pub allowed: Vec<Refusal>,
}

/// Proof that something was checked.
#[derive(Debug)]
pub struct Verified<T>(T);

impl Verified<Pack> {
    /// The content, to be checked again while it is unpacked.
    pub fn into_material(self) -> Material {
        self.0.material
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// What a pack is held to.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// Whose keys count.
    pub trust: &'a TrustStore,
    /// How frontmatter is read.
    pub read: &'a ReadOptions,
    /// Flaws that the user lets pass; only those of trust that can be let pass.
    pub allowed: &'a [Flaw],
}

impl Rules<'_> {
    /// Flaws that a user may let pass.
    pub const NEGOTIABLE: &'static [Flaw] = &[
        Flaw::UnknownKey,
        Flaw::BecameUnsigned,
        Flaw::OtherSigner,
        Flaw::OlderVersion,
        Flaw::ChangedVersion,
    ];

    /// Sorts what was found into what is let pass and what is not.
    pub fn judge(&self, refusal: Refusal, passed: &mut Vec<Refusal>) -> Result<(), Refusal> {
        let allowed =
            self.allowed.contains(&refusal.flaw) && Self::NEGOTIABLE.contains(&refusal.flaw);
        if !allowed {
            return Err(refusal);
        }
        passed.push(refusal);
        Ok(())
    }
}

/// Why a pack is not taken.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It is not as it must be; the first reason decides.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Refused(Vec<Refusal>),
    /// It cannot be read, or not be unpacked.
    #[error("{what}")]
    Io {
        /// What could not be done.
        what: String,
        /// Why.
        source: io::Error,
    },
}

impl From<Refusal> for CheckError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(vec![refusal])
    }
}

impl From<ArchiveError> for CheckError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Refused(refusal) => refusal.into(),
            ArchiveError::Read(source) => {
                Self::Io { what: "cannot read the pack".to_owned(), source }
            }
        }
    }
}

/// Copies a file's content, checked on the way.
pub type Copy<'a> = dyn FnMut(&mut dyn io::Write) -> Result<(), ArchiveError> + 'a;

/// Makes a place for a file and has its content copied there.
pub type Unpack<'a> = dyn Fn(&Entry, &mut Copy<'_>) -> Result<(), ArchiveError> + Sync + 'a;

/// Checks a pack as a whole. `detached` is a signature that lies beside it; `unpack` gets the content of
/// every file of a skill on the way, `progress` the number of bytes.
pub fn check(
    material: Material,
    detached: Option<String>,
    rules: &Rules<'_>,
    unpack: Option<&Unpack<'_>>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Verified<Pack>, CheckError> {
    let manifest = read_optional(&material, MANIFEST, LARGEST_MANIFEST)?;
    let embedded = read_optional(&material, SIGNATURE, LARGEST_SIGNATURE)?;
    let is_detached = embedded.is_none() && detached.is_some();
    let signature = match embedded {
        Some(bytes) => Some(
            String::from_utf8(bytes).map_err(|_| Refusal::of(Flaw::InvalidSignature, SIGNATURE))?,
        ),
        None => detached,
    };
    let parsed = manifest.as_deref().map(Manifest::parse).transpose()?;
    let mut allowed = Vec::new();
    let signer = match (&signature, &manifest, &parsed) {
        (None, ..) => None,
        (Some(_), None, _) | (Some(_), _, None) => {
            return Err(Refusal::of(Flaw::SignatureWithoutManifest, SIGNATURE).into());
        }
        (Some(text), Some(bytes), Some(parsed)) => {
            match signature::check(text, bytes, parsed, rules.trust) {
                Ok(signer) => Some(signer),
                Err(refusal) => {
                    rules.judge(refusal, &mut allowed)?;
                    None
                }
            }
        }
    };
    let mut skills = skills::find(&material, rules.read)?;
    let files = hash_all(&material, unpack, progress)?;
    if let Some(parsed) = &parsed {
        skills::compare_names(parsed, &skills)?;
        compare_files(parsed, &files).map_err(CheckError::Refused)?;
    }
    skills::assign(&mut skills, &files);
    Ok(Verified(Pack {
        material,
        skills,
        files,
        manifest,
        signature,
        is_detached,
        signer,
        allowed,
    }))
}

fn read_optional(
    material: &Material,
    path: &str,
    limit: u64,
) -> Result<Option<Vec<u8>>, ArchiveError> {
    material.get(path).map(|entry| material.read(entry, limit)).transpose()
}

fn is_content(entry: &Entry) -> bool {
    !matches!(entry.path.as_str(), MANIFEST | SIGNATURE)
}

/// The hash of every file of a skill; the work is shared by all cores.
fn hash_all(
    material: &Material,
    unpack: Option<&Unpack<'_>>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<FileRecord>, CheckError> {
    let entries: Vec<&Entry> =
        material.entries().iter().filter(|entry| is_content(entry)).collect();
    let hash = |entry: &&Entry| {
        let mut hasher = Sha256::new();
        match unpack {
            None => {
                material.copy(entry, &mut Hashing { hasher: &mut hasher, to: &mut io::sink() })?
            }
            Some(unpack) => {
                unpack(entry, &mut |to| {
                    material.copy(entry, &mut Hashing { hasher: &mut hasher, to })
                })?;
            }
        }
        progress(entry.size);
        let path = entry.path.as_str().to_owned();
        Ok(FileRecord { path, sha256: hex(&hasher.finalize()), size: entry.size, mode: entry.mode })
    };
    let results: Vec<Result<FileRecord, ArchiveError>> = in_parallel(&entries, hash);
    results.into_iter().collect::<Result<_, _>>().map_err(Into::into)
}

/// Bytes on their way to somewhere, hashed.
struct Hashing<'a> {
    hasher: &'a mut Sha256,
    to: &'a mut dyn io::Write,
}

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write_all(bytes)?;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The results of `work`, in the order of `items`. After an error no more is begun.
pub(crate) fn in_parallel<I: Sync, T: Send, E: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Vec<Result<T, E>> {
    const MOST: usize = 8;
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST)
        .min(items.len().div_ceil(4))
        .max(1);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    let worker = || {
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            own.push((at, result));
        }
        results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(own);
    };
    thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(worker);
        });
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Holds files to what a list says; every difference is named.
pub(crate) fn differences(listed: &[FileRecord], found: &[FileRecord]) -> Vec<Refusal> {
    let (known, there) = (by_path(listed), by_path(found));
    let flaw = |record: &FileRecord| match there.get(record.path.as_str()) {
        None => Some(Flaw::ListedButAbsent),
        Some(other) if other.size != record.size => Some(Flaw::WrongSize),
        Some(other) if other.sha256 != record.sha256 => Some(Flaw::WrongHash),
        Some(other) if other.mode != record.mode => Some(Flaw::WrongMode),
        Some(_) => None,
    };
    let wrong = listed.iter().filter_map(|record| Some(Refusal::of(flaw(record)?, &record.path)));
    let unlisted = found.iter().filter(|record| !known.contains_key(record.path.as_str()));
    wrong
        .chain(unlisted.map(|record| Refusal::of(Flaw::PresentButUnlisted, &record.path)))
        .collect()
}

fn by_path(records: &[FileRecord]) -> HashMap<&str, &FileRecord> {
    records.iter().map(|record| (record.path.as_str(), record)).collect()
}

fn compare_files(manifest: &Manifest, files: &[FileRecord]) -> Result<(), Vec<Refusal>> {
    let mut refusals = differences(&manifest.files, files);
    if manifest.files.len() > files.len() && refusals.is_empty() {
        refusals
            .push(Refusal::of(Flaw::InvalidManifest, MANIFEST).because("a file is listed twice"));
    }
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

impl Explain for CheckError {
    fn exit(&self) -> Exit {
        match self {
            Self::Refused(refusals) => refusals.first().map_or(Exit::Failed, Explain::exit),
            Self::Io { .. } => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusals) => refusals.first().map_or("Refused", Explain::code),
            Self::Io { .. } => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Refused(refusals) => refusals.first().map_or("".into(), Explain::hint),
            Self::Io { .. } => "nothing was changed; check permissions and free space".into(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Refused(refusals) => Some(details(refusals)),
            Self::Io { .. } => None,
        }
    }
}

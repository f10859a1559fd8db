//! Scans kept between processes, so that the second start reads nothing that has not changed.
//!
//! Invariant: a kept scan is used only when every file, folder and link it rests on is as it was. A
//! cache file that is damaged, foreign or of another version counts as absent; nothing that goes
//! wrong here is an error.

mod framed;

#[cfg(test)]
mod tests;

use std::fs;
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use crate::roots::Root;
use crate::scan::{self, Found, Ignored, Known, Scan, ScanOptions, Stamped};
use crate::search::{self, Document, SearchIndex};

/// Changes whenever what is stored, or how it is read from a skill, changes.
const MAGIC: &framed::Magic = b"skillful-scan-1\n";

const SEARCH_MAGIC: &framed::Magic = b"skillful-find-1\n";

/// How much of a scan came from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// No cache was used.
    Off,
    /// There was nothing to use.
    Cold,
    /// Some files were read again.
    Partial,
    /// Nothing was read.
    Warm,
}

/// A folder with one file a root.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    /// Scans are compared with the file system's own clock, so this is the real time.
    clock: fn() -> SystemTime,
}

/// What a scan rests on, and the rest, apart: the first is checked while the second is decoded.
#[derive(Serialize, Deserialize)]
struct Basis {
    started: Duration,
    stamps: Vec<Stamped>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    found: Vec<Found>,
    ignored: Vec<Ignored>,
}

impl Cache {
    /// A cache in `folder`, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), clock: SystemTime::now }
    }

    /// Scans `root`, reading only what has changed since the last time.
    pub(crate) fn scan(&self, root: &Path, options: &ScanOptions) -> (Scan, CacheState) {
        let file = self.file(root, options);
        let Some((kept, holds)) = load(&file, root, options.threads) else {
            let fresh = scan::scan(root, options, &Known::new(), (self.clock)());
            Self::store(&file, &fresh);
            return (fresh, CacheState::Cold);
        };
        if holds {
            return (kept, CacheState::Warm);
        }
        let fresh = scan::scan(root, options, &known(&kept), (self.clock)());
        Self::store(&file, &fresh);
        (fresh, CacheState::Partial)
    }

    /// Forgets what is known about `root`.
    pub(crate) fn forget(&self, root: &Path, options: &ScanOptions) {
        // A file that is not there is as good as forgotten.
        let _ = fs::remove_file(self.file(root, options));
    }

    /// A search index over `documents`, built anew where the kept one is of other documents.
    pub(crate) fn search_index(&self, roots: &[Root], documents: &[Document<'_>]) -> SearchIndex {
        let mut hasher = Xxh3Default::new();
        roots.iter().for_each(|root| hasher.write(root.path.as_os_str().as_bytes()));
        let file = self.folder.join(format!("{:016x}.search", hasher.finish()));
        let fingerprint = search::fingerprint(documents);
        let kept = framed::read(&file, SEARCH_MAGIC)
            .and_then(|kept| SearchIndex::decode(kept.first(), kept.second()))
            .filter(|kept| kept.fingerprint == fingerprint);
        kept.unwrap_or_else(|| {
            let fresh = SearchIndex::build(documents, fingerprint);
            if let Some((terms, postings)) = fresh.encode() {
                framed::write(&file, SEARCH_MAGIC, &terms, postings);
            }
            fresh
        })
    }

    fn file(&self, root: &Path, options: &ScanOptions) -> PathBuf {
        let mut hasher = Xxh3Default::new();
        hasher.write(root.as_os_str().as_bytes());
        // The number of threads does not change what is found.
        ScanOptions { threads: 0, ..options.clone() }.hash(&mut hasher);
        self.folder.join(format!("{:016x}.scan", hasher.finish()))
    }

    fn store(file: &Path, scan: &Scan) {
        // Without a place to write, the next start is a cold one.
        let _ = Self::try_store(file, scan);
    }

    fn try_store(file: &Path, scan: &Scan) -> Option<()> {
        let started = scan.started.duration_since(UNIX_EPOCH).ok()?;
        let basis = postcard::to_stdvec(&BasisRef { started, stamps: &scan.stamps }).ok()?;
        let content = ContentRef { found: &scan.found, ignored: &scan.ignored };
        let content = postcard::to_stdvec(&content).ok()?;
        framed::write(file, MAGIC, &basis, &content)
    }
}

#[derive(Serialize)]
struct BasisRef<'a> {
    started: Duration,
    stamps: &'a [Stamped],
}

#[derive(Serialize)]
struct ContentRef<'a> {
    found: &'a [Found],
    ignored: &'a [Ignored],
}

/// The kept scan, and whether it still holds.
fn load(file: &Path, root: &Path, threads: usize) -> Option<(Scan, bool)> {
    let kept = framed::read(file, MAGIC)?;
    let basis: Basis = postcard::from_bytes(kept.first()).ok()?;
    let started = UNIX_EPOCH.checked_add(basis.started)?;
    let check = Check::new(&basis.stamps, root, started);
    let content: Option<Content> = thread::scope(|scope| {
        for _ in 1..threads.min(basis.stamps.len().div_ceil(BATCH)) {
            scope.spawn(|| check.work());
        }
        let content = postcard::from_bytes(kept.second()).ok();
        check.work();
        content
    });
    let holds = check.holds();
    let Content { found, ignored } = content?;
    Some((Scan { found, ignored, stamps: basis.stamps, started, bytes_read: 0 }, holds))
}

/// Skills that can be taken over if their file has not changed.
fn known(kept: &Scan) -> Known<'_> {
    let manifests = kept.stamps.iter().filter(|stamped| !stamped.is_link);
    let stamps: std::collections::HashMap<&Path, &Stamped> =
        manifests.map(|stamped| (stamped.path.as_path(), stamped)).collect();
    let unlinked = kept.found.iter().filter(|found| found.links.is_empty());
    unlinked
        .filter_map(|found| {
            let (path, stamped) = stamps.get_key_value(found.folder.join("SKILL.md").as_path())?;
            let stamp = stamped.stamp.as_ref().filter(|stamp| !stamp.is_recent(kept.started))?;
            Some((*path, (stamp, found)))
        })
        .collect()
}

const BATCH: usize = 256;

/// Comparing stamps with the disk, on as many threads as call [`Check::work`].
struct Check<'a> {
    stamps: &'a [Stamped],
    handle: Option<std::os::fd::OwnedFd>,
    started: SystemTime,
    next: AtomicUsize,
    broken: AtomicBool,
}

impl<'a> Check<'a> {
    fn new(stamps: &'a [Stamped], root: &Path, started: SystemTime) -> Self {
        let handle = scan::open_folder(root).ok();
        let broken = AtomicBool::new(handle.is_none());
        Self { stamps, handle, started, next: AtomicUsize::new(0), broken }
    }

    fn work(&self) {
        let Some(handle) = &self.handle else { return };
        while !self.broken.load(Ordering::Relaxed) {
            let batch = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(stamps) = self.stamps.chunks(BATCH).nth(batch) else { return };
            if !stamps.iter().all(|stamped| stamped.holds(handle, self.started)) {
                self.broken.store(true, Ordering::Relaxed);
            }
        }
    }

    fn holds(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
    }
}

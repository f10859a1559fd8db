//! Scans kept between processes, so that the second start reads nothing that has not changed.
//!
//! Invariant: a kept discovery is used only when every file, folder and link it rests on is as it was. A
//! cache file that is damaged, foreign or of another version counts as absent; nothing that goes
//! wrong here is an error.

mod bodies;
mod framed;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3Default;

use crate::discover::{self, Basis, Discovery, DiscoveryOptions, Found, Ignored, Known, Stamped};
use crate::roots::Root;
use crate::search::{self, Document, SearchIndex};
use framed::Unread;

/// Changes whenever what is stored, or how it is read from a skill, changes.
const MAGIC: &framed::Magic = b"skillful-scan-7\n";

const SEARCH_MAGIC: &framed::Magic = b"skillful-find-2\n";

/// How much of a discovery came from the cache.
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

impl Cache {
    /// A cache in `folder`, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), clock: SystemTime::now }
    }

    /// Scans `root`, reading only what has changed since the last time.
    pub(crate) fn discover(
        &self,
        root: &Path,
        options: &DiscoveryOptions,
    ) -> (Discovery, CacheState) {
        let file = self.file(root, options);
        let (first, second) = framed::open(&file, MAGIC).map(|f| (f.first, f.second)).unzip();
        let kept = first.as_deref().zip(second);
        let kept = kept.and_then(|(first, second)| load(first, second, root, options.threads));
        let state = match kept {
            Some(Kept { discovery, holds: true, .. }) => return (discovery, CacheState::Warm),
            Some(_) => CacheState::Partial,
            None => CacheState::Cold,
        };
        let known = kept.as_ref().map(Kept::known).unwrap_or_default();
        let (fresh, basis) = discover::discover(root, options, &known, (self.clock)());
        // Without a place to write, the next start is a cold one.
        let _ = store(&file, &fresh, &basis);
        (fresh, state)
    }

    /// Forgets what is known about `root`.
    pub(crate) fn forget(&self, root: &Path, options: &DiscoveryOptions) {
        // A file that is not there is as good as forgotten.
        let _ = fs::remove_file(self.file(root, options));
    }

    /// A search index over `documents`, built anew where the kept one is of other documents.
    pub(crate) fn search_index(&self, roots: &[Root], documents: &[Document<'_>]) -> SearchIndex {
        let file = self.file_of_roots(roots, "search");
        let fingerprint = search::fingerprint(documents);
        let kept = framed::open(&file, SEARCH_MAGIC)
            .and_then(|kept| SearchIndex::decode(&kept.first, &kept.second.read()?))
            .filter(|kept| kept.fingerprint == fingerprint);
        kept.unwrap_or_else(|| {
            let fresh = SearchIndex::build(documents, fingerprint);
            if let Some((terms, postings)) = fresh.encode() {
                framed::write(&file, SEARCH_MAGIC, &terms, postings);
            }
            fresh
        })
    }

    fn file_of_roots(&self, roots: &[Root], kind: &str) -> PathBuf {
        let mut hasher = Xxh3Default::new();
        roots.iter().for_each(|root| hasher.write(root.path.as_os_str().as_bytes()));
        self.folder.join(format!("{:016x}.{kind}", hasher.finish()))
    }

    fn file(&self, root: &Path, options: &DiscoveryOptions) -> PathBuf {
        let mut hasher = Xxh3Default::new();
        hasher.write(root.as_os_str().as_bytes());
        // The number of threads does not change what is found.
        DiscoveryOptions { threads: 0, ..options.clone() }.hash(&mut hasher);
        self.folder.join(format!("{:016x}.scan", hasher.finish()))
    }
}

/// A file holds what its discovery rests on, and the rest, apart: the first is checked while the second is
/// decoded.
fn store(file: &Path, discovery: &Discovery, basis: &Basis<'_>) -> Option<()> {
    let content = postcard::to_stdvec(&(&discovery.found, &discovery.ignored)).ok()?;
    framed::write(file, MAGIC, &postcard::to_stdvec(basis).ok()?, &content)
}

/// A discovery of an earlier process.
struct Kept<'a> {
    discovery: Discovery,
    basis: Basis<'a>,
    /// Whether everything is still as it was.
    holds: bool,
}

fn load<'a>(
    basis: &'a [u8],
    content: Unread<File>,
    root: &Path,
    threads: usize,
) -> Option<Kept<'a>> {
    let basis: Basis<'_> = postcard::from_bytes(basis).ok()?;
    let check = Check::new(&basis, root);
    let (found, ignored) = thread::scope(|scope| {
        for _ in 1..threads.min(basis.stamps.len().div_ceil(BATCH)) {
            scope.spawn(|| check.work());
        }
        let content: (Vec<Found>, Vec<Ignored>) = postcard::from_bytes(&content.read()?).ok()?;
        check.work();
        Some(content)
    })?;
    let holds = check.holds();
    Some(Kept { discovery: Discovery { found, ignored, bytes_read: 0 }, basis, holds })
}

impl Kept<'_> {
    /// Skills that can be taken over if their file has not changed.
    fn known(&self) -> Known<'_> {
        let manifests = self.basis.stamps.iter().filter(|stamped| !stamped.is_link);
        let stamps: HashMap<&Path, &Stamped<'_>> =
            manifests.map(|stamped| (&*stamped.path, stamped)).collect();
        let unlinked = self.discovery.found.iter().filter(|found| found.links.is_empty());
        unlinked
            .filter_map(|found| {
                let manifest = found.folder.join("SKILL.md");
                let (path, stamped) = stamps.get_key_value(manifest.as_path())?;
                let stamp = stamped.stamp.as_ref();
                let stamp = stamp.filter(|stamp| !stamp.is_recent(self.basis.started))?;
                Some((*path, (stamp, found)))
            })
            .collect()
    }
}

const BATCH: usize = 256;

/// Comparing stamps with the disk, on as many threads as call [`Check::work`].
struct Check<'a> {
    basis: &'a Basis<'a>,
    handle: Option<OwnedFd>,
    next: AtomicUsize,
    broken: AtomicBool,
}

impl<'a> Check<'a> {
    fn new(basis: &'a Basis<'a>, root: &Path) -> Self {
        let handle = discover::open_folder(root).ok();
        let broken = AtomicBool::new(handle.is_none());
        Self { basis, handle, next: AtomicUsize::new(0), broken }
    }

    fn work(&self) {
        let Some(handle) = &self.handle else { return };
        while !self.broken.load(Ordering::Relaxed) {
            let batch = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(stamps) = self.basis.stamps.chunks(BATCH).nth(batch) else { return };
            if !stamps.iter().all(|stamped| stamped.holds(handle, self.basis.started)) {
                self.broken.store(true, Ordering::Relaxed);
            }
        }
    }

    fn holds(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
    }
}

//! The skills of all roots in one list, with what was left out and why.
//!
//! Invariant: an index is built from names, descriptions and controls alone. It never changes after
//! it was built, and the same files give the same index and hash.

mod conflicts;
mod report;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use basics::sha256::hex;
use basics::skill::Source;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::builtin;
use crate::cache::{Cache, CacheState};
use crate::discover::{self, Discovery, DiscoveryOptions, Found, Known};
pub use crate::entry::Entry;
use crate::roots::Root;
use crate::search::{Document, SearchIndex};
use crate::trust::Trust;
use conflicts::Candidate;
pub use conflicts::{Conflict, Loser};
pub use report::{IgnoredPath, Report, RootReport};

/// How an index is built.
#[derive(Debug, Clone, Default)]
pub struct IndexOptions {
    /// How roots are walked.
    pub discovery: DiscoveryOptions,
    /// Where discoveries are kept between processes.
    pub cache: Option<Cache>,
    /// Which projects' skills may be used.
    pub trust: Trust,
    /// Whether searching looks at the words of bodies, too, as [`Index::prepare_search`] left them in
    /// the cache; bodies are never read otherwise.
    pub search_bodies: bool,
    /// Folders of the skills that the user chose, by name: each counts before all others of its name.
    pub pins: BTreeMap<String, PathBuf>,
}

/// An immutable list of the skills that can be reached.
#[derive(Debug, Clone)]
pub struct Index {
    /// The skills, by (priority of the root, path); each name once.
    pub skills: Vec<Entry>,
    /// Skills of the same name as a stronger one, the strongest first; reached by naming their source.
    pub shadowed: Vec<Entry>,
    /// What was searched, and what was left out.
    pub report: Report,
    roots: Vec<Root>,
    /// The folders of the skills that the user pinned.
    pinned: BTreeSet<PathBuf>,
    cache: Option<Cache>,
    discovery: DiscoveryOptions,
    search_bodies: bool,
    words: OnceLock<SearchIndex>,
    bodies: OnceLock<Option<SearchIndex>>,
}

/// A search index over fewer skills is built faster than it is read.
const WORTH_KEEPING: usize = 50;

impl Index {
    /// Reads the metadata of every skill below `roots`.
    pub fn build(roots: &[Root], options: &IndexOptions) -> Self {
        let mut report = Report::default();
        let mut candidates = Vec::new();
        for root in roots {
            let clock = Instant::now();
            let (discovery, cache) = discover_root(root, options);
            report.add(root, &discovery, cache, clock);
            add_candidates(&mut candidates, root, discovery.found, options);
        }
        let pinned = candidates.iter().filter(|candidate| candidate.is_pinned);
        let pinned: BTreeSet<PathBuf> =
            pinned.map(|candidate| candidate.entry.path.clone()).collect();
        report.add_lost_pins(&options.pins, &pinned, roots);
        let (skills, shadowed, conflicts) = conflicts::settle(candidates);
        report.conflicts = conflicts;
        Self {
            skills,
            shadowed,
            report,
            roots: roots.to_vec(),
            pinned,
            cache: options.cache.clone(),
            discovery: options.discovery.clone(),
            search_bodies: options.search_bodies,
            words: OnceLock::new(),
            bodies: OnceLock::new(),
        }
    }

    /// The same, with nothing taken from the cache.
    pub fn rebuild(roots: &[Root], options: &IndexOptions) -> Self {
        if let Some(cache) = &options.cache {
            roots.iter().for_each(|root| cache.forget(&root.path, &options.discovery));
        }
        Self::build(roots, options)
    }

    /// The skill called `name`; the strongest one unless a source is named.
    pub fn get(&self, name: &str, source: Option<Source>) -> Option<&Entry> {
        let wanted = |entry: &&Entry| {
            entry.name == name && source.is_none_or(|source| source == entry.source)
        };
        self.skills.iter().find(wanted).or_else(|| self.shadowed.iter().find(wanted))
    }

    /// Builds and keeps what searching needs, so that the next search need not. This alone reads bodies,
    /// those that changed, where they are searched.
    pub fn prepare_search(&self) {
        self.search_index();
        if let Some(cache) = self.cache.as_ref().filter(|_| self.search_bodies) {
            let all: Vec<&Entry> = self.skills.iter().chain(&self.shadowed).collect();
            cache.read_bodies(&self.roots, &all, &self.discovery.read, self.discovery.threads);
            self.body_index();
        }
    }

    /// Whether the user chose this skill among those of its name.
    pub(crate) fn is_pinned(&self, entry: &Entry) -> bool {
        self.pinned.contains(&entry.path)
    }

    /// Places of the skills that fit `query`, the best first, with their scores.
    pub(crate) fn rank(&self, query: &str) -> Vec<(usize, f32)> {
        match self.body_index() {
            Some(bodies) => self.search_index().rank_with(bodies, query),
            None => self.search_index().rank(query),
        }
    }

    /// Whether both hold the same skills and leave out the same ones.
    pub(crate) fn same_skills(&self, other: &Self) -> bool {
        self.skills == other.skills
            && self.shadowed == other.shadowed
            && self.report.ignored == other.report.ignored
    }

    /// The words of all skills; built when first asked for.
    fn search_index(&self) -> &SearchIndex {
        self.words.get_or_init(|| {
            let documents: Vec<Document<'_>> = self.searched().map(Document::from).collect();
            match self.cache.as_ref().filter(|_| documents.len() > WORTH_KEEPING) {
                Some(cache) => cache.search_index(&self.roots, &documents),
                None => SearchIndex::build(&documents, 0),
            }
        })
    }

    fn body_index(&self) -> Option<&SearchIndex> {
        let cache = self.cache.as_ref().filter(|_| self.search_bodies)?;
        let index = || cache.body_index(&self.roots, &self.searched().collect::<Vec<_>>());
        self.bodies.get_or_init(index).as_ref()
    }

    /// `sha256:` over the canonical JSON of the skills.
    pub fn hash(&self) -> String {
        hash_json(self.skills.iter())
    }
}

fn discover_root(root: &Root, options: &IndexOptions) -> (Discovery, CacheState) {
    match (root.source, &options.cache) {
        (Source::Builtin, _) => (builtin::discover(), CacheState::Off),
        (_, Some(cache)) => cache.discover(&root.path, &options.discovery),
        (_, None) => {
            let now = SystemTime::now();
            (
                discover::discover(&root.path, &options.discovery, &Known::new(), now).0,
                CacheState::Off,
            )
        }
    }
}

fn add_candidates(
    all: &mut Vec<Candidate>,
    root: &Root,
    found: Vec<Found>,
    options: &IndexOptions,
) {
    let real = root.real();
    let standing = options.trust.standing(root, &real);
    all.extend(found.into_iter().map(|found| {
        let modified = found.modified;
        let mut entry = Entry::new(root, &real, found);
        entry.judge(standing.of(&entry, root));
        let pin = options.pins.get(&entry.name);
        let is_pinned = pin.is_some_and(|pin| is_same_folder(pin, &entry.path));
        Candidate { root: root.priority, modified, is_pinned, entry }
    }));
}

/// Whether two paths lead to one folder.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|folder| real(other) == Some(folder))
}

/// `sha256:` over the entries as a canonical JSON array.
fn hash_json<E: Serialize>(entries: impl Iterator<Item = E>) -> String {
    let mut hasher = Sha256::new();
    let mut json = Vec::with_capacity(4_096);
    for (place, entry) in entries.enumerate() {
        json.clear();
        json.push(if place == 0 { b'[' } else { b',' });
        serde_json::to_writer(&mut json, &entry).expect("an entry is plain data");
        hasher.update(&json);
    }
    hasher.update(if json.is_empty() { "[]" } else { "]" });
    format!("sha256:{}", hex(&hasher.finalize()))
}

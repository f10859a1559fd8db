//! The words of bodies, for those who want to search in them.
//!
//! Invariant: a body is read by [`Cache::read_bodies`] alone, and only where its file has changed.
//! Searching uses what that left behind.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{Cache, framed};
use crate::discover::{Stamp, map_in_order, path_bytes};
use crate::entry::Entry;
use crate::metadata::ReadOptions;
use crate::roots::Root;
use crate::search::{SearchIndex, Words, fingerprint_of};

const WORDS_MAGIC: &framed::Magic = b"skillful-word-1\n";
const INDEX_MAGIC: &framed::Magic = b"skillful-body-1\n";

/// The words of one body, and its file as it was.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(with = "path_bytes")]
    folder: PathBuf,
    /// `None` where a later change could not be told.
    stamp: Option<Stamp>,
    words: Words,
}

impl Cache {
    /// Reads the bodies of `entries` that have changed since the last time, and keeps their words.
    pub(crate) fn read_bodies(
        &self,
        roots: &[Root],
        entries: &[&Entry],
        options: &ReadOptions,
        threads: usize,
    ) {
        let kept = self.kept(roots);
        let known: HashMap<&Path, &Kept> = kept.iter().map(|kept| (&*kept.folder, kept)).collect();
        let now = (self.clock)();
        let read = |entry: &&Entry| body(entry, known.get(&*entry.path).copied(), options, now);
        let fresh = map_in_order(entries, threads, read);
        if let Ok(bytes) = postcard::to_stdvec(&fresh) {
            framed::write(&self.words_file(roots), WORDS_MAGIC, &[], &bytes);
        }
        // The next search puts them together anew.
        let _ = std::fs::remove_file(self.bodies_file(roots));
    }

    /// Which of `entries` hold which words in their bodies, as far as they were read; `None` where
    /// none was.
    pub(crate) fn body_index(&self, roots: &[Root], entries: &[&Entry]) -> Option<SearchIndex> {
        let folders = entries.iter().map(|entry| entry.path.as_os_str().as_encoded_bytes());
        let fingerprint = fingerprint_of(folders);
        let file = self.bodies_file(roots);
        let index = framed::open(&file, INDEX_MAGIC)
            .and_then(|kept| SearchIndex::decode(&kept.first, &kept.second.read()?))
            .filter(|index| index.fingerprint == fingerprint);
        if index.is_some() {
            return index;
        }
        let kept = self.kept(roots);
        let known: HashMap<&Path, &Kept> = kept.iter().map(|kept| (&*kept.folder, kept)).collect();
        let words = |entry: &&Entry| known.get(&*entry.path).map(|kept| &kept.words);
        let words: Vec<Option<&Words>> = entries.iter().map(words).collect();
        words.iter().any(Option::is_some).then(|| {
            let fresh = SearchIndex::of_bodies(&words, fingerprint);
            if let Some((terms, postings)) = fresh.encode() {
                framed::write(&file, INDEX_MAGIC, &terms, postings);
            }
            fresh
        })
    }

    fn kept(&self, roots: &[Root]) -> Vec<Kept> {
        let bytes = framed::open(&self.words_file(roots), WORDS_MAGIC)
            .and_then(|framed| framed.second.read())
            .unwrap_or_default();
        postcard::from_bytes(&bytes).unwrap_or_default()
    }

    fn words_file(&self, roots: &[Root]) -> PathBuf {
        self.file_of_roots(roots, "words")
    }

    fn bodies_file(&self, roots: &[Root]) -> PathBuf {
        self.file_of_roots(roots, "bodies")
    }
}

fn body(entry: &Entry, known: Option<&Kept>, options: &ReadOptions, now: SystemTime) -> Kept {
    // Looked at before it is read: a change in between is noticed the next time.
    let stamp = Stamp::of(&entry.path.join("SKILL.md")).filter(|stamp| !stamp.is_recent(now));
    let unchanged = known.filter(|known| stamp.is_some() && known.stamp == stamp);
    let words = unchanged.map_or_else(|| Words::read(entry, options), |known| known.words.clone());
    Kept { folder: entry.path.clone(), stamp, words }
}

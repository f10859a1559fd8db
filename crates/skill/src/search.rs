//! Ranking skills for a request, by the words of their names and descriptions (BM25), and of their
//! bodies for those who want it.

mod body;
mod store;
mod tokens;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3Default;

use crate::entry::Entry;
use basics::skill::Source;
pub(crate) use body::Words;
use tokens::{for_each_token, words};

/// How much a word in a name counts against one in a description.
const NAME_WEIGHT: u32 = 3;
/// How much a body's fit counts against that of name and description. Real requests are long, and
/// nearly every word of one is in some body.
const BODY_WEIGHT: f32 = 0.1;
/// BM25: how soon further occurrences of a word stop to count.
const SATURATION: f32 = 1.2;
/// BM25: how much a long text is held against a document.
const LENGTH_PENALTY: f32 = 0.6;

/// What is ranked.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
}

impl<'a> From<&'a Entry> for Document<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self { name: &entry.name, description: &entry.description }
    }
}

/// A skill that fits a query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Hit {
    /// The skill's name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// How well it fits, compared with other hits of the same query.
    pub score: f32,
    /// The words that matched in name and description, or `body` where there is none.
    pub why: String,
}

/// Which documents hold which words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchIndex {
    pub(crate) fingerprint: u64,
    /// Weighted number of words of each document.
    lengths: Vec<u32>,
    /// All words, sorted, one behind the other.
    terms: String,
    /// Where each word ends in `terms`, and its documents in `postings`.
    ends: Vec<(u32, u32)>,
    /// For each word its documents: steps between numbers and weights, as variable-length integers.
    postings: Vec<u8>,
}

/// Tells one set of documents from another.
pub(crate) fn fingerprint(documents: &[Document<'_>]) -> u64 {
    let texts = documents.iter().flat_map(|document| [document.name, document.description]);
    fingerprint_of(texts.map(str::as_bytes))
}

pub(crate) fn fingerprint_of<'a>(texts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = Xxh3Default::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher.digest()
}

impl SearchIndex {
    /// Reads every document once.
    pub(crate) fn build(documents: &[Document<'_>], fingerprint: u64) -> Self {
        Self::collect(documents, fingerprint, |document, add| {
            for_each_token(document.name, |token| add(token, NAME_WEIGHT));
            for_each_token(document.description, |token| add(token, 1));
        })
    }

    /// Bodies by the words that were counted in them; one that is not known holds none.
    pub(crate) fn of_bodies(bodies: &[Option<&Words>], fingerprint: u64) -> Self {
        Self::collect(bodies, fingerprint, |words, add| {
            words
                .iter()
                .flat_map(|words| words.0.iter())
                .for_each(|(word, count)| add(word, *count));
        })
    }

    fn collect<D>(
        documents: &[D],
        fingerprint: u64,
        tokens: impl Fn(&D, &mut dyn FnMut(&str, u32)),
    ) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut lists: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (document, number) in documents.iter().zip(0_u32..) {
            let mut length = 0;
            let mut add = |token: &str, weight: u32| {
                length += weight;
                let term = match numbers.get(token) {
                    Some(term) => *term as usize,
                    None => {
                        numbers.insert(token.to_owned(), lists.len() as u32);
                        lists.push(Vec::new());
                        lists.len() - 1
                    }
                };
                match lists[term].last_mut() {
                    Some((last, count)) if *last == number => *count += weight,
                    _ => lists[term].push((number, weight)),
                }
            };
            tokens(document, &mut add);
            lengths.push(length);
        }
        let sorted: BTreeMap<String, u32> = numbers.into_iter().collect();
        let mut index = Self {
            fingerprint,
            lengths,
            terms: String::new(),
            ends: Vec::new(),
            postings: Vec::new(),
        };
        for (term, number) in sorted {
            index.terms.push_str(&term);
            store::put_postings(&lists[number as usize], &mut index.postings);
            index.ends.push((index.terms.len() as u32, index.postings.len() as u32));
        }
        index
    }

    /// Numbers of the documents that fit `query`, the best first, with their scores. Equal ones keep
    /// their order.
    pub fn rank(&self, query: &str) -> Vec<(usize, f32)> {
        best_first(self.scores(query))
    }

    /// The same, where `bodies` says what the documents hold beside name and description.
    pub(crate) fn rank_with(&self, bodies: &Self, query: &str) -> Vec<(usize, f32)> {
        let mut scores = self.scores(query);
        for (score, body) in scores.iter_mut().zip(bodies.scores(query)) {
            *score += BODY_WEIGHT * body;
        }
        best_first(scores)
    }

    /// How well each document fits `query`.
    fn scores(&self, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.lengths.len()];
        let total: u64 = self.lengths.iter().map(|length| u64::from(*length)).sum();
        let average = (total as f32 / self.lengths.len().max(1) as f32).max(1.0);
        let mut seen = HashSet::new();
        for_each_token(query, |token| {
            if seen.insert(token.to_owned()) {
                self.score(token, average, &mut scores);
            }
        });
        scores
    }

    fn score(&self, term: &str, average: f32, scores: &mut [f32]) {
        let Some(postings) = self.postings_of(term) else { return };
        let documents = self.lengths.len() as f32;
        let holding = postings.len() as f32;
        let rarity = (1.0 + (documents - holding + 0.5) / (holding + 0.5)).ln();
        for (document, count) in postings {
            let (Some(length), Some(score)) =
                (self.lengths.get(document), scores.get_mut(document))
            else {
                continue;
            };
            let penalty = 1.0 - LENGTH_PENALTY + LENGTH_PENALTY * *length as f32 / average;
            let count = count as f32;
            *score += rarity * count * (SATURATION + 1.0) / (count + SATURATION * penalty);
        }
    }

    fn postings_of(&self, term: &str) -> Option<Vec<(usize, u32)>> {
        let start = |at: usize| at.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        let word = |at: usize| {
            self.terms.get(start(at).0 as usize..self.ends[at].0 as usize).unwrap_or_default()
        };
        let at = binary_search(self.ends.len(), |at| word(at).cmp(term))?;
        store::postings(self.postings.get(start(at).1 as usize..self.ends[at].1 as usize)?)
    }
}

/// Numbers of the documents that fit `query`, the best first, with their scores: for texts that are in no index.
pub fn rank(documents: &[Document<'_>], query: &str) -> Vec<(usize, f32)> {
    SearchIndex::build(documents, 0).rank(query)
}

fn best_first(scores: Vec<f32>) -> Vec<(usize, f32)> {
    let mut ranked: Vec<(usize, f32)> =
        scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// The place where `order` is equal, among `length` places in ascending order.
fn binary_search(length: usize, order: impl Fn(usize) -> std::cmp::Ordering) -> Option<usize> {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        match order(middle) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// Which words of `query` are in a skill's name and description, for people.
pub(crate) fn why(query: &str, document: Document<'_>) -> String {
    let wanted = words(query);
    let matched = |text: &str| {
        let held: HashSet<String> = words(text).into_iter().map(|(_, token)| token).collect();
        let mut shown: Vec<&str> = Vec::new();
        for (word, token) in &wanted {
            if held.contains(token) && !shown.contains(&word.as_str()) {
                shown.push(word);
            }
        }
        shown.join(", ")
    };
    let parts = [("name", matched(document.name)), ("description", matched(document.description))];
    let parts = parts.into_iter().filter(|(_, words)| !words.is_empty());
    parts.map(|(field, words)| format!("{field}: {words}")).collect::<Vec<_>>().join("; ")
}

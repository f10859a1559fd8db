//! The skills one agent may load, and nothing about any other.
//!
//! Invariant: a skill that is hidden, untrusted or denied is in no list, no search result and no error
//! that comes from here.

mod catalog;

#[cfg(test)]
mod tests;

pub use catalog::{Catalog, CatalogLimits, catalog_cost, catalog_item};

use std::collections::HashMap;

use basics::skill::Source;

use crate::index::{Entry, Index};
use crate::search::{Hit, why};

/// The skills one agent may load.
#[derive(Debug, Clone)]
pub struct Offer<'a> {
    index: &'a Index,
    /// For each name in the index, the skill that is offered under it.
    named: Vec<Option<&'a Entry>>,
    /// Weaker skills by name, reached by naming their source.
    shadowed: HashMap<&'a str, Vec<&'a Entry>>,
}

impl Index {
    /// The skills that trust, their own controls and `may_load` allow a model to see.
    pub fn offer(&self, may_load: impl Fn(&Entry) -> bool) -> Offer<'_> {
        let offered = |entry: &&Entry| entry.is_offered() && may_load(entry);
        let named = self.skills.iter().map(|winner| self.usable(winner).filter(offered)).collect();
        let mut shadowed: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in self.shadowed.iter().filter(offered) {
            shadowed.entry(&entry.name).or_default().push(entry);
        }
        Offer { index: self, named, shadowed }
    }
}

impl<'a> Offer<'a> {
    /// The skills, in the order of the index.
    pub fn skills(&self) -> impl Iterator<Item = &'a Entry> {
        self.named.iter().flatten().copied()
    }

    /// The skill called `name`; the one that is listed unless a source is named.
    pub fn get(&self, name: &str, source: Option<Source>) -> Option<&'a Entry> {
        let weaker = self.weaker(name).iter().copied().filter(|_| source.is_some());
        self.skills()
            .chain(weaker)
            .find(|entry| entry.name == name && source.is_none_or(|source| source == entry.source))
    }

    /// Weaker skills of its name that say something else, and can be reached by naming their source.
    pub fn others<'s>(&'s self, entry: &'s Entry) -> impl Iterator<Item = &'a Entry> + use<'a, 's> {
        // Of several in one source, the name leads to the first.
        let mut seen = vec![entry.source];
        self.weaker(&entry.name).iter().copied().filter(move |other| {
            let is_first = !seen.contains(&other.source);
            seen.push(other.source);
            is_first && other.description != entry.description
        })
    }

    fn weaker(&self, name: &str) -> &[&'a Entry] {
        self.shadowed.get(name).map_or(&[], Vec::as_slice)
    }

    /// Skills that fit `query`, the best first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.ranked(query).take(limit).map(|(entry, score)| hit(query, entry, score)).collect()
    }

    fn ranked(&self, query: &str) -> impl Iterator<Item = (&'a Entry, f32)> {
        let ranked = self.index.rank(query);
        ranked.into_iter().filter_map(|(place, score)| Some(((*self.named.get(place)?)?, score)))
    }
}

impl Index {
    /// A skill that waits for trust does not hide another one of its name: a cloned repository must
    /// not be able to take a user's skills away.
    fn usable<'a>(&'a self, winner: &'a Entry) -> Option<&'a Entry> {
        if winner.trusted {
            return Some(winner);
        }
        self.shadowed.iter().find(|other| other.trusted && other.name == winner.name)
    }

    /// The skill that a person means by `name`: like [`Index::get`], but where none of a source is named and
    /// the strongest one waits for trust, the one that it does not hide.
    pub fn resolve(&self, name: &str, source: Option<Source>) -> Option<&Entry> {
        let found = self.get(name, source)?;
        let usable = self.usable(found).filter(|_| source.is_none());
        Some(usable.unwrap_or(found))
    }

    /// What stands for each name when skills are searched.
    pub(crate) fn searched(&self) -> impl Iterator<Item = &Entry> {
        self.skills.iter().map(|winner| self.usable(winner).unwrap_or(winner))
    }

    /// Skills that fit `query`, the best first, hidden and untrusted ones included: for the user.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let searched: Vec<&Entry> = self.searched().collect();
        let ranked = self.rank(query).into_iter().take(limit);
        ranked.map(|(place, score)| hit(query, searched[place], score)).collect()
    }
}

fn hit(query: &str, entry: &Entry, score: f32) -> Hit {
    let mut why = why(query, entry.into());
    if why.is_empty() {
        "body".clone_into(&mut why);
    }
    Hit { name: entry.name.clone(), source: entry.source, score, why }
}

//! Several skills of one name: which one counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::Entry;
use crate::roots::Source;

/// A name that several skills have.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The name.
    pub name: String,
    /// The folder of the skill that counts.
    pub winner: String,
    /// The others.
    pub losers: Vec<Loser>,
}

/// A skill that another one of its name hides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Loser {
    /// Its version.
    pub version: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// Its folder.
    pub path: String,
    /// Why it lost.
    pub reason: String,
}

/// A skill that may become the one of its name.
pub(super) struct Candidate {
    pub(super) entry: Entry,
    /// The priority of its root.
    pub(super) root: usize,
    pub(super) modified: i64,
}

/// Winners, losers and the conflicts between them, for candidates in the order of (priority, path).
pub(super) fn settle(candidates: Vec<Candidate>) -> (Vec<Entry>, Vec<Entry>, Vec<Conflict>) {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(candidates.len());
    let mut beaten = BTreeSet::new();
    for (place, candidate) in candidates.iter().enumerate() {
        let Some(best) = places.get_mut(candidate.entry.name.as_str()) else {
            places.insert(&candidate.entry.name, place);
            continue;
        };
        if candidate.root == candidates[*best].root
            && candidate.modified > candidates[*best].modified
        {
            beaten.insert(*best);
            *best = place;
        } else {
            beaten.insert(place);
        }
    }
    let mut losers: BTreeMap<usize, Vec<Loser>> = BTreeMap::new();
    for loser in &beaten {
        let winner = places[candidates[*loser].entry.name.as_str()];
        losers
            .entry(winner)
            .or_default()
            .push(Loser::new(&candidates[*loser], &candidates[winner]));
    }
    let conflicts = losers
        .into_iter()
        .map(|(winner, losers)| Conflict {
            name: candidates[winner].entry.name.clone(),
            winner: candidates[winner].entry.path.to_string_lossy().into_owned(),
            losers,
        })
        .collect();
    let mut skills = Vec::with_capacity(candidates.len() - beaten.len());
    let mut shadowed = Vec::new();
    for (place, candidate) in candidates.into_iter().enumerate() {
        if beaten.contains(&place) {
            shadowed.push(candidate);
        } else {
            skills.push(candidate.entry);
        }
    }
    // Without the winner the next one would win, so the first of a name is the strongest here, too.
    shadowed.sort_by_key(|candidate| (candidate.root, Reverse(candidate.modified)));
    (skills, shadowed.into_iter().map(|candidate| candidate.entry).collect(), conflicts)
}

impl Loser {
    fn new(loser: &Candidate, winner: &Candidate) -> Self {
        let reason = if winner.root != loser.root {
            format!(
                "the other one's root has priority: {} over {}",
                winner.entry.source, loser.entry.source
            )
        } else if winner.modified != loser.modified {
            "the other one in the same root was modified later".to_owned()
        } else {
            "the other one in the same root has the earlier path".to_owned()
        };
        Self {
            version: loser.entry.meta.version.clone(),
            source: loser.entry.source,
            path: loser.entry.path.to_string_lossy().into_owned(),
            reason,
        }
    }
}

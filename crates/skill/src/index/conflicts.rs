//! Several skills of one name: which one counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use basics::skill::Source;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Entry, is_same_folder};

/// A name that several skills have.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The name.
    pub name: String,
    /// The folder of the skill that counts.
    pub winner: String,
    /// Whether it counts by times that nearly agree, so that another checkout can change it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_chance: bool,
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
    /// In nanoseconds.
    pub(super) modified: i64,
    /// Whether the user chose it.
    pub(super) is_pinned: bool,
}

/// Times that a checkout or an unpacked archive gives to files of one age; in nanoseconds.
const NEARLY: u64 = 60 * 1_000_000_000;

/// Winners, losers and the conflicts between them, for candidates in the order of (priority, path).
pub(super) fn settle(candidates: Vec<Candidate>) -> (Vec<Entry>, Vec<Entry>, Vec<Conflict>) {
    let losers = losers(&candidates);
    let beaten: BTreeSet<usize> = losers.values().flatten().copied().collect();
    let mut needless = BTreeSet::new();
    let mut conflicts = Vec::new();
    for (winner, losers) in losers {
        let winner = &candidates[winner];
        let (same, others): (Vec<usize>, Vec<usize>) =
            losers.into_iter().partition(|loser| candidates[*loser].is_same_folder(winner));
        needless
            .extend(same.into_iter().filter(|loser| candidates[*loser].adds_nothing_to(winner)));
        let by_chance = others.iter().any(|loser| winner.wins_by_chance(&candidates[*loser]));
        let losers: Vec<Loser> =
            others.into_iter().map(|loser| Loser::new(&candidates[loser], winner)).collect();
        if !losers.is_empty() {
            conflicts.push(Conflict {
                name: winner.entry.name.clone(),
                winner: winner.entry.path.to_string_lossy().into_owned(),
                by_chance,
                losers,
            });
        }
    }
    let mut shadowed = Vec::new();
    // Collected where the candidates were: another place for all of them costs more than settling.
    let winners = candidates.into_iter().enumerate().filter_map(|(place, candidate)| {
        if !beaten.contains(&place) {
            return Some(candidate.entry);
        }
        if !needless.contains(&place) {
            shadowed.push(candidate);
        }
        None
    });
    let skills = winners.collect();
    // Without the winner the next one would win, so the first of a name is the strongest here, too.
    shadowed.sort_by_key(|candidate| (candidate.root, Reverse(candidate.modified)));
    (skills, shadowed.into_iter().map(|candidate| candidate.entry).collect(), conflicts)
}

/// The places of the losers, by the place of the winner, where a name is taken more than once.
fn losers(candidates: &[Candidate]) -> BTreeMap<usize, Vec<usize>> {
    let name = |place: &usize| candidates[*place].entry.name.as_str();
    // Nearly in order already, so this costs less than hashing the names.
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    places.sort_by(|a, b| name(a).cmp(name(b)));
    let same = places.chunk_by(|a, b| name(a) == name(b)).filter(|places| places.len() > 1);
    same.map(|places| {
        let strength = |place: &&usize| {
            let Candidate { root, modified, is_pinned, .. } = candidates[**place];
            (!is_pinned, root, Reverse(modified))
        };
        // Of equals the first is taken, which has the earlier path.
        let winner = *places.iter().min_by_key(strength).expect("a group is not empty");
        (winner, places.iter().copied().filter(|place| *place != winner).collect())
    })
    .collect()
}

impl Candidate {
    /// Whether a link makes one folder look like two.
    fn is_same_folder(&self, other: &Self) -> bool {
        is_same_folder(&self.entry.path, &other.entry.path)
    }

    fn wins_by_chance(&self, loser: &Self) -> bool {
        let is_near = self.modified.abs_diff(loser.modified) <= NEARLY;
        !self.is_pinned && self.root == loser.root && is_near
    }

    /// Whether naming a source, or waiting for trust, makes no difference between both.
    fn adds_nothing_to(&self, other: &Self) -> bool {
        self.entry.source == other.entry.source && self.entry.trusted == other.entry.trusted
    }
}

impl Loser {
    fn new(loser: &Candidate, winner: &Candidate) -> Self {
        let reason = if winner.is_pinned {
            "you pinned the other one (`registry.pin`)".to_owned()
        } else if winner.root != loser.root && winner.entry.source == loser.entry.source {
            "the other one's folder comes first".to_owned()
        } else if winner.root != loser.root {
            format!(
                "the other one's source wins: {} before {}",
                winner.entry.source, loser.entry.source
            )
        } else if winner.modified != loser.modified {
            let margin = if winner.wins_by_chance(loser) { ", by a minute at most" } else { "" };
            format!("the other one in the same folder is newer{margin}")
        } else {
            "the other one in the same folder comes first by path".to_owned()
        };
        Self {
            version: loser.entry.meta.version.clone(),
            source: loser.entry.source,
            path: loser.entry.path.to_string_lossy().into_owned(),
            reason,
        }
    }
}

//! What building an index looked at and left out.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use basics::failure::Explain;
use basics::skill::Source;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Conflict, is_same_folder};
use crate::cache::CacheState;
use crate::discover::{Discovery, Problem};
use crate::roots::Root;

/// How an index came about.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Report {
    /// The folders searched, the strongest first.
    pub roots: Vec<RootReport>,
    /// Places that were taken for skills.
    pub found: usize,
    /// Skills that could be read, hidden ones included.
    pub valid: usize,
    /// What was left out.
    pub ignored: Vec<IgnoredPath>,
    /// Names that several skills have.
    pub conflicts: Vec<Conflict>,
    /// Bytes read from `SKILL.md` files.
    pub bytes_read: u64,
}

/// One folder that was searched.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RootReport {
    /// Where its skills come from.
    pub source: Source,
    /// The folder.
    pub path: String,
    /// 0 is the strongest.
    pub priority: usize,
    /// Skills in it.
    pub valid: usize,
    /// Milliseconds spent.
    pub milliseconds: f64,
    /// How much came from the cache.
    pub cache: CacheState,
}

/// Something that is not in the index, and how to change that.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IgnoredPath {
    /// The file or folder.
    pub path: String,
    /// A stable name for the reason.
    pub code: &'static str,
    /// One line for people.
    pub message: String,
    /// What can be done about it.
    pub hint: Cow<'static, str>,
}

impl Report {
    /// Pins that lead to no skill of their name. A folder outside of the roots may just not have been searched.
    pub(super) fn add_lost_pins(
        &mut self,
        pins: &BTreeMap<String, PathBuf>,
        pinned: &BTreeSet<PathBuf>,
        roots: &[Root],
    ) {
        for (name, path) in pins {
            let is_searched = roots.iter().any(|root| path.starts_with(&root.path));
            let is_lost = is_searched || !path.join("SKILL.md").exists();
            if is_lost && !pinned.iter().any(|found| is_same_folder(found, path)) {
                self.ignored.push(IgnoredPath {
                    path: path.to_string_lossy().into_owned(),
                    code: "pin-not-found",
                    message: format!("`registry.pin` has no skill `{name}` here"),
                    hint: "fix the path in `registry.pin`, or remove the entry".into(),
                });
            }
        }
    }

    pub(super) fn add(
        &mut self,
        root: &Root,
        discovery: &Discovery,
        cache: CacheState,
        began: Instant,
    ) {
        let is_skill = |problem: &Problem| {
            matches!(problem, Problem::Frontmatter(_) | Problem::NotAFile | Problem::SkippedFolder)
        };
        self.valid += discovery.found.len();
        self.found += discovery.found.len()
            + discovery.ignored.iter().filter(|i| is_skill(&i.problem)).count();
        self.bytes_read += discovery.bytes_read;
        self.ignored.extend(discovery.ignored.iter().map(|ignored| IgnoredPath {
            path: root.join(&ignored.path).to_string_lossy().into_owned(),
            code: ignored.problem.code(),
            message: ignored.problem.to_string(),
            hint: ignored.problem.hint(),
        }));
        self.roots.push(RootReport {
            source: root.source,
            path: root.path.to_string_lossy().into_owned(),
            priority: root.priority,
            valid: discovery.found.len(),
            milliseconds: began.elapsed().as_secs_f64() * 1_000.0,
            cache,
        });
    }
}

//! What a search found, and as much of it as the model sees.

use std::collections::BTreeMap;

use permission::params::Grep;
use serde_json::json;

use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// Matches by path.
#[derive(Default)]
pub(super) struct Found {
    blocks: BTreeMap<String, String>,
    bytes: usize,
    matches: u64,
    files: usize,
    cut: bool,
}

impl Found {
    /// Keeps the first files in order of their paths that fill the limit: what stays does not depend
    /// on the order in which files come in.
    pub(super) fn add(&mut self, name: String, text: String, count: u64, limit: usize) {
        self.matches += count;
        self.files += 1;
        self.bytes += text.len();
        self.cut |= text.len() >= limit;
        self.blocks.insert(name, text);
        while let Some(last) = self.blocks.last_entry() {
            if self.bytes - last.get().len() < limit {
                break;
            }
            self.bytes -= last.remove().len();
            self.cut = true;
        }
    }

    pub(super) fn outcome(self, call: &Grep, searched: usize, workspace: &Workspace) -> Outcome {
        let facts = json!({
            "path": call.path,
            "matches": self.matches,
            "files_with_matches": self.files,
            "files_searched": searched,
        });
        let whole: String = self.blocks.into_values().collect();
        let shown = clipped(&whole, workspace.limits.line_bytes, workspace.limits.shown_bytes);
        let outcome = match shown {
            Some(shown) => Outcome::shown(shown, whole.into_bytes(), facts),
            None => Outcome::text(whole, usize::MAX, facts),
        };
        Outcome { truncated: outcome.truncated || self.cut, ..outcome }
    }
}

/// As much of a result as the limits show, with long lines cut; none if that is all of it.
fn clipped(whole: &str, line_limit: usize, limit: usize) -> Option<String> {
    let mut shown = String::new();
    for line in whole.split_inclusive('\n') {
        let start = shown.len();
        if line.len() > line_limit + 1 {
            shown.push_str(&line[..line.floor_char_boundary(line_limit)]);
            shown.push_str("…\n");
        } else {
            shown.push_str(line);
        }
        if shown.len() > limit {
            shown.truncate(start);
            return Some(shown);
        }
    }
    (shown != whole).then_some(shown)
}

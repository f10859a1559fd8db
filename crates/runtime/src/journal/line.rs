//! An event as it stands in its line of the record, where its data may refer to texts that are kept elsewhere.

use agent::event::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) v: u32,
    pub(super) seq: u64,
    pub(super) ts: String,
    pub(super) run_id: String,
    pub(super) turn: u32,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) data: Value,
    pub(super) prev: String,
}

impl Line {
    /// Whether it is the end of a run.
    pub(super) fn is_end(&self) -> bool {
        self.kind == "run_finished"
    }

    /// Whether it may follow the end of a run: it tells what became of the changes.
    pub(super) fn is_epilogue(&self) -> bool {
        ["changes_made", "changes_applied", "changes_undone"].contains(&&*self.kind)
    }
}

impl From<&Event> for Line {
    fn from(event: &Event) -> Self {
        let Event { v, seq, ts, run_id, turn, data, prev } = event;
        let mut written = json!(data);
        Self {
            v: *v,
            seq: *seq,
            ts: ts.clone(),
            run_id: run_id.clone(),
            turn: *turn,
            kind: data.kind().to_owned(),
            data: written["data"].take(),
            prev: prev.clone(),
        }
    }
}

impl Line {
    /// What it says.
    pub(super) fn read(self) -> Result<Event, serde_json::Error> {
        let Self { v, seq, ts, run_id, turn, kind, data, prev } = self;
        let mut line = json!({"v": v, "seq": seq, "ts": ts, "run_id": run_id, "turn": turn, "type": kind, "prev": prev});
        // Moved, not copied: it may be large.
        line["data"] = data;
        serde_json::from_value(line)
    }
}

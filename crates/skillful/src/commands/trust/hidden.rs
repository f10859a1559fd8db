//! Saying what is hidden from the model until somebody has looked at it.

use basics::skill::Source;
use skill::index::{Entry, Index};
use skill::trust::Waiting;

use crate::output::{Output, count};

/// What to do about a skill that waits.
pub(crate) const LOOK_FIRST: &str =
    "look at it (`skillful inspect NAME`), then run `skillful trust project NAME`";

/// Names that are said; of more, the number is enough.
const NAMED: usize = 3;

/// Says on stderr what the model does not get to see, to somebody who has not seen it either.
pub(crate) fn tell_hidden(index: &Index, output: &Output) {
    if let Some(hidden) = hidden(index) {
        output.note(&format!(
            "Hidden from the model: {hidden}. `skillful list --source project` shows them. Look first \
             (`skillful inspect NAME`), then run `skillful trust project NAME`."
        ));
    }
}

/// How many skills wait for trust, and which of them did not always.
pub(crate) fn hidden(index: &Index) -> Option<String> {
    let waiting = |entry: &&Entry| entry.source == Source::Project && entry.waiting.is_some();
    let waiting: Vec<&Entry> = index.skills.iter().filter(waiting).collect();
    if waiting.is_empty() {
        return None;
    }
    let mut text = format!("{} of this project", count(waiting.len(), "untrusted skill"));
    let reasons = [
        (Waiting::Changed, "changed since you trusted it"),
        (Waiting::Earlier, "trusted with an earlier version, which did not check all files"),
    ];
    for (reason, words) in reasons {
        let names = waiting.iter().filter(|entry| entry.waiting == Some(reason));
        let names: Vec<&str> = names.map(|entry| entry.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names[..names.len().min(NAMED)].join(", ");
        text += &format!(" ({words}: {names}{more})");
    }
    Some(text)
}

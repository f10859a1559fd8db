//! Saying what is hidden from the model until somebody has looked at it.

use basics::skill::Source;
use basics::text::for_terminal;
use model::offline::{fits, query};
use permission::argument;
use skill::index::{Entry, Index};
use skill::search::Hit;
use skill::trust::Waiting;

use crate::output::{Output, count};

/// What to do about a skill that waits.
pub(crate) const LOOK_FIRST: &str =
    "look at it (`skillful inspect NAME`), then run `skillful trust project NAME`";

/// Names that are said; of more, the number is enough.
const NAMED: usize = 3;
/// Skills among which one is looked for that would fit.
const FITTING: usize = 5;

/// Says on stderr what the model does not get to see, to somebody who has not seen it either.
pub(crate) fn tell_hidden(index: &Index, output: &Output) {
    if let Some(hidden) = hidden(index) {
        output.note(&format!(
            "Hidden from the model: {hidden}. `skillful list --source project` shows them. Look first \
             (`skillful inspect NAME`), then run `skillful trust project NAME`."
        ));
    }
}

/// Names the untrusted skill of this project that fits a request best, and the command that lets it in.
pub(crate) fn tell_fitting(index: &Index, request: &str, output: &Output) {
    let hits = index.search(&query(request), FITTING);
    let waiting = |hit: &&Hit| {
        index.get(&hit.name, Some(hit.source)).is_some_and(|entry| entry.waiting.is_some())
    };
    if let Some(hit) = hits.iter().filter(|hit| fits(hit)).find(waiting) {
        let (name, said) = (argument(&hit.name), for_terminal(&hit.name));
        output.note(&format!(
            "The skill `{said}` of this project would fit, but you do not trust it yet. Look first (`skillful \
             inspect {name}`), then run `skillful trust project {name}`."
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

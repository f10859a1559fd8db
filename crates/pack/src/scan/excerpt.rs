//! What a report shows of a file: short, on one line, nothing hidden, no secret whole.

use std::ops::Range;

use basics::text::{for_terminal, prefix};

/// Characters of an excerpt before its hidden ones are spelled out.
const LENGTH: usize = 120;
/// Characters of a secret that are shown: enough to find it, too few to use it.
const SHOWN: usize = 8;

/// The line of a match, from a little before it.
pub(super) fn around(text: &str, range: &Range<usize>) -> String {
    let line = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let is_near = range.start - line <= LENGTH / 2;
    let start = if is_near { line } else { range.start };
    let end = text[range.end..].find('\n').map_or(text.len(), |newline| range.end + newline);
    let whole = text[start..end].trim();
    let shown = for_terminal(prefix(whole, LENGTH)).into_owned();
    let (before, after) =
        (if is_near { "" } else { "…" }, prefix(whole, LENGTH).len() < whole.len());
    format!("{before}{shown}{}", if after { "…" } else { "" })
}

/// The beginning of a secret.
pub(super) fn redacted(secret: &str) -> String {
    format!("{}… ({} characters)", for_terminal(prefix(secret, SHOWN)), secret.chars().count())
}

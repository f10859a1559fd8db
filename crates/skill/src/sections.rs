//! Finding a section of a Markdown document by its heading, and cutting a long document down to what
//! matters most.

mod trim;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::markdown::{heading, lines};
pub(crate) use trim::trim;

/// A heading and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 for `#`, 2 for `##`, …
    pub level: usize,
    /// The text behind the `#`s.
    pub title: String,
    /// Where its line begins, in bytes.
    pub start: usize,
}

impl std::fmt::Display for Heading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", "#".repeat(self.level), self.title)
    }
}

/// The headings of `text`, code fences left out.
pub fn headings(text: &str) -> Vec<Heading> {
    lines(text)
        .filter(|line| !line.in_code)
        .filter_map(|line| {
            let (level, title) = heading(line.text)?;
            Some(Heading { level, title: title.to_owned(), start: line.start })
        })
        .collect()
}

/// From the heading that `hint` names to the next one of the same or a higher level.
///
/// The hint may have `#`s, which then must match; case, numbering and emphasis do not matter. An exact
/// title is preferred to one that only contains the hint.
pub fn find(text: &str, hint: &str) -> Option<Range<usize>> {
    let (level, title) = match heading(hint.trim()) {
        Some((level, title)) => (Some(level), title),
        None => (None, hint.trim().trim_start_matches('#').trim()),
    };
    let wanted = simplified(title);
    if wanted.is_empty() {
        return None;
    }
    let all = headings(text);
    let titles: Vec<String> = all.iter().map(|heading| simplified(&heading.title)).collect();
    let is_level = |at: usize| level.is_none_or(|level| all[at].level == level);
    let places = || 0..all.len();
    let at = places()
        .find(|at| is_level(*at) && titles[*at] == wanted)
        .or_else(|| places().find(|at| titles[*at] == wanted))
        .or_else(|| places().find(|at| titles[*at].contains(&wanted)))?;
    let end = all[at + 1..]
        .iter()
        .find(|next| next.level <= all[at].level)
        .map_or(text.len(), |next| next.start);
    Some(all[at].start..end)
}

/// The section whose title is exactly `title`.
pub(crate) fn find_exactly(text: &str, title: &str) -> Option<Range<usize>> {
    let wanted = simplified(title);
    let range = find(text, title)?;
    let (_, found) = heading(text[range.clone()].lines().next()?)?;
    (simplified(found) == wanted).then_some(range)
}

/// A title without what people leave out when they refer to it.
fn simplified(title: &str) -> String {
    let unnumbered =
        title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    let title = if unnumbered.is_empty() { title } else { unnumbered };
    let kept = title.chars().filter(|c| !matches!(c, '*' | '_' | '`' | ':' | '：'));
    kept.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What is left of `text` within a budget, for a fuzz target.
#[cfg(fuzzing)]
#[doc(hidden)]
pub fn trimmed(text: &str, lines: usize, chars: usize) -> String {
    trim(text, lines, chars).text
}

/// The headings as an indented list of lines.
pub fn outline(text: &str) -> String {
    headings(text).iter().map(|heading| format!("{heading}\n")).collect()
}

//! Finding a section of a Markdown document by its heading, and cutting a long document down to what
//! matters most.

mod trim;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use crate::markdown::{self, Line, heading, lines};
pub(crate) use trim::{Trimmed, trim};

/// A heading and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 for `#`, 2 for `##`, …; an underlined title has 1 or 2.
    pub level: usize,
    /// The text behind the `#`s or above the line.
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
    let mut found = Vec::new();
    // A paragraph of one line so far, which a line below it would make a title.
    let mut lone: Option<Line<'_>> = None;
    let mut in_paragraph = false;
    for line in lines(text) {
        let add = |level, title: &str, start| Heading { level, title: title.to_owned(), start };
        let (above, began) = (lone.take(), in_paragraph);
        in_paragraph = false;
        if line.in_code {
            continue;
        }
        if let Some((level, title)) = heading(line.text) {
            found.push(add(level, title, line.start));
        } else if let (Some(above), Some(level)) = (above, markdown::underline(line.text)) {
            found.push(add(level, above.text.trim(), above.start));
        } else if markdown::is_rule(line.text) {
            // The first one opens a frontmatter, which is no paragraph's beginning.
            in_paragraph = line.start == 0;
        } else if !line.text.trim().is_empty() {
            lone = (!began && markdown::may_be_title(line.text)).then_some(line);
            in_paragraph = true;
        }
    }
    found
}

/// From the heading that `hint` names to the next one of the same or a higher level.
///
/// The hint may have `#`s, which then should match; case and emphasis do not matter, and numbering
/// only where titles differ in nothing else. An exact title is preferred to one that only contains
/// the hint. `Outer > Inner` is a section within another one.
pub fn find(text: &str, hint: &str) -> Option<Range<usize>> {
    let all = headings(text);
    if let Some((outer, inner)) = hint.rsplit_once(WITHIN)
        && let Some(outer) = find(text, outer)
    {
        let within: Vec<Heading> =
            all.iter().filter(|heading| outer.contains(&heading.start)).skip(1).cloned().collect();
        if let Some(at) = place(&within, inner) {
            return Some(section(&text[..outer.end], &within, at));
        }
    }
    let at = place(&all, hint)?;
    Some(section(text, &all, at))
}

/// Between the title of a section and that of one within it.
const WITHIN: &str = " > ";

/// A hint that leads to each heading: itself, or with the one above it where there are several like it.
fn hints(all: &[Heading]) -> Vec<String> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for heading in all {
        *times.entry(heading.to_string()).or_default() += 1;
    }
    let mut above: Vec<&Heading> = Vec::new();
    all.iter()
        .map(|heading| {
            above.retain(|outer| outer.level < heading.level);
            let outer = above.last().copied();
            above.push(heading);
            let own = heading.to_string();
            match outer {
                Some(outer) if times[&own] > 1 => {
                    format!("{}{WITHIN}{}", outer.title, heading.title)
                }
                _ => own,
            }
        })
        .collect()
}

/// The section whose title is exactly `title`.
pub(crate) fn find_exactly(text: &str, title: &str) -> Option<Range<usize>> {
    let all = headings(text);
    let at = place(&all, title)?;
    let bare = |title: &str| unnumbered(&simplified(title), Number::Any).to_owned();
    (bare(&all[at].title) == bare(title.trim_start_matches('#'))).then(|| section(text, &all, at))
}

fn section(text: &str, all: &[Heading], at: usize) -> Range<usize> {
    let next = all[at + 1..].iter().find(|next| next.level <= all[at].level);
    all[at].start..next.map_or(text.len(), |next| next.start)
}

/// How a title and a hint may fit, the best way first. A number is left out where it only counts the
/// sections: `2. Intro` may be `Intro` or since have become `3. Intro`; `2023 results` may be
/// `results`, but never `2024 results`.
const FITS: [fn(&str, &str) -> bool; 4] = [
    |title, hint| title == hint,
    |title, hint| unnumbered(title, Number::Marked) == unnumbered(hint, Number::Marked),
    |title, hint| unnumbered(title, Number::Any) == hint || title == unnumbered(hint, Number::Any),
    |title, hint| title.contains(hint),
];

fn place(all: &[Heading], hint: &str) -> Option<usize> {
    let (level, title) = match heading(hint.trim()) {
        Some((level, title)) => (Some(level), title),
        None => (None, hint.trim().trim_start_matches('#').trim()),
    };
    let wanted = simplified(title);
    if wanted.is_empty() {
        return None;
    }
    let titles: Vec<String> = all.iter().map(|heading| simplified(&heading.title)).collect();
    let is_level = |at: &usize| level.is_none_or(|level| all[*at].level == level);
    FITS.iter().find_map(|fits| {
        let mut fitting = (0..all.len()).filter(|at| fits(&titles[*at], &wanted));
        fitting.clone().find(is_level).or_else(|| fitting.next())
    })
}

/// A title without what people leave out when they refer to it.
fn simplified(title: &str) -> String {
    let kept = title.chars().filter(|c| !matches!(c, '*' | '_' | '`' | ':' | '：'));
    kept.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What counts as the number of a section.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    /// `1.` or `1.2)`
    Marked,
    /// Also `1` and `1.2`, which may be a part of the title.
    Any,
}

/// A title without the number of its section; one that is nothing else keeps it.
fn unnumbered(title: &str, number: Number) -> &str {
    let counted = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let digits = &title[..title.len() - counted.len()];
    let is_marked = digits.len() > 1 && digits.ends_with('.') || counted.starts_with(')');
    let is_counted = digits.starts_with(|c: char| c.is_ascii_digit())
        && (is_marked || number == Number::Any && counted.starts_with(' '));
    let rest = counted.strip_prefix(')').unwrap_or(counted).trim_start();
    if is_counted && !rest.is_empty() { rest } else { title }
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

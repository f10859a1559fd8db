//! Characters that a reader does not see and a model does.

use std::ops::Range;

use basics::text::is_hidden;

use super::finding::Severity;

/// Hidden characters in one line.
#[derive(Debug)]
pub(super) struct Hidden {
    pub(super) range: Range<usize>,
    pub(super) severity: Severity,
    pub(super) what: String,
}

/// As many zero-width characters in a row spell something out.
const MESSAGE: usize = 8;

/// The flags that are written with tags: England, Scotland, Wales.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// The gravest hidden characters of every line that has some.
pub(super) fn find(text: &str, opens_file: bool) -> Vec<Hidden> {
    let mut found = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if !line.is_ascii() {
            let runs = Runs { line, at: 0 };
            let runs = runs.filter_map(|run| judge(line, run, opens_file && number == 0));
            // Of equally grave ones the first.
            let gravest = runs.reduce(|a, b| if b.severity > a.severity { b } else { a });
            found.extend(gravest.map(|hidden| Hidden {
                range: start + hidden.range.start..start + hidden.range.end,
                ..hidden
            }));
        }
        start += line.len();
    }
    found
}

/// Runs of characters that are not seen.
struct Runs<'a> {
    line: &'a str,
    at: usize,
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.find(is_unseen)?;
        let run = &self.line[start..];
        let end = start + run.find(|c| !is_unseen(c)).unwrap_or(run.len());
        self.at = end;
        Some(start..end)
    }
}

/// Control characters are no way to hide text from a reader; terminals are another matter.
fn is_unseen(c: char) -> bool {
    (is_hidden(c) && !c.is_control()) || is_variation(c)
}

fn is_variation(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}')
}

/// What a run of hidden characters means.
fn judge(line: &str, range: Range<usize>, is_first: bool) -> Option<Hidden> {
    let run = &line[range.clone()];
    let before = line[..range.start].chars().next_back();
    let after = line[range.end..].chars().next();
    if is_ordinary(run, before, after, is_first && range.start == 0) {
        return None;
    }
    let count = run.chars().count();
    let has = |is: fn(char) -> bool| run.chars().any(is);
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (severity, what) = if has(is_tag) {
        (Severity::Critical, format!("tag characters that spell `{}`", spelled(run)))
    } else if has(is_byte) || run.chars().all(is_variation) {
        (
            Severity::Critical,
            format!("{count} variation selectors in a row, which can hold any text"),
        )
    } else if has(is_bidi) {
        (Severity::High, "marks that change the order in which text is shown".to_owned())
    } else if count >= MESSAGE {
        (Severity::High, format!("{count} zero-width characters in a row"))
    } else if is_word(before) && is_word(after) && !run.starts_with('\u{AD}') {
        (Severity::Medium, "a zero-width character inside a word".to_owned())
    } else {
        (Severity::Low, "a character without width".to_owned())
    };
    Some(Hidden { range, severity, what })
}

/// What emoji, other scripts and editors need.
fn is_ordinary(run: &str, before: Option<char>, after: Option<char>, opens_file: bool) -> bool {
    let is_other = |c: Option<char>| c.is_some_and(|c| !c.is_ascii());
    let mut characters = run.chars();
    match (characters.next(), characters.next()) {
        (Some('\u{FEFF}'), None) if opens_file => true,
        // A flag such as Scotland's is a black flag with the letters of the place as tags. Others could
        // spell anything.
        (Some(first), _) if is_tag(first) => {
            before == Some('\u{1F3F4}')
                && run.ends_with('\u{E007F}')
                && FLAGS.contains(&spelled(run).as_str())
        }
        (Some(first), None) if is_variation(first) => true,
        (Some(first), None) if is_byte(first) => is_other(before),
        // Joiners between emoji, with the variation before them.
        (Some(first), second) if is_variation(first) && second == Some('\u{200D}') => true,
        (Some('\u{200C}' | '\u{200D}'), None) => is_other(before) || is_other(after),
        (Some('\u{200E}' | '\u{200F}' | '\u{61C}'), None) => is_other(before) || is_other(after),
        _ => false,
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

fn is_byte(c: char) -> bool {
    matches!(c, '\u{E0100}'..='\u{E01EF}')
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// What tag characters say.
fn spelled(run: &str) -> String {
    let letters = run.chars().filter(|c| is_tag(*c));
    let plain = letters.filter_map(|c| char::from_u32(c as u32 - 0xE0000));
    plain.filter(|c| matches!(c, ' '..='~')).take(100).collect()
}

//! A text and where in it something stands: in prose, in quotes, in a code block, in a script.

use std::ops::Range;

use regex::bytes::Regex;

use super::File;
use super::rules::Place;

/// What kind of text a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text for people and models.
    Markdown,
    /// Something that is run.
    Script,
    /// Everything else.
    Data,
}

const MARKDOWN: [&str; 7] = ["md", "mdx", "markdown", "txt", "rst", "adoc", "mdc"];
const SCRIPTS: [&str; 35] = [
    "sh",
    "bash",
    "zsh",
    "fish",
    "ksh",
    "command",
    "py",
    "pyw",
    "js",
    "mjs",
    "cjs",
    "ts",
    "mts",
    "tsx",
    "jsx",
    "rb",
    "pl",
    "pm",
    "php",
    "ps1",
    "psm1",
    "bat",
    "cmd",
    "vbs",
    "lua",
    "r",
    "go",
    "rs",
    "swift",
    "applescript",
    "awk",
    "tcl",
    "java",
    "cs",
    "groovy",
];
/// Files without such an ending whose content is run.
const RUN: [&str; 6] =
    ["makefile", "dockerfile", "justfile", "package.json", "rakefile", "gemfile"];

impl Kind {
    pub(super) fn of(file: &File<'_>, text: &str) -> Self {
        let name = file.path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
        if MARKDOWN.contains(&ending) {
            Self::Markdown
        } else if SCRIPTS.contains(&ending)
            || RUN.contains(&name.as_str())
            || file.executable
            || text.starts_with("#!")
        {
            Self::Script
        } else if ending.is_empty() {
            Self::Markdown
        } else {
            Self::Data
        }
    }
}

/// Longer lines are not written by hand, and looking around in them would take too long.
const LONG_LINE: usize = 2_000;
/// Bytes on either side of a match that are looked at.
const NEAR: usize = 300;
/// Lines above a match that may say what it is.
const LINES_ABOVE: usize = 3;

/// How a text shows that it only speaks of something.
#[derive(Debug)]
pub(super) struct Cues {
    /// Around it or above it.
    pub(super) discusses: Regex,
    /// Before it or in its heading.
    pub(super) denies: Regex,
}

/// A text with its lines.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) kind: Kind,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    start: usize,
    /// The line that opens the code block it stands in.
    fence: Option<usize>,
    /// The heading it stands under, itself if it is one.
    heading: Option<usize>,
}

impl<'a> Document<'a> {
    pub(super) fn new(text: &'a str, kind: Kind) -> Self {
        let mut lines = Vec::new();
        let (mut start, mut fence, mut heading) = (0, None, None);
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let mark = if kind == Kind::Markdown { fence_mark(line) } else { None };
            let opened = fence.map(|(number, _): (usize, Fence)| number);
            let within = match (fence, mark) {
                (None, Some(mark)) => {
                    fence = Some((number, mark));
                    Some(number)
                }
                (Some((_, open)), Some(mark)) if mark.closes(open) => {
                    fence = None;
                    opened
                }
                _ => opened,
            };
            if within.is_none() && line.starts_with('#') {
                heading = Some(number);
            }
            lines.push(Line { start, fence: within, heading });
            start += line.len();
        }
        if lines.is_empty() {
            lines.push(Line { start: 0, fence: None, heading: None });
        }
        Self { text, kind, lines }
    }

    /// Where a pattern matches, in whole characters and without the space after it.
    pub(super) fn find(&self, regex: &Regex) -> impl Iterator<Item = Range<usize>> {
        regex.find_iter(self.text.as_bytes()).map(|found| {
            let start = self.text.floor_char_boundary(found.start());
            let end = self.text.ceil_char_boundary(found.end());
            start..start + self.text[start..end].trim_end().len()
        })
    }

    /// The number of the line that holds the byte at `offset`, from 0.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    /// The number of the character at `offset` in its line, from 1.
    pub(super) fn column_of(&self, offset: usize) -> usize {
        let start = self.lines[self.line_of(offset)].start;
        self.text[start..offset].chars().count() + 1
    }

    /// Every line, without its newline.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.text.split('\n')
    }

    /// The lines of a match, as far as they are near.
    pub(super) fn near(&self, range: &Range<usize>) -> &'a str {
        let start =
            self.lines[self.line_of(range.start)].start.max(range.start.saturating_sub(NEAR));
        let end = self.end_of(self.line_of(range.end)).min(range.end + NEAR).max(range.end);
        self.slice(start, end)
    }

    pub(super) fn place(&self, range: &Range<usize>) -> Place {
        let number = self.line_of(range.start);
        let line = self.lines[number];
        let end = self.end_of(number);
        if self.kind == Kind::Markdown && line.fence.is_some() {
            return Place::CodeBlock;
        }
        let is_long = end - line.start > LONG_LINE;
        let whole = if is_long { "" } else { self.text[line.start..end].trim_start() };
        match self.kind {
            Kind::Markdown if whole.starts_with(['>', '|']) => Place::Quoted,
            Kind::Markdown if !is_long && is_quoted(&self.text[line.start..range.start]) => {
                Place::Quoted
            }
            Kind::Markdown => Place::Prose,
            Kind::Script if is_comment(whole) => Place::Comment,
            Kind::Script => Place::Script,
            Kind::Data => Place::Data,
        }
    }

    /// Whether a match stands in a comment of Markdown, which is for the model alone.
    pub(super) fn is_unseen(&self, range: &Range<usize>) -> bool {
        let start = self.lines[self.line_of(range.start)].start;
        let before = self.slice(start.max(range.start.saturating_sub(NEAR)), range.start);
        self.kind == Kind::Markdown && before.rfind("<!--") > before.rfind("-->")
    }

    /// Whether the text around a match, without the match, says that it is only spoken of.
    pub(super) fn is_discussed(&self, range: &Range<usize>, cues: &Cues) -> bool {
        let number = self.line_of(range.start);
        let line = self.lines[number];
        let before = self.slice(line.start.max(range.start.saturating_sub(NEAR)), range.start);
        let last = self.end_of(self.line_of(range.end));
        let after = self.slice(range.end, last.min(range.end + NEAR).max(range.end));
        let heading = line.heading.filter(|heading| *heading != number).map_or("", |heading| {
            let start = self.lines[heading].start;
            self.slice(start, self.end_of(heading).min(start + NEAR))
        });
        let above = |number: usize| {
            let first = self.lines[number.saturating_sub(LINES_ABOVE)].start;
            let start = self.lines[number].start;
            self.slice(first.max(start.saturating_sub(NEAR)), start)
        };
        let outside = line.fence.map_or("", above);
        // "No exceptions. Do not …" denies nothing.
        let sentence = before.rsplit(['.', '!', '?', ';']).next().unwrap_or_default();
        let denies =
            [sentence, heading].into_iter().any(|text| cues.denies.is_match(text.as_bytes()));
        denies
            || [before, after, heading, above(number), outside]
                .into_iter()
                .any(|text| cues.discusses.is_match(text.as_bytes()))
    }

    /// The text between two offsets, without the parts of characters at its ends.
    fn slice(&self, start: usize, end: usize) -> &'a str {
        let start = self.text.ceil_char_boundary(start);
        &self.text[start..self.text.floor_char_boundary(end).max(start)]
    }

    /// Where a line ends, without its newline.
    fn end_of(&self, number: usize) -> usize {
        match self.lines.get(number + 1) {
            Some(next) => next.start - 1,
            None => self.text.len(),
        }
    }
}

/// The mark of a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    bare: bool,
}

impl Fence {
    fn closes(self, open: Fence) -> bool {
        self.bare && self.mark == open.mark && self.length >= open.length
    }
}

/// Unlike where a document is cut into sections, a fence may be indented by any amount: those in lists
/// are, and what matters here is that a reader takes it for code.
fn fence_mark(line: &str) -> Option<Fence> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then_some(Fence { mark, length, bare: rest.is_empty() })
}

/// Whether a quote or code span is open at the end of `before`.
fn is_quoted(before: &str) -> bool {
    let is_odd = |mark: char| before.matches(mark).count() % 2 == 1;
    is_odd('`')
        || is_odd('"')
        || before.matches(['“', '«', '「']).count() > before.matches(['”', '»', '」']).count()
        // An apostrophe may be part of a word; right before the match it is a quote.
        || before.ends_with(['\'', '‘'])
}

/// Whether a line of a script is not run.
fn is_comment(line: &str) -> bool {
    (line.starts_with('#') && !line.starts_with("#!"))
        || ["//", "/*", "* ", "--", "REM ", "rem "].iter().any(|mark| line.starts_with(mark))
}

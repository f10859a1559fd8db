//! A text and where in it something stands: in code, or in text that is only read.

use std::cell::Cell;
use std::ops::Range;

use regex::bytes::Regex;

use super::rules::Area;

/// What kind of text a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text for people and models.
    Text,
    /// Something that may be run.
    Code(Comments),
}

/// How a language marks a line that is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// `# …`
    Hash,
    /// `// …`
    Slashes,
    /// In another way, or in none.
    Unknown,
}

const TEXT: [&str; 7] = ["md", "mdx", "markdown", "txt", "rst", "adoc", "mdc"];
const HASH: [&str; 20] = [
    "sh", "bash", "zsh", "fish", "ksh", "command", "py", "pyw", "rb", "pl", "pm", "ps1", "psm1",
    "r", "awk", "tcl", "yaml", "yml", "toml", "mk",
];
const SLASHES: [&str; 16] = [
    "js", "mjs", "cjs", "ts", "mts", "tsx", "jsx", "php", "go", "rs", "swift", "java", "cs",
    "groovy", "kt", "scala",
];
/// Files without an ending whose comments begin with `#`.
const HASH_NAMES: [&str; 5] = ["makefile", "dockerfile", "justfile", "rakefile", "gemfile"];

impl Kind {
    /// By what a file is called, whether it can be executed, and how it begins.
    ///
    /// Everything that is not named like a text for people may be run: whoever writes a skill chooses
    /// the names of its files.
    pub(super) fn of(path: &str, executable: bool, beginning: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
        let names_a_program = beginning.trim_start_matches('\u{feff}').starts_with("#!");
        if TEXT.contains(&ending) && !executable && !names_a_program {
            return Self::Text;
        }
        Self::Code(if SLASHES.contains(&ending) {
            Comments::Slashes
        } else if HASH.contains(&ending) || HASH_NAMES.contains(&name.as_str()) || names_a_program {
            Comments::Hash
        } else {
            Comments::Unknown
        })
    }
}

/// Longer lines are not written by hand, and looking around in them would take too long.
const LONG_LINE: usize = 2_000;

/// A text with its lines.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) kind: Kind,
    /// Where each line begins.
    lines: Vec<usize>,
    /// The line that was looked at last, and whether it is a comment: many matches share one.
    last: Cell<Option<(usize, bool)>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(text: &'a str, kind: Kind) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(after.map(|(at, _)| at + 1)).collect();
        Self { text, kind, lines, last: Cell::new(None) }
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
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The number of the character at `offset` in its line, from 0.
    pub(super) fn column_of(&self, offset: usize) -> usize {
        let start = self.lines[self.line_of(offset)];
        self.text[start..offset].chars().count()
    }

    /// Every line, without its newline.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.text.split('\n')
    }

    pub(super) fn place(&self, range: &Range<usize>) -> Area {
        let Kind::Code(comments) = self.kind else { return Area::Text };
        let number = self.line_of(range.start);
        let start = self.lines[number];
        let end = self.lines.get(number + 1).map_or(self.text.len(), |next| next - 1);
        let is_comment = match self.last.get() {
            Some((last, is_comment)) if last == number => is_comment,
            _ => end - start <= LONG_LINE && is_comment(&self.text[start..end], comments),
        };
        self.last.set(Some((number, is_comment)));
        if is_comment && range.end <= end { Area::Text } else { Area::Code }
    }
}

/// Whether a line can be nothing but a comment.
///
/// A line that looks like one may stand in a string that began above it. There it runs where it closes
/// the string or has something filled in, so whoever wants a discount writes neither.
fn is_comment(line: &str, comments: Comments) -> bool {
    let line = line.trim();
    let is_marked = match comments {
        Comments::Hash => line.starts_with('#') && !line.starts_with("#!"),
        // `//bin/sh` is a program.
        Comments::Slashes => line.starts_with("// "),
        Comments::Unknown => false,
    };
    let ends_something = |c: char| {
        c.is_control() || matches!(c, '\'' | '"' | '`' | '{' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    is_marked && !line.contains(ends_something) && !line.contains("$(") && !line.contains("?>")
}

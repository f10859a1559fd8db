//! Colours for code: strings, comments, numbers and words that most languages keep for themselves.
//!
//! A line at a time and without grammar: what it takes for a string may be none, and nothing depends on it.

use anstyle::Style;

use super::Look;
use super::flow::{Span, add};

const KEYWORDS: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "del",
    "do",
    "done",
    "elif",
    "else",
    "enum",
    "esac",
    "except",
    "export",
    "extends",
    "false",
    "False",
    "fi",
    "final",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "is",
    "lambda",
    "let",
    "local",
    "loop",
    "match",
    "mod",
    "mut",
    "new",
    "nil",
    "None",
    "not",
    "null",
    "or",
    "package",
    "pass",
    "private",
    "pub",
    "public",
    "raise",
    "return",
    "select",
    "self",
    "static",
    "struct",
    "switch",
    "then",
    "this",
    "throw",
    "trait",
    "true",
    "True",
    "try",
    "type",
    "use",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
];

/// A line of code in its colours.
pub(super) fn spans(line: &str, language: &str, look: Look) -> Vec<Span> {
    let language = language.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
    let mut spans = Vec::new();
    match language.as_str() {
        "diff" | "patch" => add(&mut spans, diff(line, look), line),
        "" | "text" | "txt" | "plain" | "console" | "output" | "markdown" | "md" => {
            add(&mut spans, Style::new(), line);
        }
        language => words(line, language, look, &mut spans),
    }
    spans
}

fn diff(line: &str, look: Look) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => look.string,
        Some(b'-') => look.keyword,
        Some(b'@') => look.quiet,
        _ => Style::new(),
    }
}

fn words(line: &str, language: &str, look: Look, spans: &mut Vec<Span>) {
    let comments: &[&str] = match language {
        "c" | "cpp" | "c++" | "rust" | "rs" | "go" | "java" | "js" | "javascript" | "ts"
        | "typescript" | "tsx" | "jsx" | "swift" | "kotlin" | "scala" | "cs" | "php" | "css"
        | "json5" | "jsonc" => &["//"],
        "sql" | "lua" | "haskell" => &["--"],
        "json" | "html" | "xml" => &[],
        _ => &["#"],
    };
    let mut rest = line;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let is_comment = comments.iter().any(|mark| rest.starts_with(mark));
        let (length, style) = if is_comment && !before.is_alphanumeric() && before != '$' {
            (rest.len(), look.quiet)
        } else if matches!(c, '"' | '\'' | '`') && !before.is_alphanumeric() {
            match string(rest, c) {
                Some(length) => (length, look.string),
                None => (c.len_utf8(), Style::new()),
            }
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let style = match &rest[..end] {
                word if KEYWORDS.contains(&word) => look.keyword,
                _ if c.is_ascii_digit() => look.code,
                _ => Style::new(),
            };
            (end, style)
        } else {
            (c.len_utf8(), Style::new())
        };
        let (piece, left) = rest.split_at(length);
        add(spans, style, piece);
        before = piece.chars().last().unwrap_or(' ');
        rest = left;
    }
}

/// How long a string is that begins here and ends on this line.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map(|(place, c)| place + c.len_utf8())
}

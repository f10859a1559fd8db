//! Text as words that can be compared.
//!
//! English words are stemmed. Chinese and Japanese, which have no spaces, are cut into pairs of
//! characters. Identifiers and file extensions (`read_file`, `.csv`, `node.js`) are kept whole beside
//! their parts.

use rust_stemmers::{Algorithm, Stemmer};

/// Words that tell nothing beside others: those of grammar, what an apostrophe leaves behind (`what's`, `don't`), and a
/// few of nearly every description.
const COMMON: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "ll", "may", "me", "my", "no", "not", "of", "on", "or", "our",
    "please", "re", "s", "should", "so", "some", "t", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "use", "used", "user", "using",
    "ve", "want", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will",
    "with", "would", "you", "your",
];

/// Calls `visit` with every token of `text`.
pub(super) fn for_each_token(text: &str, mut visit: impl FnMut(&str)) {
    for_each_word(text, |_, token| visit(token));
}

/// The words of `text` as written, each with its token.
pub(super) fn words(text: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for_each_word(text, |word, token| words.push((word.to_owned(), token.to_owned())));
    words
}

/// Calls `visit` with every word of `text` and its token. Common words count only where there are no
/// others, so that a skill called `use` can be found.
fn for_each_word(text: &str, mut visit: impl FnMut(&str, &str)) {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut is_empty = true;
    scan(text, |word, kind| match kind {
        Kind::English if COMMON.contains(&word) => {}
        Kind::English => {
            is_empty = false;
            visit(word, &stemmer.stem(word));
        }
        Kind::Whole | Kind::Pair => {
            is_empty = false;
            visit(word, word);
        }
    });
    if is_empty {
        scan(text, |word, _| visit(word, word));
    }
}

enum Kind {
    /// A word to be stemmed.
    English,
    /// An identifier, an extension, or a word of another language.
    Whole,
    /// Two characters of a language without spaces.
    Pair,
}

fn scan(text: &str, mut visit: impl FnMut(&str, Kind)) {
    let text = text.to_lowercase();
    for run in text.split(|c: char| c.is_whitespace() || !(c.is_alphanumeric() || is_joint(c))) {
        let run = run.trim_end_matches(['.', '-', '/']).trim_start_matches(['-', '/']);
        if run.is_empty() {
            continue;
        }
        let mut rest = run;
        while !rest.is_empty() {
            let unspaced = rest.chars().next().is_some_and(is_unspaced);
            let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            if unspaced {
                pairs(part, &mut visit)
            } else {
                spaced(part, &mut visit)
            }
            rest = after;
        }
    }
}

/// Characters that join the parts of an identifier.
fn is_joint(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | '+' | '#')
}

fn spaced(part: &str, visit: &mut impl FnMut(&str, Kind)) {
    if part.contains(is_joint) {
        visit(part, Kind::Whole);
    }
    for word in part.split(is_joint).filter(|word| !word.is_empty()) {
        let english = word.bytes().all(|b| b.is_ascii_alphabetic());
        visit(word, if english { Kind::English } else { Kind::Whole });
    }
}

fn pairs(part: &str, visit: &mut impl FnMut(&str, Kind)) {
    let starts: Vec<usize> = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
    if starts.len() == 2 {
        return visit(part, Kind::Pair);
    }
    for pair in starts.windows(3) {
        visit(&part[pair[0]..pair[2]], Kind::Pair);
    }
}

/// Han, Hiragana, Katakana: written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

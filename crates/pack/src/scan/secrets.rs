//! Telling a real key from one that was made up for an explanation.

/// Parts of keys that nobody was given.
const WORDS: [&str; 22] = [
    "example",
    "sample",
    "your",
    "test",
    "fake",
    "dummy",
    "demo",
    "placeholder",
    "redacted",
    "secret",
    "token",
    "xxxx",
    "0000",
    "1234",
    "4321",
    "abcd",
    "efgh",
    "wxyz",
    "changeme",
    "insert",
    "replace",
    "here",
];

/// Whether a token that looks like a key is an example: a word or a sequence in it, or few different
/// characters.
pub(super) fn is_placeholder(token: &str) -> bool {
    let lower = token.to_ascii_lowercase();
    // The armour of a key block has words of its own.
    let body = lower.rsplit("key-----").next().unwrap_or_default();
    let mut distinct: Vec<u8> = body.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let has_run = body.as_bytes().windows(5).any(|run| run.iter().all(|byte| *byte == run[0]));
    distinct.len() < 12 || has_run || WORDS.iter().any(|word| body.contains(word))
}

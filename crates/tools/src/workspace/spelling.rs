//! Different spellings of one name, as far as some file system or some program takes them for the same.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// A path as the most forgiving file systems compare it: without case, in one Unicode form, without
/// characters that nobody sees, and without dots and spaces at the end of a name.
pub(crate) fn fold(path: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    let ends_oddly = |name: &str| name.ends_with(['.', ' ']);
    if path.bytes().all(is_plain) && !path.split('/').any(ends_oddly) {
        return Cow::Borrowed(path);
    }
    let seen = path.chars().filter(|character| !is_ignorable(*character));
    let folded: String = seen.nfkc().flat_map(char::to_lowercase).collect();
    let names = folded.split('/').map(|name| name.trim_end_matches(['.', ' ']));
    Cow::Owned(names.collect::<Vec<_>>().join("/"))
}

/// What Unicode calls default ignorable: some file systems leave it out when they compare names.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// What people and programs add to the name of a file they keep a copy of, and what packs it.
const COPIES: &[&str] = &[
    "backup", "bak", "bck", "bkp", "bz2", "copy", "disabled", "gz", "old", "orig", "prev", "rej",
    "save", "saved", "swn", "swo", "swp", "tmp", "xz", "zip", "zst",
];

/// The paths of what a file may be a copy of, by its name: `a/key.pem` for `a/key.pem.bak`.
pub(super) fn originals(path: &str) -> Vec<String> {
    let (folder, mut name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
    let mut found = Vec::new();
    while let Some(kept) = original(name) {
        found.push(format!("{folder}{kept}"));
        // Vim puts a dot before the name of a swap file.
        let is_swap = [".swp", ".swo", ".swn"].iter().any(|end| name.ends_with(end));
        found.extend(
            kept.strip_prefix('.').filter(|_| is_swap).map(|plain| format!("{folder}{plain}")),
        );
        name = kept;
    }
    found
}

/// A name without the last mark of a copy: `~`, `.~1~`, `.bak`, `-old`, `.2`; Emacs has `#name#` and `.#name`.
fn original(name: &str) -> Option<&str> {
    let is_digit = |character: char| character.is_ascii_digit();
    let emacs = name.strip_prefix('#').and_then(|rest| rest.strip_suffix('#'));
    let kept = if let Some(kept) = emacs.or_else(|| name.strip_prefix(".#")) {
        kept
    } else if let Some(kept) = name.strip_suffix('~') {
        kept.trim_end_matches(is_digit).strip_suffix(".~").unwrap_or(kept)
    } else {
        let (kept, mark) = name.rsplit_once(['.', '-', '_', ' '])?;
        let word = mark.trim_matches(['(', ')']).trim_end_matches(is_digit);
        let counts =
            !mark.is_empty() && word.is_empty() && name[kept.len()..].starts_with(['.', ' ']);
        if !counts && !COPIES.contains(&word) {
            return None;
        }
        kept
    };
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests;

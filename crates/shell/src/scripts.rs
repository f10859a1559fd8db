//! Scripts in the languages of `sed` and `awk`, which can run programs: only plain ones are vouched for.

use crate::word::Word;

const SED: Option<&str> = Some("`sed` can run programs, and its script is not a plain one");
const AWK: Option<&str> = Some("`awk` can run programs, and its script is not a plain one");

/// Why the arguments of `sed` cannot be vouched for.
pub(crate) fn sed(arguments: &[Word]) -> Option<&'static str> {
    let mut scripts = Vec::new();
    let mut files = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let long = text.split('=').next().unwrap_or_default();
        match text {
            "-e" | "--expression" => match words.next() {
                Some(script) => scripts.push(script.text.as_str()),
                None => return SED,
            },
            _ if long == "--expression" => scripts.push(&text[long.len() + 1..]),
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-i" | "-ne" | "-Ee" | "-re" | "-nE"
            | "-nr" | "-En" | "-rn" | "--quiet" | "--silent" | "--regexp-extended"
            | "--in-place" | "--posix" | "--debug" | "--null-data" | "--unbuffered"
            | "--separate" | "--version" | "--help" => {
                if text.ends_with('e') && text.len() == 3 {
                    match words.next() {
                        Some(script) => scripts.push(script.text.as_str()),
                        None => return SED,
                    }
                }
            }
            // `-i.bak`: what follows is a suffix, and letters of options would be parts of it.
            _ if text.starts_with("-i") || long == "--in-place" => {}
            _ if text.starts_with('-') && text != "-" => return SED,
            _ => files.push(word),
        }
    }
    if scripts.is_empty() {
        match files.first() {
            Some(first) if first.is_literal() => scripts.push(&first.text),
            Some(_) => return SED,
            None => return None,
        }
    }
    if scripts.iter().all(|script| is_plain_sed(script)) { None } else { SED }
}

/// Addresses with `p`, `d`, `q`, `=`, and substitutions without `e` and `w`; nothing else.
fn is_plain_sed(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';', '\n']);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = sed_command(rest) else { return false };
        rest = after;
    }
}

fn sed_command(text: &str) -> Option<&str> {
    let mut rest = sed_address(text)?;
    if let Some(after) = rest.strip_prefix(',') {
        rest = sed_address(after)?;
    }
    rest = rest.trim_start_matches([' ', '!']);
    let command = rest.chars().next()?;
    rest = &rest[command.len_utf8()..];
    match command {
        'p' | 'd' | 'q' | '=' | 'P' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' => {}
        's' | 'y' => {
            let delimiter =
                rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
            rest = &rest[1..];
            rest = past(rest, delimiter)?;
            rest = past(rest, delimiter)?;
            if command == 's' {
                rest = rest.trim_start_matches(|c: char| "gpiI".contains(c) || c.is_ascii_digit());
            }
        }
        _ => return None,
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    (rest.is_empty() || rest.starts_with([';', '\n'])).then_some(rest)
}

fn sed_address(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix('/') {
        return past(after, '/').map(|rest| rest.trim_start_matches(['I', ' ']));
    }
    if let Some(after) = text.strip_prefix('$') {
        return Some(after);
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '~'))
}

/// What follows the next delimiter that is not escaped. Brackets and newlines are read differently by different versions.
fn past(text: &str, delimiter: char) -> Option<&str> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            '[' if text[at..]
                .find(']')
                .is_some_and(|end| text[at..at + end].contains(delimiter)) =>
            {
                return None;
            }
            _ if character == delimiter => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

/// Why the arguments of `awk` cannot be vouched for.
pub(crate) fn awk(arguments: &[Word]) -> Option<&'static str> {
    let mut words = arguments.iter();
    let script = loop {
        let Some(word) = words.next() else { return AWK };
        match word.text.as_str() {
            "-F" | "-v" if words.next().is_some() => {}
            "-F" | "-v" => return AWK,
            text if text.starts_with("-F") || text.starts_with("-v") => {}
            text if text.starts_with('-') => return AWK,
            _ => break word,
        }
    };
    let runs = ["system", "|", "getline", "@", "/inet", "\\\n", "{}"];
    let text = script.text.replace("||", "");
    let is_plain = script.is_literal() && !runs.iter().any(|part| text.contains(part));
    // Some versions take options from behind the script.
    let has_options = words.any(|word| word.text.starts_with('-') && word.text.len() > 1);
    if is_plain && !has_options { None } else { AWK }
}

//! File names in a request.

/// The words of a request that look like files, in their order, each once.
pub(super) fn file_names(request: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for word in words(request) {
        if extension(word).is_some() && !names.contains(&word) {
            names.push(word);
        }
    }
    names
}

/// What stands behind the last dot of something that looks like a file.
pub(super) fn extension(word: &str) -> Option<&str> {
    let name = word.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let is_extension = (1..=8).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    // A leading dash would make it an option of the script.
    let is_file = !stem.is_empty() && !word.starts_with('-') && !word.contains("://");
    (is_extension && is_file).then_some(extension)
}

/// Words between white space, without punctuation around them; what is quoted is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        if let Some(closing) = closing_quote(first)
            && let Some((quoted, after)) = rest[first.len_utf8()..].split_once(closing)
        {
            rest = after;
            return Some(quoted.trim());
        }
        let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        rest = after;
        let punctuation: &[char] = &[
            '"', '\'', '`', '(', ')', '[', ']', '<', '>', ',', ';', ':', '!', '?', '“', '”', '‘',
            '’', '«', '»',
        ];
        Some(word.trim_matches(punctuation).trim_end_matches('.'))
    })
}

fn closing_quote(opening: char) -> Option<char> {
    match opening {
        '"' | '\'' | '`' => Some(opening),
        '“' => Some('”'),
        '‘' => Some('’'),
        '«' => Some('»'),
        _ => None,
    }
}

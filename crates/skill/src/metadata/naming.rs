//! Where a name or description departs from the open standard.

#[cfg(test)]
mod tests;

use basics::skill::Diagnostic;
use unicode_normalization::UnicodeNormalization;

const NAME_CHARS: usize = 64;
const DESCRIPTION_CHARS: usize = 1_024;

/// What the open standard would object to; such a skill is indexed all the same.
pub(crate) fn departures(name: &str, description: &str, folder: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut note = |code: &str, message: String| found.push(Diagnostic::new(code, message));
    // `org/name` is this product's namespace; the standard's rules hold for each part.
    let last = name.rsplit('/').next().unwrap_or(name);
    if name.chars().count() > NAME_CHARS {
        note("name-too-long", format!("the name has more than {NAME_CHARS} characters"));
    }
    if !name.split('/').all(has_plain_characters) || name.split('/').count() > 2 {
        let message = "the name must have only lowercase letters, digits and hyphens";
        note("name-characters", message.to_owned());
    }
    if name.split('/').any(has_odd_hyphens) {
        note(
            "name-hyphens",
            "the name begins or ends with a hyphen, or has two in a row".to_owned(),
        );
    }
    if !same_name(last, folder) {
        note(
            "name-directory-mismatch",
            format!(
                "the name `{name}` differs from the folder's name `{}`",
                basics::text::for_terminal(folder)
            ),
        );
    }
    if description.len() > DESCRIPTION_CHARS && description.chars().count() > DESCRIPTION_CHARS {
        note(
            "description-too-long",
            format!("the description has more than {DESCRIPTION_CHARS} characters"),
        );
    }
    found
}

fn has_plain_characters(part: &str) -> bool {
    !part.is_empty()
        && part
            .chars()
            .all(|c| c.is_lowercase() || c.is_ascii_digit() || c == '-' || is_caseless(c))
}

/// Letters of scripts without case, such as Chinese.
fn is_caseless(c: char) -> bool {
    c.is_alphanumeric() && !c.is_uppercase()
}

fn has_odd_hyphens(part: &str) -> bool {
    part.starts_with('-') || part.ends_with('-') || part.contains("--")
}

fn same_name(name: &str, folder: &str) -> bool {
    name == folder || (!(name.is_ascii() && folder.is_ascii()) && name.nfkc().eq(folder.nfkc()))
}

//! The most common broken YAML: a value with `: ` in it and no quotes around it.

/// Rewrites every top-level plain scalar as a block scalar, so that its text means itself; `None`
/// when there is none.
pub(super) fn quote_values(yaml: &str) -> Option<String> {
    let mut repaired = String::with_capacity(yaml.len() + 64);
    let mut changed = false;
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        match plain_entry(line) {
            Some((key, value)) => {
                changed = true;
                repaired.push_str(key);
                repaired.push_str(": >-\n  ");
                repaired.push_str(value);
                // A plain scalar may go on over indented lines.
                while let Some(more) = lines.next_if(|next| is_continuation(next)) {
                    repaired.push_str("\n  ");
                    repaired.push_str(more.trim());
                }
            }
            None => repaired.push_str(line),
        }
        repaired.push('\n');
    }
    changed.then_some(repaired)
}

/// `key: value` at the left margin, where the value is a plain scalar.
fn plain_entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let value = without_comment(value.strip_prefix([' ', '\t'])?).trim();
    let is_key =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let is_plain = !value.is_empty()
        && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#']);
    (is_key && is_plain).then_some((key, value))
}

/// In a plain scalar ` #` begins a comment; in a block scalar it would become text.
fn without_comment(value: &str) -> &str {
    value.split_once(" #").map_or(value, |(value, _)| value)
}

fn is_continuation(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty()
}

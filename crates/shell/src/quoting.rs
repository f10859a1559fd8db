//! Quoting, both ways.

use std::iter::Peekable;
use std::str::Chars;

/// A word as one would write it: in quotes only where a shell needs them.
pub(crate) fn quoted(text: &str) -> String {
    let special = |c: char| c.is_whitespace() || c.is_control() || "'\"\\$`|&;<>()*?[]".contains(c);
    let begins_special = text.starts_with(['~', '#', '!', '{', '}']) && text != "{}";
    let is_plain = !text.is_empty() && !begins_special && !text.contains(special);
    if is_plain || text == "[" || text == "]" {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What `$'…'` means, from what stands between the quotes; nothing where shells would not agree.
pub(crate) fn ansi_c(body: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let byte = |value: u32| u8::try_from(value).ok();
        match rest.next()? {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            // A shell without `$'…'` ends the text at `\'`.
            '\'' => return None,
            '\\' => bytes.push(b'\\'),
            '"' => bytes.push(b'"'),
            '?' => bytes.push(b'?'),
            first @ '0'..='7' => {
                let digits = digits(&mut rest, String::from(first), 8, 3);
                bytes.push(byte(u32::from_str_radix(&digits, 8).ok()?)?);
            }
            kind @ ('x' | 'u' | 'U') => {
                let most = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let digits = digits(&mut rest, String::new(), 16, most);
                let value = u32::from_str_radix(&digits, 16).ok()?;
                if kind == 'x' {
                    bytes.push(byte(value)?);
                } else {
                    let character = char::from_u32(value)?;
                    bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                }
            }
            _ => return None,
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // A NUL ends the text in bash, and not everywhere.
    (!text.contains('\0')).then_some(text)
}

fn digits(rest: &mut Peekable<Chars<'_>>, mut begun: String, radix: u32, most: usize) -> String {
    while begun.len() < most && rest.peek().is_some_and(|c| c.is_digit(radix)) {
        begun.extend(rest.next());
    }
    begun
}

//! What cannot be analysed: binaries, nested archives, packed code.

use std::borrow::Cow;

use super::document::Document;
use super::finding::Severity;

/// A larger text is not looked at.
pub const LARGEST: u64 = 8 * 1024 * 1024;
/// A line of code this long was not written by hand.
const PACKED_LINE: usize = 5_000;
/// An encoded block this long holds more than a key or a picture of a few pixels.
const ENCODED: usize = 1_000;

/// Something that was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opaque {
    pub(super) severity: Severity,
    pub(super) what: Cow<'static, str>,
}

/// How kinds of files begin, what they are, and how much it matters that they cannot be read.
const MAGIC: [(&[u8], Severity, &str); 23] = [
    (b"\x7fELF", Severity::Medium, "a compiled program"),
    (b"MZ", Severity::Medium, "a Windows program"),
    (b"\xfe\xed\xfa", Severity::Medium, "a compiled program"),
    (b"\xce\xfa\xed\xfe", Severity::Medium, "a compiled program"),
    (b"\xcf\xfa\xed\xfe", Severity::Medium, "a compiled program"),
    (b"\xca\xfe\xba\xbe", Severity::Medium, "compiled code"),
    (b"\0asm", Severity::Medium, "compiled code"),
    (b"PK\x03\x04", Severity::Medium, "a zip archive"),
    (b"\x1f\x8b", Severity::Medium, "a compressed file"),
    (b"BZh", Severity::Medium, "a compressed file"),
    (b"\xfd7zXZ", Severity::Medium, "a compressed file"),
    (b"(\xb5/\xfd", Severity::Medium, "a compressed file"),
    (b"7z\xbc\xaf", Severity::Medium, "an archive"),
    (b"Rar!", Severity::Medium, "an archive"),
    (b"\x89PNG", Severity::Info, "a picture"),
    (b"\xff\xd8\xff", Severity::Info, "a picture"),
    (b"GIF8", Severity::Info, "a picture"),
    (b"RIFF", Severity::Info, "a picture or sound"),
    (b"wOF", Severity::Info, "a font"),
    (b"\0\x01\0\0", Severity::Info, "a font"),
    (b"OTTO", Severity::Info, "a font"),
    (b"%PDF", Severity::Low, "a PDF document"),
    (b"SQLite format 3", Severity::Low, "a database"),
];
/// Documents that are zip archives inside, and templates of honest skills.
const OFFICE: [&str; 9] =
    [".docx", ".dotx", ".xlsx", ".xltx", ".pptx", ".potx", ".odt", ".ods", ".epub"];

/// The text of a file, or why there is none.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Opaque> {
    let opaque = |severity, what| Err(Opaque { severity, what: Cow::Borrowed(what) });
    let is_text = !bytes.contains(&0);
    if bytes.len() as u64 > LARGEST {
        return opaque(Severity::Medium, "larger than 8 MiB");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text => return Ok(text),
        _ => {}
    }
    if let Some((_, severity, what)) = MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return opaque(*severity, what);
    }
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => opaque(Severity::Medium, "text in UTF-16"),
        _ if bytes.get(257..262) == Some(b"ustar") => opaque(Severity::Medium, "a tar archive"),
        _ if is_text => opaque(Severity::Medium, "text that is not UTF-8"),
        _ => opaque(Severity::Medium, "binary data"),
    }
}

impl Opaque {
    /// The same, for a file of this name.
    pub(super) fn named(self, path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let is_office = OFFICE.iter().any(|ending| path.ends_with(ending));
        match is_office && self.what == "a zip archive" {
            true => Self { severity: Severity::Low, what: "an office document".into() },
            false => self,
        }
    }
}

/// Lines of a script, from 1, that are packed code or an encoded block.
pub(super) fn packed(document: &Document<'_>) -> Vec<(usize, Opaque)> {
    let judge = |line: &str| {
        if let Some(length) = longest_encoded(line).filter(|length| *length >= ENCODED) {
            let what = format!("an encoded block of {length} characters").into();
            return Some(Opaque { severity: Severity::Medium, what });
        }
        let spaces = line.bytes().filter(|byte| *byte == b' ').count();
        let is_packed = line.len() >= PACKED_LINE && spaces * 10 < line.len();
        let what = format!("packed code in a line of {} characters", line.len()).into();
        is_packed.then_some(Opaque { severity: Severity::Medium, what })
    };
    let lines = document.lines().enumerate();
    lines.filter_map(|(number, line)| Some((number + 1, judge(line)?))).take(1).collect()
}

/// The longest run of characters of Base64 or hexadecimal numbers that is no picture in a data URL.
fn longest_encoded(line: &str) -> Option<usize> {
    let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-');
    let mut before = "";
    let mut longest = None;
    for run in line.split_inclusive(|c| !is_code(c)) {
        let length = run.trim_end_matches(|c| !is_code(c)).len();
        if !before.ends_with("base64,") {
            longest = longest.max(Some(length));
        }
        before = run;
    }
    longest
}

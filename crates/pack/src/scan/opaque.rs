//! What cannot be analysed: binaries, nested archives, packed code.

use super::document::{Comments, Document, Kind};
use super::finding::Severity;

/// A line of code this long was not written by hand.
const PACKED_LINE: usize = 5_000;
/// An encoded block this long holds more than a key or a picture of a few pixels.
const ENCODED: usize = 1_000;

/// Something that was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opaque {
    pub(super) severity: Severity,
    pub(super) what: &'static str,
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

/// How files begin in which git keeps a repository.
const GIT: [&[u8]; 9] =
    [b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"PACK", b"\xfftOc", b"DIRC", b"RIDX", b"CGPH"];

/// What a file is that is no text, by how it begins and what it is called.
pub(super) fn of(head: &[u8], has_nul: bool, kind: Option<Kind>, path: &str) -> Opaque {
    let opaque = |severity, what| Opaque { severity, what };
    let is_script = matches!(kind, Some(Kind::Code(Comments::Hash | Comments::Slashes)));
    let path = path.to_ascii_lowercase();
    let is_office = OFFICE.iter().any(|ending| path.ends_with(ending));
    match MAGIC.iter().find(|(magic, ..)| head.starts_with(magic)) {
        // A script that begins like a picture is still a script.
        Some(_) if is_script => opaque(Severity::Medium, "a script that is no text"),
        Some((_, _, "a zip archive")) if is_office => opaque(Severity::Low, "an office document"),
        Some((_, severity, what)) => opaque(*severity, what),
        None if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") => {
            opaque(Severity::Medium, "text in UTF-16")
        }
        None if head.get(257..262) == Some(b"ustar") => opaque(Severity::Medium, "a tar archive"),
        None if has_nul => opaque(Severity::Medium, "binary data"),
        None => opaque(Severity::Medium, "text that is not UTF-8"),
    }
}

/// Files of git's own, which are too many to name each.
#[derive(Debug, Default)]
pub(super) struct Repository {
    files: usize,
    folder: Option<String>,
}

impl Repository {
    /// Counts a file that is no text, if it is one of them.
    pub(super) fn takes(&mut self, path: &str, head: &[u8]) -> bool {
        let folder = match path.find(".git/") {
            Some(0) => ".git",
            Some(at) if path[..at].ends_with('/') => &path[..at + 4],
            _ => return false,
        };
        let is_gits = GIT.iter().any(|magic| head.starts_with(magic));
        if is_gits {
            self.files += 1;
            // The first, in whatever order they come.
            if self.folder.as_deref().is_none_or(|known| folder < known) {
                self.folder = Some(folder.to_owned());
            }
        }
        is_gits
    }

    /// Where they are, and what.
    pub(super) fn what(&self) -> Option<(String, String)> {
        let files = if self.files == 1 { "file" } else { "files" };
        let what = format!("{} {files} in which git keeps a repository", self.files);
        self.folder.clone().map(|folder| (folder, what))
    }
}

/// The first line of a script, from 1, that is packed code or an encoded block, and what it is.
pub(super) fn packed(document: &Document<'_>) -> Option<(usize, String)> {
    let judge = |line: &str| {
        if let Some(length) = longest_encoded(line).filter(|length| *length >= ENCODED) {
            return Some(format!("an encoded block of {length} characters"));
        }
        let spaces = line.bytes().filter(|byte| *byte == b' ').count();
        let is_packed = line.len() >= PACKED_LINE && spaces * 10 < line.len();
        is_packed.then(|| format!("packed code in a line of {} characters", line.len()))
    };
    let mut lines = document.lines().enumerate();
    lines.find_map(|(number, line)| Some((number + 1, judge(line)?)))
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

//! Names within a pack: paths that mean the same on every system, and never lead out of a folder.
//!
//! Invariant: a [`PackPath`] was checked alone, `Names` checks them against each other.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::refusal::{Flaw, Refusal};

#[cfg(test)]
mod tests;

const LONGEST: usize = 240;
const DEEPEST: usize = 16;

/// Folders where tools keep what is not part of a skill; nothing in them may come out of a pack.
const STATE: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".bzr",
    ".agent",
    ".agents",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".cursor",
    ".ssh",
    ".gnupg",
    ".staging",
    ".trash",
    ".backup",
    ".packs",
];

/// A path in a pack, with `/` between its segments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackPath(String);

impl PackPath {
    /// Checks a path as it stands in an archive.
    pub fn new(bytes: &[u8]) -> Result<Self, Refusal> {
        let shown = || String::from_utf8_lossy(bytes).into_owned();
        let refuse = |flaw| Err(Refusal::of(flaw, shown()));
        let Ok(path) = std::str::from_utf8(bytes) else { return refuse(Flaw::NotUtf8) };
        match flaw(path) {
            Some(flaw) => refuse(flaw),
            None => Ok(Self(path.to_owned())),
        }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same path below a folder, for comparing names only.
    pub(crate) fn below(&self, folder: &str) -> Self {
        Self(if folder.is_empty() { self.0.clone() } else { format!("{folder}/{}", self.0) })
    }

    /// The first segment, and the rest if there is any.
    pub fn top(&self) -> (&str, Option<&str>) {
        match self.0.split_once('/') {
            Some((top, rest)) => (top, Some(rest)),
            None => (&self.0, None),
        }
    }
}

impl std::fmt::Display for PackPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

fn flaw(path: &str) -> Option<Flaw> {
    if path.contains('\0') {
        return Some(Flaw::NulCharacter);
    }
    if path.starts_with("\\\\") || path.starts_with("//") {
        return Some(Flaw::UncPath);
    }
    if matches!(path.as_bytes(), [b'a'..=b'z' | b'A'..=b'Z', b':', ..]) {
        return Some(Flaw::DrivePath);
    }
    if path.contains('\\') {
        return Some(Flaw::Backslash);
    }
    if path.starts_with('/') {
        return Some(Flaw::AbsolutePath);
    }
    if path.chars().any(|c| c == '\n' || c == '\t' || basics::text::is_hidden(c)) {
        return Some(Flaw::ControlCharacter);
    }
    if path.len() > LONGEST {
        return Some(Flaw::NameTooLong);
    }
    if path.split('/').count() > DEEPEST {
        return Some(Flaw::TooDeep);
    }
    path.split('/').find_map(segment_flaw)
}

fn segment_flaw(segment: &str) -> Option<Flaw> {
    match segment {
        "" => return Some(Flaw::EmptySegment),
        "." => return Some(Flaw::DotSegment),
        ".." => return Some(Flaw::ParentSegment),
        _ if segment.ends_with(['.', ' ']) => return Some(Flaw::TrailingDotOrSpace),
        _ => {}
    }
    let folded = fold(segment);
    // Windows ignores what follows the first dot, and a colon would name a stream of the file.
    let stem = folded.split(['.', ':']).next().unwrap_or_default().trim_end();
    if is_device(stem) {
        return Some(Flaw::WindowsDevice);
    }
    STATE.contains(&folded.as_str()).then_some(Flaw::StateFolder)
}

fn is_device(stem: &str) -> bool {
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            matches!(
                rest,
                "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
            )
        })
    };
    matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" | "clock$")
        || numbered("com")
        || numbered("lpt")
}

/// A path without what some file systems do not tell apart.
fn fold(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfc().collect::<String>().to_lowercase().nfc().collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    File,
    /// A folder, named by an entry of its own or only by what is in it.
    Folder {
        named: bool,
    },
}

/// All names of a pack.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashMap<String, (String, Use)>,
}

impl Names {
    pub(crate) fn add_file(&mut self, path: &PackPath) -> Result<(), Refusal> {
        self.add_parents(path)?;
        self.add(path.as_str(), Use::File)
    }

    pub(crate) fn add_folder(&mut self, path: &PackPath) -> Result<(), Refusal> {
        self.add_parents(path)?;
        self.add(path.as_str(), Use::Folder { named: true })
    }

    fn add_parents(&mut self, path: &PackPath) -> Result<(), Refusal> {
        let ends = path.as_str().match_indices('/').map(|(end, _)| end);
        ends.into_iter()
            .try_for_each(|end| self.add(&path.as_str()[..end], Use::Folder { named: false }))
    }

    fn add(&mut self, path: &str, used: Use) -> Result<(), Refusal> {
        let key = fold(path);
        let Some((known, known_use)) = self.known.get_mut(&key) else {
            self.known.insert(key, (path.to_owned(), used));
            return Ok(());
        };
        let refuse = |flaw| Err(Refusal::of(flaw, path));
        if known != path {
            let same_letters = known.nfc().eq(path.nfc());
            return refuse(if same_letters { Flaw::UnicodeTwin } else { Flaw::CaseTwin });
        }
        match (&known_use, used) {
            (Use::Folder { named: true }, Use::Folder { named: true }) | (Use::File, Use::File) => {
                refuse(Flaw::DuplicateName)
            }
            (Use::File, _) | (_, Use::File) => refuse(Flaw::FileAndFolder),
            (Use::Folder { .. }, Use::Folder { named }) => {
                if named {
                    *known_use = used;
                }
                Ok(())
            }
        }
    }
}

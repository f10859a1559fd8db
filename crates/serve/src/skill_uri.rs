//! `skill://<skill>/<file>`: the names of skills' files.
//!
//! Invariant: a URI that is read was written by [`SkillUri::of`], or means the same.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const SCHEME: &str = "skill://";
/// Everything but what RFC 3986 leaves alone in a segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A file or folder of a skill; the skill's own folder without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillUri {
    pub(crate) skill: String,
    pub(crate) path: Option<String>,
}

impl SkillUri {
    pub(crate) fn of(skill: &str, path: &str) -> Self {
        Self { skill: skill.to_owned(), path: Some(path.to_owned()) }
    }

    /// The file a URI names; nothing where it cannot name one.
    pub(crate) fn read(uri: &str) -> Option<Self> {
        let (skill, path) = match uri.strip_prefix(SCHEME)?.split_once('/') {
            Some((skill, path)) => (skill, Some(path)),
            None => (uri.strip_prefix(SCHEME)?, None),
        };
        let decoded = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
        let path = match path {
            Some(path) => Some(decoded(path).filter(|path| !path.is_empty())?),
            None => None,
        };
        Some(Self { skill: decoded(skill).filter(|skill| !skill.is_empty())?, path })
    }
}

impl fmt::Display for SkillUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", utf8_percent_encode(&self.skill, ENCODED))?;
        for segment in self.path.iter().flat_map(|path| path.split('/')) {
            write!(formatter, "/{}", utf8_percent_encode(segment, ENCODED))?;
        }
        Ok(())
    }
}

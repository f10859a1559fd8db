//! The words of a body, counted: all that is kept of it for searching.

use std::collections::BTreeMap;

use basics::text::prefix;
use serde::{Deserialize, Serialize};

use super::tokens::for_each_token;
use crate::entry::Entry;
use crate::frontmatter;
use crate::load::{Files, Limits};
use crate::metadata::ReadOptions;

/// Characters of a body that count: as many as are shown of one by default.
const CHARS: usize = 40_000;

/// Words and how often they occur.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Words(pub(super) Vec<(String, u32)>);

impl Words {
    /// Reads the body of a skill; one that cannot be read has no words.
    pub(crate) fn read(entry: &Entry, options: &ReadOptions) -> Self {
        let manifest = Files::open(entry)
            .and_then(|files| files.manifest(Limits::default().file_bytes))
            .unwrap_or_default();
        match frontmatter::split_whole(&manifest, &options.limits) {
            Ok((_, body)) => Self::of(&String::from_utf8_lossy(&manifest[body..])),
            Err(_) => Self::default(),
        }
    }

    pub(crate) fn of(body: &str) -> Self {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for_each_token(prefix(body, CHARS), |token| match counts.get_mut(token) {
            Some(count) => *count += 1,
            None => {
                counts.insert(token.to_owned(), 1);
            }
        });
        Self(counts.into_iter().collect())
    }
}

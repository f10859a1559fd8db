//! Skills inside the program: read-only, always there, and examples to learn from.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::discover::{Discovery, Found};
use crate::frontmatter::{Limits, split_whole};
use crate::metadata::{Metadata, ReadOptions};

/// The root of built-in skills. No folder has this name, so nothing on disk can pass for one.
pub const ROOT: &str = "builtin:";

/// A file of a built-in skill.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinFile {
    /// Relative to the skill's folder.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

macro_rules! skill {
    ($name:literal: $($path:literal),+ $(,)?) => {
        ($name, &[$(BuiltinFile {
            path: $path,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/skills/", $name, "/", $path)),
        }),+])
    };
}

/// Every built-in skill with its files, `SKILL.md` first.
pub(crate) const SKILLS: &[(&str, &[BuiltinFile])] = &[
    skill!(
        "csv-report":
        "SKILL.md",
        "evals/evals.json",
        "evals/files/orders.csv",
        "evals/triggers.json",
        "references/csv-pitfalls.md",
        "scripts/awk/count.awk",
        "scripts/awk/read.awk",
        "scripts/awk/report.awk",
        "scripts/awk/values.awk",
        "scripts/report.sh",
    ),
    skill!(
        "data-cleanup":
        "SKILL.md",
        "scripts/clean.py",
    ),
    skill!(
        "file-organizer":
        "SKILL.md",
        "scripts/organize.py",
    ),
    skill!(
        "git-release-notes":
        "SKILL.md",
        "references/templates.md",
        "scripts/commits.sh",
    ),
    skill!(
        "skill-author":
        "SKILL.md",
        "references/checklist.md",
        "references/scripts.md",
    ),
    skill!(
        "text-stats":
        "SKILL.md",
        "scripts/awk/prose.awk",
        "scripts/awk/stats.awk",
        "scripts/stats.sh",
    ),
];

/// The files of the built-in skill called `name`.
pub fn files(name: &str) -> Option<&'static [BuiltinFile]> {
    SKILLS.iter().find(|(skill, _)| *skill == name).map(|(_, files)| *files)
}

/// What a walk over a folder with these skills would find.
pub(crate) fn discover() -> Discovery {
    let found = SKILLS.iter().filter_map(|(name, files)| read(name, files)).collect();
    Discovery { found, ..Discovery::default() }
}

/// `None` for a broken skill, which a test keeps from happening.
fn read(name: &str, files: &[BuiltinFile]) -> Option<Found> {
    let bytes = files.first()?.bytes;
    let (yaml, _) = split_whole(bytes, &Limits::default()).ok()?;
    let yaml = std::str::from_utf8(&bytes[yaml]).ok()?;
    let metadata = Metadata::read(yaml, name, &ReadOptions::default()).ok()?;
    Some(Found { folder: PathBuf::from(name), metadata, modified: 0, links: Vec::new() })
}

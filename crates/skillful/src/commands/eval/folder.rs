//! Where a skill is on disk, so that its evals can be read and it can be installed elsewhere.

use std::fs;
use std::path::PathBuf;

use basics::skill::Source;
use skill::builtin;
use skill::index::Entry;
use tempfile::TempDir;

use crate::failure::Failure;

/// A skill's folder; that of a built-in skill is written for the occasion and goes away with this value.
pub(super) struct SkillFolder {
    pub(super) path: PathBuf,
    written: Option<TempDir>,
}

/// The folders that were written for the occasion.
pub(super) fn list_written(skills: &[SkillFolder]) -> Vec<PathBuf> {
    skills.iter().filter(|skill| skill.written.is_some()).map(|skill| skill.path.clone()).collect()
}

impl SkillFolder {
    pub(super) fn of(entry: &Entry) -> Result<Self, Failure> {
        if entry.source != Source::Builtin {
            return Ok(Self { path: entry.path.clone(), written: None });
        }
        let written = tempfile::tempdir()?;
        let path = written.path().join(&entry.name);
        for file in builtin::files(&entry.name).unwrap_or_default() {
            let to = path.join(file.path);
            fs::create_dir_all(to.parent().unwrap_or(&path))?;
            fs::write(to, file.bytes)?;
        }
        Ok(Self { path, written: Some(written) })
    }
}

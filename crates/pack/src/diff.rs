//! What an update changes, in terms that matter to whoever lets it in.

use std::collections::BTreeSet;

use skill::lock::{FileRecord, LockedSkill};
use skill::metadata::{Metadata, ReadOptions};

use crate::check::{Pack, PackedSkill, differences};
use crate::disk::read_plain;
use crate::install::{InstalledState, Root};
use crate::material::ArchiveError;
use crate::policy::scripts;
use crate::refusal::Flaw;

/// Files beyond this are not searched for addresses.
const SEARCHED: u64 = 1 << 20;

/// The difference between an installed skill and another copy of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Changes {
    /// Files that come.
    pub added: Vec<String>,
    /// Files that go.
    pub removed: Vec<String>,
    /// Files with other content or another mode.
    pub changed: Vec<String>,
    /// Scripts that are new or have other content.
    pub scripts: Vec<String>,
    /// Addresses that were not there before.
    pub urls: Vec<String>,
    /// Tools that were not asked for before.
    pub tools: Vec<String>,
    /// Other things that the skill says about itself in another way.
    pub controls: Vec<String>,
    /// Files that the user changed or added; they stay as they are.
    pub kept: Vec<String>,
    /// Those of them that the update would change, too.
    pub conflicts: Vec<String>,
}

impl Changes {
    /// Compares an installed skill, in the state it is in, with a new copy. Where the copy is the one that
    /// was installed, only files of it that the user changed count.
    pub fn between(
        root: &Root,
        locked: &LockedSkill,
        state: &InstalledState,
        pack: &Pack,
        skill: &PackedSkill,
        read: &ReadOptions,
    ) -> Result<Self, ArchiveError> {
        if skill.sha256 == locked.sha256 {
            let mut kept = state.edited();
            kept.retain(|path| find(&locked.files, path).is_some());
            return Ok(Self { kept, ..Self::default() });
        }
        let mut changes = Self::of_files(&locked.files, &skill.files);
        let fresh =
            |path: &&str| changes.added.iter().chain(&changes.changed).any(|new| new == path);
        changes.scripts = scripts(skill).filter(fresh).map(str::to_owned).collect();
        let folder = root.skill(&locked.name);
        let mut before = BTreeSet::new();
        // What is no file has no hash.
        let is_searched = |file: &&FileRecord| file.size <= SEARCHED && !file.sha256.is_empty();
        for file in state.files.iter().filter(is_searched) {
            before.extend(urls(&read_plain(&folder.join(&file.path), SEARCHED)?));
        }
        let mut after = BTreeSet::new();
        for file in skill.files.iter().filter(|file| file.size <= SEARCHED) {
            if let Some(entry) = pack.material.get(&format!("{}/{}", skill.dir, file.path)) {
                after.extend(urls(&pack.material.read(entry, SEARCHED)?));
            }
        }
        changes.urls = after.difference(&before).cloned().collect();
        let own = read_plain(&folder.join("SKILL.md"), SEARCHED).ok();
        let own = own.and_then(|content| Metadata::of_file(&content, &locked.name, read).ok());
        changes.compare_metadata(own.as_ref(), &skill.metadata);
        changes.kept = state.edited();
        let same_as_locked = |path: &String| {
            find(&locked.files, path).map(facts) == find(&skill.files, path).map(facts)
        };
        changes.conflicts =
            changes.kept.iter().filter(|path| !same_as_locked(path)).cloned().collect();
        Ok(changes)
    }

    fn of_files(before: &[FileRecord], after: &[FileRecord]) -> Self {
        let mut changes = Self::default();
        for refusal in differences(before, after) {
            let list = match refusal.flaw {
                Flaw::ListedButAbsent => &mut changes.removed,
                Flaw::PresentButUnlisted => &mut changes.added,
                _ => &mut changes.changed,
            };
            list.extend(refusal.entry);
        }
        changes
    }

    fn compare_metadata(&mut self, before: Option<&Metadata>, after: &Metadata) {
        let tools = |metadata: &Metadata| metadata.controls.allowed_tools.clone();
        let old = before.and_then(tools);
        match (before.is_some() && old.is_none(), tools(after)) {
            // A skill that does not say may use no less than one that does.
            (_, None) if old.is_some() => self.tools.push("*".to_owned()),
            (true, _) | (_, None) => {}
            (false, Some(new)) => {
                let known = old.unwrap_or_default();
                self.tools = new.into_iter().filter(|tool| !known.contains(tool)).collect();
            }
        }
        let Some(before) = before else { return };
        let facts = |metadata: &Metadata| {
            [
                ("description", metadata.description.clone()),
                (
                    "disable-model-invocation",
                    metadata.controls.disable_model_invocation.to_string(),
                ),
                ("user-invocable", metadata.controls.user_invocable.to_string()),
                ("run-mode", format!("{:?}", metadata.controls.run_mode).to_lowercase()),
            ]
        };
        let pairs = facts(before).into_iter().zip(facts(after));
        self.controls =
            pairs.filter(|(old, new)| old != new).map(|(_, (field, _))| field.to_owned()).collect();
    }
}

fn find<'a>(files: &'a [FileRecord], path: &str) -> Option<&'a FileRecord> {
    files.iter().find(|file| file.path == path)
}

fn facts(file: &FileRecord) -> (&str, u32) {
    (&file.sha256, file.mode.bits())
}

/// Addresses in a text; a binary file has none that matter.
fn urls(content: &[u8]) -> BTreeSet<String> {
    let Ok(text) = std::str::from_utf8(content) else { return BTreeSet::new() };
    let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`<>()[]{}\\|^".contains(c);
    let starts = text.match_indices("http").map(|(at, _)| &text[at..]);
    starts
        .filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"))
        .map(|rest| {
            rest.split(ends)
                .next()
                .unwrap_or_default()
                .trim_end_matches(['.', ',', ';', ':', '!', '?'])
                .to_owned()
        })
        .filter(|url| url.len() > "https://".len())
        .collect()
}

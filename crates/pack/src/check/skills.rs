//! Which skills a pack holds.

use std::collections::BTreeMap;

use skill::lock::{FileRecord, tree_hash};
use skill::metadata::{Metadata, ReadOptions};

use super::is_content;
use crate::manifest::{MANIFEST, Manifest};
use crate::material::{ArchiveError, Entry, Material};
use crate::name::PackPath;
use crate::refusal::{Flaw, Refusal};

/// A `SKILL.md` beyond this is not one.
const LARGEST_SKILL_FILE: u64 = 2_000_000;

/// A skill in a pack.
#[derive(Debug, Clone)]
pub struct PackedSkill {
    /// Its folder in the pack.
    pub dir: String,
    /// What its frontmatter says.
    pub metadata: Metadata,
    /// Its files, relative to its folder.
    pub files: Vec<FileRecord>,
    /// The hash over all of them.
    pub sha256: String,
}

impl PackedSkill {
    /// The skill's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The skill's version.
    pub fn version(&self) -> Option<&str> {
        self.metadata.meta.version.as_deref()
    }
}

/// Every folder at the top is a skill, and every file is in one.
pub(super) fn find(
    material: &Material,
    read: &ReadOptions,
) -> Result<Vec<PackedSkill>, ArchiveError> {
    let mut folders: BTreeMap<&str, Option<&Entry>> = BTreeMap::new();
    for entry in material.entries().iter().filter(|entry| is_content(entry)) {
        let (top, rest) = entry.path.top();
        let Some(rest) = rest else { return Err(Refusal::of(Flaw::StrayFile, top).into()) };
        let skill_file = folders.entry(top).or_default();
        if rest == "SKILL.md" {
            *skill_file = Some(entry);
        }
    }
    if folders.is_empty() {
        return Err(Refusal::whole(Flaw::NoSkill).into());
    }
    let mut skills: Vec<PackedSkill> = Vec::with_capacity(folders.len());
    for (dir, entry) in folders {
        let entry = entry.ok_or_else(|| Refusal::of(Flaw::NoSkillFile, dir))?;
        let content = material.read(entry, LARGEST_SKILL_FILE)?;
        let refused =
            |error| Refusal::of(Flaw::InvalidFrontmatter, entry.path.as_str()).because(error);
        let metadata = Metadata::of_file(&content, dir, read).map_err(refused)?;
        check_name(&metadata.name)?;
        if skills.iter().any(|skill| skill.name().eq_ignore_ascii_case(&metadata.name)) {
            return Err(Refusal::of(Flaw::DuplicateSkill, &metadata.name).into());
        }
        skills.push(PackedSkill {
            dir: dir.to_owned(),
            metadata,
            files: Vec::new(),
            sha256: String::new(),
        });
    }
    Ok(skills)
}

/// A skill is installed in a folder of its name, so that must be a good name for a folder: visible, and
/// with at most one namespace. It must not look like what rules call a project's skill.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let refuse = |why: String| Refusal::of(Flaw::BadSkillName, name).because(why);
    PackPath::new(name.as_bytes()).map_err(|refusal| refuse(refusal.message))?;
    if name.starts_with("project:") {
        return Err(refuse("rules call the skills of projects `project:NAME`".to_owned()));
    }
    match name.split('/').count() > 2
        || name.split('/').any(|part| part.starts_with('.') || part == "node_modules")
    {
        true => Err(refuse("use `name` or `org/name`".to_owned())),
        false => Ok(()),
    }
}

/// Names, versions and folders in the manifest are those of the skills.
pub(super) fn compare_names(manifest: &Manifest, skills: &[PackedSkill]) -> Result<(), Refusal> {
    let mut listed: Vec<_> = manifest
        .skills
        .iter()
        .map(|skill| (skill.dir.as_str(), skill.name.as_str(), skill.version.as_deref()))
        .collect();
    listed.sort_unstable();
    let found: Vec<_> =
        skills.iter().map(|skill| (skill.dir.as_str(), skill.name(), skill.version())).collect();
    if listed == found {
        return Ok(());
    }
    let other = listed
        .iter()
        .find(|skill| !found.contains(skill))
        .or(found.iter().find(|skill| !listed.contains(skill)));
    Err(Refusal::of(Flaw::ManifestSkills, other.map_or(MANIFEST, |(_, name, _)| *name)))
}

/// Gives each skill its files.
pub(super) fn assign(skills: &mut [PackedSkill], files: &[FileRecord]) {
    for skill in skills {
        let prefix = format!("{}/", skill.dir);
        let start = files.partition_point(|file| file.path < prefix);
        let own = files[start..].iter().take_while(|file| file.path.starts_with(&prefix));
        skill.files = own
            .map(|file| FileRecord { path: file.path[prefix.len()..].to_owned(), ..file.clone() })
            .collect();
        skill.sha256 = tree_hash(&skill.files);
    }
}

//! Which skills of projects may be used: those the user has looked at. And whose keys may sign packs.
//!
//! Trust is bound to a folder, a skill in it, and everything that the skill holds. A change asks again for the
//! skill that changed, and for no other.
//!
//! Invariant: a store that holds keys is read only with the checksum that this program gave it.
//! Invariant: what this version does not know in a store stays there when the store is written.

mod authors;
mod evals;
mod file;
mod sources;
mod standing;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content_hash::ContentHash;
use crate::entry::Entry;
pub use crate::entry::Waiting;
pub use evals::EvalsTrust;
pub use file::TrustError;
use standing::metadata_hash;

/// Whether project skills need trust, and which have it.
#[derive(Debug, Clone)]
pub enum Trust {
    /// The gate is off: every project counts as trusted.
    Everything,
    /// Only what is in the store.
    Only(TrustStore),
}

impl Default for Trust {
    fn default() -> Self {
        Self::Only(TrustStore::default())
    }
}

/// The user's `trust.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrustStore {
    /// Folders of skills, by path.
    #[serde(default)]
    pub projects: BTreeMap<String, TrustedFolder>,
    /// Workspaces whose skills the user writes, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub authors: BTreeMap<String, Authorship>,
    /// Keys that sign packs, by their id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, TrustedKey>,
    /// Files of eval cases, by path, each with the hash of all that it brings along.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evals: BTreeMap<String, String>,
    /// Where skills of projects come from, as the user said or saw it: by lockfile and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, BTreeMap<String, String>>,
    /// Whatever else there is.
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
    /// Over the rest, so that a change by hand or by accident is noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

/// A key that may sign packs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKey {
    /// Whose key it is, in the user's words.
    pub name: String,
    /// The key in minisign's one-line form.
    pub public_key: String,
    /// Names of skills that it may sign; `*` stands for any characters.
    pub names: Vec<String>,
    /// When it was trusted, in RFC 3339.
    pub trusted_at: String,
    /// When trust was taken back. The key is kept, so that it cannot come back unseen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

/// Trust in skills of one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum TrustedFolder {
    /// Skill by skill.
    Skills {
        /// By their folder, relative to this one.
        skills: BTreeMap<String, TrustedSkill>,
    },
    /// As earlier versions wrote it: all skills at once, and by what they said about themselves alone. It counts
    /// for nothing any more, and users are told so.
    Earlier {
        /// What its skills said about themselves.
        index_hash: String,
        /// When that was, in RFC 3339.
        trusted_at: String,
    },
}

/// Trust in one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedSkill {
    /// Its name.
    pub name: String,
    /// What it says about itself, which the index compares.
    pub metadata: String,
    /// Everything that it holds, which is compared when any of it is used.
    pub content: ContentHash,
    /// When it was trusted, in RFC 3339.
    pub trusted_at: String,
}

/// A workspace whose skills the user writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authorship {
    /// When the user said so, in RFC 3339.
    pub trusted_at: String,
}

impl TrustStore {
    /// Trusts a skill below `root` that holds what `content` stands for.
    pub fn trust(&mut self, root: &Path, entry: &Entry, content: ContentHash, now: &str) {
        let skill = TrustedSkill {
            name: entry.name.clone(),
            metadata: metadata_hash(entry),
            content,
            trusted_at: now.to_owned(),
        };
        let folder = self.projects.entry(key(root));
        let folder = folder.or_insert_with(|| TrustedFolder::Skills { skills: BTreeMap::new() });
        match folder {
            TrustedFolder::Skills { skills } => {
                skills.insert(relative(root, &entry.path), skill);
            }
            earlier @ TrustedFolder::Earlier { .. } => {
                let skills = BTreeMap::from([(relative(root, &entry.path), skill)]);
                *earlier = TrustedFolder::Skills { skills };
            }
        }
    }

    /// What is remembered of a skill below `root`.
    pub fn skill(&self, root: &Path, entry: &Entry) -> Option<&TrustedSkill> {
        match self.projects.get(&key(root))? {
            TrustedFolder::Skills { skills } => skills.get(&relative(root, &entry.path)),
            TrustedFolder::Earlier { .. } => None,
        }
    }

    /// Trusts whatever the user writes in a workspace.
    pub fn trust_author(&mut self, workspace: &Path, now: &str) {
        self.authors.insert(key(workspace), Authorship { trusted_at: now.to_owned() });
    }

    /// Takes trust back from everything at or below `path`, files of cases included; answers with what lost it.
    pub fn untrust(&mut self, path: &Path) -> Vec<PathBuf> {
        let is_below = |folder: &String| Path::new(folder).starts_with(path);
        let gone =
            self.authors.keys().chain(self.projects.keys()).filter(|folder| is_below(folder));
        let mut gone: Vec<PathBuf> = gone.map(PathBuf::from).collect();
        self.authors.retain(|workspace, _| !is_below(workspace));
        self.projects.retain(|folder, _| !is_below(folder));
        self.sources.retain(|lockfile, _| !is_below(lockfile));
        gone.extend(self.untrust_evals(path).into_iter().map(PathBuf::from));
        gone
    }

    /// The same from skills of one name alone.
    pub fn untrust_skill(&mut self, path: &Path, name: &str) -> Vec<PathBuf> {
        let mut gone = Vec::new();
        for (folder, trusted) in &mut self.projects {
            let TrustedFolder::Skills { skills } = trusted else { continue };
            if !Path::new(folder).starts_with(path) {
                continue;
            }
            skills.retain(|inner, skill| {
                let stays = skill.name != name;
                if !stays {
                    gone.push(Path::new(folder).join(inner));
                }
                stays
            });
        }
        self.projects.retain(
            |_, trusted| !matches!(trusted, TrustedFolder::Skills { skills } if skills.is_empty()),
        );
        gone
    }
}

/// Links and `..` must not make one folder look like another.
fn key(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}

/// A skill's folder as its root knows it.
fn relative(root: &Path, skill: &Path) -> String {
    match skill.strip_prefix(root) {
        Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        Ok(inner) => inner.to_string_lossy().into_owned(),
        Err(_) => skill.to_string_lossy().into_owned(),
    }
}

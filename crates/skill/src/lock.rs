//! The lockfile beside a folder of skills: what was installed, from where, and every file's hash.
//!
//! Invariant: a lockfile is read only if it is byte for byte what this program would write. A damaged
//! one is an error, never an empty one.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Explain};
use basics::sha256::hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use state::Folder;

/// What was installed below one folder of skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lockfile {
    /// The skills, by name.
    skills: Vec<LockedSkill>,
}

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockedSkill {
    /// Its name, which is also its folder's.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Where it came from, as it can be given to `install` again.
    pub source: String,
    /// What the source was at that time: a commit, an address, the hash of a file.
    pub resolved: Option<String>,
    /// The hash over all files.
    pub sha256: String,
    /// Every file, relative to the skill's folder.
    pub files: Vec<FileRecord>,
    /// The hash of the pack's `manifest.json`, which is kept.
    pub manifest: Option<String>,
    /// The hash of the manifest's signature, which is kept beside it.
    pub signature: Option<String>,
    /// Who signed it.
    pub signer: Option<Signer>,
    /// When, in RFC 3339.
    pub installed_at: String,
}

/// Who signed a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signer {
    /// The key's id, as minisign shows it.
    pub key: String,
    /// The name under which the key is trusted.
    pub name: String,
}

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its path.
    pub path: String,
    /// The hash of its content, in lowercase hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// `0644` or `0755`.
    pub mode: Mode,
}

/// The only modes that files of packs have.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Mode {
    /// Nobody may execute it.
    #[serde(rename = "0644")]
    Plain,
    /// Everybody may execute it.
    #[serde(rename = "0755")]
    Executable,
}

impl Mode {
    /// The mode of a file on disk or in an archive, made uniform.
    pub fn of(bits: u32) -> Self {
        if bits & 0o111 == 0 { Self::Plain } else { Self::Executable }
    }

    /// The mode as a number.
    pub fn bits(self) -> u32 {
        match self {
            Self::Plain => 0o644,
            Self::Executable => 0o755,
        }
    }
}

/// Why a lockfile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what this program wrote.
    #[error("`{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl Explain for LockError {
    fn exit(&self) -> Exit {
        match self {
            Self::Read { .. } => Exit::Failed,
            Self::Damaged { .. } => Exit::Refused,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "IOError",
            Self::Damaged { .. } => "LockfileDamaged",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Read { .. } => "check the file's permissions",
            Self::Damaged { .. } => {
                "restore it from version control or a backup; without it, Skillful forgets what is installed"
            }
        }
        .into()
    }
}

/// The file as it stands on disk.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format_version: String,
    /// Over the skills, so that a change by hand or by accident is noticed.
    checksum: String,
    skills: Vec<LockedSkill>,
}

const FORMAT: &str = "1";

/// Ten thousand skills with a hundred files each.
const LARGEST: u64 = 256 << 20;

impl Lockfile {
    /// The lockfile of a folder of skills: `.agent/skills.lock` for `.agent/skills`.
    pub fn path_for(root: &Path) -> PathBuf {
        let mut path = root.as_os_str().to_owned();
        path.push(".lock");
        path.into()
    }

    /// Reads a lockfile; a missing one is empty, a damaged one is an error.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        let damaged = |reason| LockError::Damaged { path: path.to_owned(), reason };
        // A cloned repository may have put anything there.
        let read = || Folder::around(path).and_then(|(folder, name)| folder.read(name, LARGEST));
        match read() {
            Ok(bytes) => Self::parse(&bytes).map_err(damaged),
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) if error.is_unsafe() => Err(damaged(error.cause.to_string())),
            Err(error) => {
                Err(LockError::Read { path: path.to_owned(), source: error.cause.into() })
            }
        }
    }

    /// Reads what [`Self::to_bytes`] wrote, and nothing else.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if document.format_version != FORMAT {
            return Err(format!(
                "`format_version` is `{}`, but only `{FORMAT}` is supported",
                document.format_version
            ));
        }
        let lockfile = Self { skills: document.skills };
        if lockfile.to_bytes() != bytes {
            return Err("something other than Skillful changed it".to_owned());
        }
        Ok(lockfile)
    }

    /// The whole file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let skills = serde_json::to_vec(&self.skills).expect("a lockfile is plain data");
        let document = Document {
            format_version: FORMAT.to_owned(),
            checksum: format!("sha256:{}", hex(&Sha256::digest(&skills))),
            skills: self.skills.clone(),
        };
        let mut bytes = serde_json::to_vec_pretty(&document).expect("a lockfile is plain data");
        bytes.push(b'\n');
        bytes
    }

    /// The skills, by name.
    pub fn skills(&self) -> &[LockedSkill] {
        &self.skills
    }

    /// The skill called `name`.
    pub fn get(&self, name: &str) -> Option<&LockedSkill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// Puts a skill in the place of the one of its name.
    pub fn insert(&mut self, skill: LockedSkill) {
        self.remove(&skill.name);
        let place = self.skills.partition_point(|other| other.name < skill.name);
        self.skills.insert(place, skill);
    }

    /// Takes a skill out.
    pub fn remove(&mut self, name: &str) -> Option<LockedSkill> {
        let place = self.skills.iter().position(|skill| skill.name == name)?;
        Some(self.skills.remove(place))
    }
}

/// A hash over path, mode, size and content hash of each file. They are relative to the skill's folder
/// and in the byte order of their paths.
pub fn tree_hash<'a>(files: impl IntoIterator<Item = &'a FileRecord>) -> String {
    let mut tree = Sha256::new();
    for file in files {
        absorb(&mut tree, file.path.as_bytes(), file.mode.bits(), file.size, &file.sha256);
    }
    hex(&tree.finalize())
}

/// Adds one file to the hash of a tree.
pub(crate) fn absorb(tree: &mut Sha256, path: &[u8], mode: u32, size: u64, sha256: &str) {
    tree.update((path.len() as u64).to_le_bytes());
    tree.update(path);
    tree.update(mode.to_le_bytes());
    tree.update(size.to_le_bytes());
    tree.update(sha256.as_bytes());
}

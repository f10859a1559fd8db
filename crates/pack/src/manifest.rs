//! `manifest.json`: which skills a pack holds, and what each of its files must be.
//!
//! Invariant: what is accepted was understood whole; unknown and repeated keys are refused, so that
//! no two readers of one signed manifest see two different ones.

mod strict;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::name::PackPath;
use crate::refusal::{Flaw, Refusal};
pub use skill::lock::FileRecord;

/// The name of the manifest in a pack.
pub const MANIFEST: &str = "manifest.json";
/// The name of its signature.
pub const SIGNATURE: &str = "manifest.json.minisig";
/// Beside a kept signature: it lay beside the pack, not in it.
pub(crate) const DETACHED: &str = "detached";
const FORMAT: &str = "1";

/// What a pack says it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format_version: String,
    /// The skills.
    pub skills: Vec<ManifestSkill>,
    /// The files, all of them.
    pub files: Vec<FileRecord>,
}

/// A skill in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestSkill {
    /// The name in the frontmatter.
    pub name: String,
    /// The version in the frontmatter.
    pub version: Option<String>,
    /// Its folder in the pack.
    pub dir: String,
}

impl ManifestSkill {
    /// `name@version`, or only the name where there is no version.
    pub fn label(&self) -> String {
        match &self.version {
            Some(version) => format!("{}@{version}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Manifest {
    /// Makes a manifest; skills and files are put in order.
    pub fn new(mut skills: Vec<ManifestSkill>, mut files: Vec<FileRecord>) -> Self {
        skills.sort_by(|a, b| a.dir.cmp(&b.dir));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { format_version: FORMAT.to_owned(), skills, files }
    }

    /// Reads a manifest strictly.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let invalid =
            |why: &dyn std::fmt::Display| Refusal::of(Flaw::InvalidManifest, MANIFEST).because(why);
        strict::check(bytes).map_err(|problem| match problem {
            strict::Problem::Repeated(key) => {
                Refusal::of(Flaw::DuplicateKey, MANIFEST).because(format!("`{key}`"))
            }
            strict::Problem::Syntax(error) => invalid(&error),
        })?;
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| invalid(&error))?;
        if manifest.format_version != FORMAT {
            return Err(invalid(&format!(
                "`format_version` is `{}`, but only `{FORMAT}` is supported",
                manifest.format_version
            )));
        }
        for file in &manifest.files {
            PackPath::new(file.path.as_bytes())?;
            let is_hash = file.sha256.len() == 64
                && file.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if !is_hash {
                return Err(Refusal::of(Flaw::InvalidManifest, &file.path)
                    .because("`sha256` is not a hash"));
            }
        }
        Ok(manifest)
    }

    /// The bytes that are signed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest is plain data");
        bytes.push(b'\n');
        bytes
    }

    /// `name@version` of every skill, which the signature's trusted comment repeats.
    pub fn labels(&self) -> String {
        let labels: Vec<String> = self.skills.iter().map(ManifestSkill::label).collect();
        labels.join(" ")
    }
}

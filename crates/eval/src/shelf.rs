//! What the cases of a project bring along, copied out of its reach and summed up in one hash.
//!
//! Invariant: what is hashed is what is copied, and cases that were taken read nothing else of their project.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use basics::failure::{Exit, Explain};
use basics::sha256::hex;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use thiserror::Error;

use crate::case::Located;
use crate::folder::{Folder, FolderError, Quota};

/// A place for what cases bring along; it goes away with this value.
#[derive(Debug)]
pub struct Shelf {
    folder: TempDir,
    quota: Quota,
    places: usize,
    /// Folders and packs that several cases name are copied once.
    copied: BTreeMap<PathBuf, Copied>,
}

#[derive(Debug, Clone)]
struct Copied {
    path: PathBuf,
    sum: String,
}

/// Where the paths of a project's cases may lead.
#[derive(Debug, Clone, Copy)]
pub struct Reach<'a> {
    /// The project, where paths are looked for after the case's folder.
    pub project: &'a Path,
    /// Folders of the user that a case may name, too; they are used where they are.
    pub users: &'a [PathBuf],
}

/// The cases of one file, as they can be run.
#[derive(Debug)]
pub struct Taken {
    /// The cases; what they name is on the shelf.
    pub cases: Vec<Located>,
    /// Another one where the file is, or anything that its cases bring along.
    pub sha256: String,
}

/// Why cases cannot be taken.
#[derive(Debug, Error)]
pub enum ShelfError {
    /// A case asks for what it may not have.
    #[error("cannot run the case `{case}`")]
    Case {
        /// Suite and name.
        case: String,
        /// Why.
        source: Unfit,
    },
    /// There is no place for copies.
    #[error("cannot create a folder for the files of the cases")]
    NoPlace(#[from] io::Error),
}

/// What is wrong with a path of a case.
#[derive(Debug, Error)]
pub enum Unfit {
    /// It leads out of the case's folder, or to what the project or this program keeps for itself.
    #[error("`{}` is not a path inside the case's folder", .0.display())]
    File(PathBuf),
    /// It leads out of the project.
    #[error("`{}` is outside the project", .0.display())]
    Outside(PathBuf),
    /// It cannot be read or copied.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl Explain for ShelfError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoPlace(_) => Exit::Failed,
            Self::Case { .. } => Exit::Refused,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoPlace(_) => "IOError",
            Self::Case { source, .. } => match source {
                Unfit::File(_)
                | Unfit::Outside(_)
                | Unfit::Folder(FolderError::LeadsOut { .. }) => "PathTraversalBlocked",
                Unfit::Folder(_) => "CaseUnfit",
            },
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::NoPlace(_) => "check that there is room for temporary files",
            Self::Case { source, .. } => match source {
                Unfit::File(_) => "put the file beside the case",
                Unfit::Outside(_) => {
                    "a case can use only files of its project and your own skill folders"
                }
                Unfit::Folder(FolderError::LeadsOut { .. }) => {
                    "replace the link with the file itself"
                }
                Unfit::Folder(_) => "use a regular file that you can read",
            },
        }
        .into()
    }
}

impl Shelf {
    /// An empty one.
    pub fn new() -> Result<Self, ShelfError> {
        let folder = TempDir::with_prefix("skillful-evals-")?;
        Ok(Self { folder, quota: Quota::default(), places: 0, copied: BTreeMap::new() })
    }

    /// Takes the cases of one file.
    pub fn take(&mut self, cases: &[Located], reach: Reach<'_>) -> Result<Taken, ShelfError> {
        let own = self.place();
        let (mut taken, mut parts) = (Vec::new(), BTreeMap::new());
        for located in cases {
            let case = |source| ShelfError::Case { case: located.name(), source };
            self.take_files(located, &own, &mut parts).map_err(case)?;
            let brought = self.take_references(located, reach, &mut parts).map_err(case)?;
            taken.push(Located { folder: own.clone(), brought, ..located.clone() });
        }
        let file = cases.first().map_or("", |located| located.sha256.as_str());
        Ok(Taken { cases: taken, sha256: sum(file, &parts) })
    }

    /// Copies the files that a case's workspace begins with, and those that it must end with.
    fn take_files(
        &mut self,
        located: &Located,
        to: &Path,
        parts: &mut BTreeMap<String, String>,
    ) -> Result<(), Unfit> {
        let folders = ["inputs", "expected"].iter().filter(|_| located.has_folder());
        let named = located.case.setup.files.iter().map(PathBuf::as_path);
        let mut folder = None;
        for path in folders.map(Path::new).chain(named) {
            let inner = inside(path).ok_or_else(|| Unfit::File(path.to_owned()))?;
            let label = format!("file {}", inner.display());
            if parts.contains_key(&label) {
                continue;
            }
            let opened = match folder.take() {
                Some(opened) => opened,
                None => Folder::open(&located.folder)?,
            };
            let sum = match opened.lacks(&inner) {
                true => String::new(),
                false => opened.copy(&inner, &to.join(&inner), &mut self.quota)?,
            };
            parts.insert(label, sum);
            folder = Some(opened);
        }
        Ok(())
    }

    /// Copies the folders of skills and the packs that a case names; answers with where they are now.
    fn take_references(
        &mut self,
        located: &Located,
        reach: Reach<'_>,
        parts: &mut BTreeMap<String, String>,
    ) -> Result<BTreeMap<PathBuf, PathBuf>, Unfit> {
        let mut brought = BTreeMap::new();
        for path in located.references() {
            let copied = self.reference(&located.resolve(path, reach.project), path, reach)?;
            parts.insert(format!("reference {}", path.display()), copied.sum);
            brought.insert(path.to_owned(), copied.path);
        }
        Ok(brought)
    }

    fn reference(&mut self, found: &Path, named: &Path, reach: Reach<'_>) -> Result<Copied, Unfit> {
        let name = found.file_name().map_or_else(|| "root".into(), ToOwned::to_owned);
        let Ok(real) = found.canonicalize() else {
            // A place that stays empty: what comes to be there later was not looked at.
            return Ok(Copied { path: self.place().join(name), sum: String::new() });
        };
        if let Some(copied) = self.copied.get(&real) {
            return Ok(copied.clone());
        }
        if reach.users.iter().any(|folder| real.starts_with(folder)) {
            return Ok(Copied { path: real, sum: "the user's".to_owned() });
        }
        if !real.starts_with(reach.project) {
            return Err(Unfit::Outside(named.to_owned()));
        }
        let name = real.file_name().map_or(name, ToOwned::to_owned);
        let path = self.place().join(&name);
        let sum = match (real.is_dir(), real.parent()) {
            (false, Some(parent)) => {
                Folder::open(parent)?.copy(Path::new(&name), &path, &mut self.quota)?
            }
            _ => Folder::open(&real)?.copy(Path::new("."), &path, &mut self.quota)?,
        };
        let copied = Copied { path, sum };
        self.copied.insert(real, copied.clone());
        Ok(copied)
    }

    /// A path that nothing has.
    fn place(&mut self) -> PathBuf {
        self.places += 1;
        self.folder.path().join(self.places.to_string())
    }
}

/// A path of a case without `.` and `..`, unless it is absolute, leads out, or names what a repository or this
/// program keeps for itself.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut inner = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => inner.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    let is_kept = inner.starts_with(".git") || inner.starts_with(".agent");
    (!is_kept && !inner.as_os_str().is_empty()).then_some(inner)
}

/// Each part with its length, so that no two lists of parts look alike.
fn sum(file: &str, parts: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    let labelled = parts.iter().flat_map(|(label, sum)| [label.as_str(), sum.as_str()]);
    for part in ["skillful evals 1", file].into_iter().chain(labelled) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}

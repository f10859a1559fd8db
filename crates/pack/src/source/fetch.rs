//! From a source to its content.

use crate::material::{ArchiveError, Limits, Material};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skill::metadata::ReadOptions;

use super::shape::shape;
use super::{Source, SourceError, folder, git, https};

/// How sources are fetched.
#[derive(Debug, Clone)]
pub struct Fetching {
    /// How much may come.
    pub limits: Limits,
    /// How frontmatter is read.
    pub read: ReadOptions,
    /// How long it may take.
    pub time: Duration,
    /// A commit to fetch in place of the source's own reference.
    pub commit: Option<String>,
    /// What `git` gets of the environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// What came.
#[derive(Debug)]
pub struct Fetched {
    /// The content.
    pub material: Material,
    /// A signature that lay beside it.
    pub detached: Option<String>,
    /// What the source was at this time: a commit, or the address that it led to.
    pub resolved: Option<String>,
}

impl Source {
    /// Gets the content of the source, into a temporary file where it is not one already.
    pub fn fetch(&self, fetching: &Fetching) -> Result<Fetched, SourceError> {
        match self {
            Self::Zip(path) => zip(path, fetching),
            Self::Folder(path) => {
                let material =
                    folder::gather(std::slice::from_ref(path), fetching.limits, &fetching.read)?;
                Ok(Fetched { material, detached: None, resolved: None })
            }
            Self::Git(source) => git::fetch(source, fetching),
            Self::Https(url) => {
                let (file, address) = https::download(url, fetching)?;
                let material = archive(file, fetching)?;
                Ok(Fetched { material, detached: None, resolved: Some(address) })
            }
        }
    }
}

/// The skills in several folders as one material.
pub fn gather(folders: &[PathBuf], fetching: &Fetching) -> Result<Material, SourceError> {
    Ok(folder::gather(folders, fetching.limits, &fetching.read)?)
}

/// A signature is a few lines.
const LARGEST_SIGNATURE: u64 = 64 << 10;

fn zip(path: &Path, fetching: &Fetching) -> Result<Fetched, SourceError> {
    let failed = |source| SourceError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".sig");
    let beside = Path::new(&beside);
    let detached = match beside.metadata() {
        Ok(found) if found.is_file() && found.len() <= LARGEST_SIGNATURE => {
            let read = std::fs::read_to_string(beside);
            Some(read.map_err(|source| SourceError::Read { path: beside.to_owned(), source })?)
        }
        _ => None,
    };
    Ok(Fetched { material: archive(file, fetching)?, detached, resolved: None })
}

fn archive(file: File, fetching: &Fetching) -> Result<Material, ArchiveError> {
    Ok(shape(Material::zip(file, fetching.limits)?)?)
}

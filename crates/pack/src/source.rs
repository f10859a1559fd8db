//! Where a pack comes from.

mod error;
mod fetch;
mod folder;
mod git;
mod https;
mod places;
mod shape;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use error::SourceError;
pub use fetch::{Fetched, Fetching, gather};

/// A place that packs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A zip file.
    Zip(PathBuf),
    /// A folder with skills.
    Folder(PathBuf),
    /// A git repository.
    Git(GitSource),
    /// The address of a zip file.
    Https(String),
}

/// A place in a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// An https address, or an absolute path.
    pub repository: String,
    /// A branch, a tag or a commit; by default what the repository has checked out.
    pub reference: Option<String>,
    /// A folder in it.
    pub subfolder: Option<String>,
}

impl Source {
    /// Understands what a user typed; relative paths start at `base`.
    pub fn parse(text: &str, base: &Path) -> Result<Self, SourceError> {
        let unclear = |reason| SourceError::Unclear { source_text: text.to_owned(), reason };
        if text.trim().is_empty() {
            return Err(unclear("it is empty"));
        }
        let (stated, rest) = match text.strip_prefix("git+") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let scheme =
            rest.split_once("://").map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme));
        match scheme {
            Some("https") => Ok(https_source(rest, stated)),
            Some("file") => path_source(&rest["file://".len()..], Path::new("/"), stated),
            Some(_) => Err(SourceError::NotHttps { source_text: text.to_owned() }),
            // As in `git@host:path`, which would be another protocol.
            None if !base.join(rest).exists() && is_scp_like(rest) => {
                Err(SourceError::NotHttps { source_text: text.to_owned() })
            }
            None => path_source(rest, base, stated),
        }
    }

    /// Whether content comes over the network.
    pub fn is_remote(&self) -> bool {
        match self {
            Self::Https(_) => true,
            Self::Git(git) => git.repository.starts_with("https://"),
            Self::Zip(_) | Self::Folder(_) => false,
        }
    }

    /// The source as text that [`Self::parse`] understands; paths below `base` are relative to it.
    pub fn to_text(&self, base: Option<&Path>) -> String {
        let path = |path: &Path| match base.and_then(|base| path.strip_prefix(base).ok()) {
            Some(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
            Some(inner) => inner.to_string_lossy().into_owned(),
            None => path.to_string_lossy().into_owned(),
        };
        match self {
            Self::Zip(file) | Self::Folder(file) => path(file),
            Self::Https(url) => url.clone(),
            Self::Git(git) => {
                let repository = match git.repository.starts_with("https://") {
                    true => git.repository.clone(),
                    false => path(Path::new(&git.repository)),
                };
                let reference = git.reference.iter().map(|reference| format!("#{reference}"));
                let subfolder = git.subfolder.iter().map(|folder| format!("//{folder}"));
                let rest: String = reference.chain(subfolder).collect();
                format!("git+{repository}{rest}")
            }
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

fn is_scp_like(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'))
}

fn https_source(text: &str, stated: bool) -> Source {
    let address = &text["https://".len()..];
    let (rest, reference, subfolder) = split(address);
    let is_git = stated || reference.is_some() || subfolder.is_some() || rest.ends_with(".git");
    match is_git {
        true => {
            Source::Git(GitSource { repository: format!("https://{rest}"), reference, subfolder })
        }
        false => Source::Https(text.to_owned()),
    }
}

fn path_source(text: &str, base: &Path, stated: bool) -> Result<Source, SourceError> {
    let whole = base.join(text);
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    if whole.is_file() {
        return Ok(Source::Zip(real(whole)));
    }
    let (rest, reference, subfolder) = match whole.is_dir() {
        true => (text.to_owned(), None, None),
        false => split(text),
    };
    let path = base.join(&rest);
    if !path.exists() {
        return Err(SourceError::NotFound { path: whole });
    }
    let path = real(path);
    if stated || reference.is_some() || subfolder.is_some() || is_repository(&path) {
        let repository = path.to_string_lossy().into_owned();
        return Ok(Source::Git(GitSource { repository, reference, subfolder }));
    }
    Ok(Source::Folder(path))
}

/// With a `.git` of its own, or bare.
fn is_repository(path: &Path) -> bool {
    let is_bare = || ["HEAD", "objects", "refs"].iter().all(|name| path.join(name).exists());
    path.join(".git").exists() || is_bare()
}

/// `place#reference//subfolder`, in either order.
fn split(text: &str) -> (String, Option<String>, Option<String>) {
    let some = |text: &str| Some(text.trim_matches('/').to_owned()).filter(|text| !text.is_empty());
    let (before, after) =
        text.split_once('#').map_or((text, None), |(before, after)| (before, Some(after)));
    let (rest, folder) =
        before.split_once("//").map_or((before, None), |(rest, folder)| (rest, some(folder)));
    match after.map(|after| after.split_once("//").unwrap_or((after, ""))) {
        None => (rest.to_owned(), None, folder),
        Some((reference, inner)) => (rest.to_owned(), some(reference), some(inner).or(folder)),
    }
}

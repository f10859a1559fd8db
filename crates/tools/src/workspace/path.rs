//! Spelling paths.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// What the path of a file in a skill outside of the workspace begins with.
pub(super) const SKILL: &str = "skill://";

/// How many bytes a path may have: no system call takes more.
pub(crate) const LONGEST: usize = 4096;

/// What no path in the workspace begins with, however many slashes follow.
pub(super) const SKILL_SCHEME: &str = "skill:";

/// A path without `.`, `..` and doubled slashes; none if it climbs out of where it starts.
pub(crate) fn normal_path(path: &str) -> Option<String> {
    if path.contains('\0') {
        return None;
    }
    if let Some(rest) = path.strip_prefix(SKILL) {
        let (skill, inner) = rest.split_once('/').unwrap_or((rest, ""));
        let inner = normal_parts(inner)?.join("/");
        let slash = if inner.is_empty() { "" } else { "/" };
        return (!matches!(skill, "" | "." | ".."))
            .then(|| format!("{SKILL}{skill}{slash}{inner}"));
    }
    let parts = normal_parts(path)?.join("/");
    match (path.starts_with('/'), parts.is_empty()) {
        (true, _) => Some(format!("/{parts}")),
        (false, true) => Some(".".to_owned()),
        (false, false) => Some(parts),
    }
}

fn normal_parts(path: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts)
}

/// The path without links, also of a file that does not exist yet.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().len() > LONGEST {
        return Err(Errno::NAMETOOLONG.into());
    }
    let (mut found, mut missing) = (path, Vec::new());
    loop {
        match (fs::canonicalize(found), found.parent(), found.file_name()) {
            (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(name);
                found = parent;
            }
            (real, ..) => {
                return real
                    .map(|real| missing.iter().rev().fold(real, |path, name| path.join(name)));
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Spelling paths.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

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

/// How many links a path may go through.
const LINKS: u32 = 40;

/// Every link on the way to where a path leads, and that, also where nothing is there yet.
pub(crate) fn way_to(path: &Path) -> Vec<PathBuf> {
    let mut waiting: Vec<PathBuf> = vec![path.to_owned()];
    let (mut real, mut links) = (PathBuf::new(), Vec::new());
    while let Some(next) = waiting.pop() {
        let mut parts = next.components();
        let Some(part) = parts.next() else { continue };
        waiting.push(parts.as_path().to_owned());
        match part {
            Component::CurDir => continue,
            Component::ParentDir => {
                real.pop();
                continue;
            }
            Component::RootDir | Component::Prefix(_) => {
                real = PathBuf::from("/");
                continue;
            }
            Component::Normal(name) => real.push(name),
        }
        if links.len() < LINKS as usize
            && let Ok(target) = fs::read_link(&real)
        {
            links.push(real.clone());
            real.pop();
            waiting.push(target);
        }
    }
    links.push(real);
    links
}

/// The same as [`real_path`] for a path in a folder that is open as `root` and whose files are called as if it were at `path`. Links that
/// lead out of it are followed no further.
pub(super) fn real_path_beneath(
    root: BorrowedFd<'_>,
    path: &Path,
    inner: &Path,
) -> io::Result<PathBuf> {
    let mut waiting: Vec<PathBuf> = vec![inner.to_owned()];
    let (mut real, mut links) = (PathBuf::new(), 0);
    while let Some(next) = waiting.pop() {
        let mut parts = next.components();
        let Some(part) = parts.next() else { continue };
        waiting.push(parts.as_path().to_owned());
        match part {
            Component::CurDir => continue,
            Component::ParentDir if real.pop() => continue,
            Component::ParentDir => return Ok(path.join("..").join(rest(waiting))),
            Component::Normal(name) => real.push(name),
            Component::RootDir | Component::Prefix(_) => {
                // The absolute target of a link.
                let whole = Path::new("/").join(rest(waiting));
                match whole.strip_prefix(path) {
                    Ok(inside) => {
                        (real, waiting) = (PathBuf::new(), vec![inside.to_owned()]);
                        continue;
                    }
                    Err(_) => return Ok(whole),
                }
            }
        }
        match rustix::fs::readlinkat(root, &real, Vec::new()) {
            Ok(target) => {
                links += 1;
                if links > LINKS {
                    return Err(Errno::LOOP.into());
                }
                real.pop();
                waiting.push(OsString::from_vec(target.into_bytes()).into());
            }
            // No link; or nothing, and then what follows is to be made.
            Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(path.join(real))
}

/// What is left to be looked at, as one path.
fn rest(waiting: Vec<PathBuf>) -> PathBuf {
    waiting.into_iter().rev().collect()
}

#[cfg(test)]
mod tests;

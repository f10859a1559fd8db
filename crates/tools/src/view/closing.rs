//! What is closed to one command: looked up in the real workspace, just before it starts.
//!
//! The settings of a Git repository are hidden from the file tools, because they may hold a password, but `git`
//! cannot work without them. So commands see them, without the lines that could hold one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::closed;
use crate::containment::Closing;
use crate::workspace::{PathPatterns, git_settings, links_below, way_to};

/// How large the settings of a repository may be; larger ones stay hidden.
const LARGEST: u64 = 1 << 20;

/// What decides on it.
pub(super) struct Wishes<'a> {
    pub(super) workspace: &'a Path,
    pub(super) secrets: &'a PathPatterns,
    /// What no command may change, besides what agents keep for themselves.
    pub(super) protected: &'a [PathBuf],
    /// What is granted, or hidden as a whole.
    pub(super) settled: &'a [&'a Path],
    /// Where settings without their secrets are kept.
    pub(super) shown: &'a Path,
}

/// Looks through the workspace.
pub(super) fn look(wishes: &Wishes<'_>) -> io::Result<Closing> {
    let found = closed::find(wishes.workspace, wishes.secrets, wishes.settled);
    let mut closing = Closing { unsearched: found.unsearched, ..Closing::default() };
    closing.protected = found.protected;
    closing.protected.extend(found.repositories.iter().flat_map(|git| parts(git)));
    closing.protected.extend(wishes.protected.iter().cloned());
    closing.protected.extend(elsewhere(wishes.workspace, &closing.protected, &found.repositories));
    // A link is not what it leads to.
    let links = closing.protected.iter().filter(|path| path.is_symlink());
    let targets: Vec<_> = links.filter_map(|path| fs::canonicalize(path).ok()).collect();
    closing.protected.extend(targets);
    // What the workspace itself lies in would close all of it.
    closing.protected.retain(|path| !wishes.workspace.starts_with(path));
    for path in found.paths {
        match is_settings(&path).then(|| read(&path)).flatten() {
            None => closing.hidden.push(path),
            Some(content) => {
                let harmless = without_secrets(&content);
                if harmless != content {
                    let other = keep(wishes.shown, &harmless)?;
                    closing.replaced.push((path.clone(), other));
                }
                closing.protected.push(path);
            }
        }
    }
    Ok(closing)
}

/// What belongs to something protected and lies elsewhere in the workspace: because links of agents lead there, or
/// because a repository includes it or has its hooks there.
fn elsewhere(workspace: &Path, protected: &[PathBuf], repositories: &[PathBuf]) -> Vec<PathBuf> {
    let links = protected.iter().flat_map(|path| links_below(path));
    let files = protected.iter().filter(|path| path.ends_with(".git")).cloned();
    let above = workspace.ancestors().skip(1).map(|folder| folder.join(".git"));
    let git = repositories.iter().cloned().chain(files).chain(above);
    let settings = git.flat_map(|git| git_settings(&git));
    let ways = links.chain(settings).flat_map(|path| way_to(&path));
    let is_there = |path: &PathBuf| {
        path.starts_with(workspace) && path != workspace && path.symlink_metadata().is_ok()
    };
    let mut found: Vec<PathBuf> = ways.filter(is_there).collect();
    found.sort();
    found.dedup();
    found
}

/// What of a repository makes Git run something, or look elsewhere.
fn parts(git: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<_> =
        ["hooks", "config", "config.worktree", "commondir"].map(|name| git.join(name)).into();
    for (folder, names) in [
        ("modules", &["hooks", "config"][..]),
        ("worktrees", &["config.worktree", "commondir", "gitdir"]),
    ] {
        for entry in fs::read_dir(git.join(folder)).into_iter().flatten().flatten() {
            parts.extend(names.iter().map(|name| entry.path().join(name)));
        }
    }
    parts.retain(|path| path.symlink_metadata().is_ok());
    parts
}

/// Whether a hidden file is what Git itself must read.
pub(super) fn is_settings(path: &Path) -> bool {
    let is_named = |name: &str| path.file_name().is_some_and(|found| found == name);
    (is_named("config") || is_named("config.worktree")) && path.iter().any(|part| part == ".git")
}

/// The content of such a file; none where it is something else, or too large.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    let mut content = Vec::new();
    file.take(LARGEST).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Settings without the lines that could hold a secret, and those that continue them.
pub(super) fn without_secrets(content: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(content.len());
    let mut continues = false;
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line).to_lowercase();
        let leaves_out = continues || holds_secret(&text);
        continues = leaves_out && text.trim_end_matches(['\r', '\n']).ends_with('\\');
        if !leaves_out {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// Whether a line, in small letters, could: an address with a user in it, a header, a helper, a password.
fn holds_secret(line: &str) -> bool {
    let key = line.split_once('=').map_or(line, |(key, _)| key);
    let has_secret_key =
        ["extraheader", "helper", "token", "password", "passwd", "secret", "smtppass"]
            .iter()
            .any(|word| key.contains(word));
    // `imap.pass`, also behind the name of its section.
    let has_secret_key =
        has_secret_key || key.rsplit(']').next().is_some_and(|key| key.trim() == "pass");
    // A line that goes on may have the rest of an address in the next one.
    let is_web = line.contains("http://") || line.contains("https://");
    let has_user = |rest: &str| {
        // Quotes and escapes may come anywhere in a value, and mean nothing.
        let rest: String = rest.chars().filter(|letter| *letter != '"').collect();
        let host = rest.split(['/', ' ', '\t']).next().unwrap_or(&rest);
        let user = host.rsplit_once('@').map(|(user, _)| user);
        // Elsewhere than in the web, a user alone is no secret: `ssh://git@host`.
        user.is_some_and(|user| is_web || user.contains(':')) || host.trim_end().ends_with('\\')
    };
    let line: String = line.chars().filter(|letter| *letter != '"').collect();
    has_secret_key || line.split("://").skip(1).any(has_user)
}

/// Keeps a file by its content, and returns where.
fn keep(folder: &Path, content: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(basics::sha256::hex(&Sha256::digest(content)));
    fs::create_dir_all(folder)?;
    if fs::read(&path).is_ok_and(|kept| kept == content) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, content)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests;

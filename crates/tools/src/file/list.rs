//! `list_dir`: what is in a directory, sorted, one line for each entry.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use permission::params::ListDir;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use serde_json::json;

use crate::beneath;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::sight::Sight;
use crate::workspace::{Workspace, WorkspacePath};

/// Lists a directory and, if asked, those in it.
pub(crate) fn list_dir(
    call: &ListDir,
    workspace: &Workspace,
    sight: &Sight<'_>,
) -> Result<Outcome, ToolError> {
    let place = workspace.visible(&call.path)?;
    let mut listing =
        Listing { place, workspace, sight, text: String::new(), entries: 0, hidden: 0, cut: false };
    let depth = call.depth.clamp(1, workspace.limits.depth);
    beneath::open_folder(place.folder(), place.path())
        .and_then(|folder| listing.add(folder.as_fd(), "", depth))
        .map_err(|source| ToolError::at(&call.path, source))?;
    let facts = json!({"path": call.path, "entries": listing.entries, "hidden": listing.hidden});
    let outcome = Outcome::text(listing.text, workspace.limits.shown_bytes, facts);
    Ok(Outcome { truncated: outcome.truncated || listing.cut, ..outcome })
}

struct Listing<'l> {
    place: WorkspacePath<'l>,
    workspace: &'l Workspace,
    sight: &'l Sight<'l>,
    text: String,
    entries: usize,
    hidden: usize,
    /// Whether there was more than the limit lets through.
    cut: bool,
}

impl Listing<'_> {
    /// Adds what is in `folder`, which lies at `above` in the directory that is listed.
    fn add(&mut self, folder: BorrowedFd<'_>, above: &str, depth: u64) -> io::Result<()> {
        for (name, kind) in sorted(folder)? {
            let shown = name.to_string_lossy();
            let below =
                if above.is_empty() { shown.into_owned() } else { format!("{above}/{shown}") };
            if !self.shows(&below) {
                self.hidden += 1;
                continue;
            }
            if self.entries == self.workspace.limits.entries {
                self.cut = true;
                return Ok(());
            }
            self.entries += 1;
            self.add_line(folder, &name, &below, kind);
            if kind == FileType::Directory && depth > 1 {
                // A directory that cannot be opened is listed all the same; its content is not.
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                if let Ok(inner) = openat(folder, &*name, flags, Mode::empty()) {
                    self.add(inner.as_fd(), &below, depth - 1)?;
                }
            }
        }
        Ok(())
    }

    fn shows(&self, below: &str) -> bool {
        let inner = match self.place.inner {
            "" => below.to_owned(),
            above => format!("{above}/{below}"),
        };
        self.workspace.secrets.matching_entry(&inner).is_none()
            && self.sight.shows(&self.place.name_of(&inner))
    }

    fn add_line(&mut self, folder: BorrowedFd<'_>, name: &OsStr, below: &str, kind: FileType) {
        self.text.push_str(below);
        match kind {
            FileType::Directory => self.text.push('/'),
            FileType::Symlink => self.text.push('@'),
            FileType::RegularFile => {
                if let Ok(status) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    self.text.push_str(&format!("  {} bytes", status.st_size));
                }
            }
            _ => self.text.push('='),
        }
        self.text.push('\n');
    }
}

fn sorted(folder: BorrowedFd<'_>) -> io::Result<Vec<(Box<OsStr>, FileType)>> {
    let mut entries: Vec<(Box<OsStr>, FileType)> = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode)),
            kind => kind,
        };
        entries.push((Box::from(name), kind));
    }
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(entries)
}

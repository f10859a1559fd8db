//! A private copy of a workspace, where no layer can be put over it.
//!
//! Left out: what is hidden (a folder is there, but empty), the records of runs, and folders that version control ignores, which are seen as they
//! are. Invariants: a copy is whole or not there; no link is followed.

use std::collections::HashSet;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::containment::Closing;
use crate::platform;

/// Why there is no copy.
#[derive(Debug)]
pub(super) enum NoCopy {
    /// It would be larger than allowed.
    TooLarge,
    Failed(io::Error),
}

impl From<io::Error> for NoCopy {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Where a copy is, and what of the workspace it was made without, as paths in the workspace.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) folder: PathBuf,
    pub(super) linked: Vec<PathBuf>,
}

/// How ignored folders are seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    /// As empty folders, on which somebody puts the real ones.
    Hollow,
    /// As links to the real ones.
    Linked,
}

/// The copy that an earlier view made.
pub(super) fn earlier(layer: &Path) -> io::Result<Option<Copied>> {
    let folder = layer.join(NAME);
    if !folder.is_dir() {
        return Ok(None);
    }
    let list = fs::read(layer.join(LIST))?;
    let paths = list.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let linked = paths.map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.into())));
    Ok(Some(Copied { folder, linked: linked.collect() }))
}

impl Copied {
    /// Has ignored folders seen like this, which an earlier view may have had otherwise.
    pub(super) fn settle(&self, workspace: &Path, ignored: Ignored) -> io::Result<()> {
        for path in &self.linked {
            let place = self.folder.join(path.strip_prefix(workspace).unwrap_or(path));
            let Ok(found) = place.symlink_metadata() else { continue };
            match ignored {
                Ignored::Hollow if found.is_symlink() => {
                    fs::remove_file(&place)?;
                    fs::create_dir(&place)?;
                }
                Ignored::Linked if found.is_dir() => {
                    fs::remove_dir(&place)?;
                    symlink(path, &place)?;
                }
                Ignored::Hollow | Ignored::Linked => {}
            }
        }
        Ok(())
    }
}

const NAME: &str = "copy";
const LIST: &str = "copy.ignored";
const PART: &str = "copy.part";

/// Makes a copy of at most `most` bytes.
pub(super) fn make(
    workspace: &Path,
    layer: &Path,
    closing: &Closing,
    most: u64,
) -> Result<Copied, NoCopy> {
    let mut survey = Survey::new(workspace, closing, most);
    survey.walk(workspace, &mut Vec::new())?;
    let part = layer.join(PART);
    match fs::remove_dir_all(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    fs::create_dir(&part)?;
    survey.copy(&part)?;
    let list: Vec<_> = survey.ignored.iter().map(|path| path.as_os_str().as_bytes()).collect();
    fs::write(layer.join(LIST), list.join(&0))?;
    let folder = layer.join(NAME);
    fs::rename(&part, &folder)?;
    Ok(Copied { folder, linked: survey.ignored })
}

/// What is to be copied.
struct Survey<'a> {
    workspace: &'a Path,
    left_out: HashSet<&'a Path>,
    /// Settings that are copied without their secrets.
    replaced: Vec<&'a (PathBuf, PathBuf)>,
    left: u64,
    /// Paths beneath the workspace, outer ones first.
    entries: Vec<(PathBuf, Metadata)>,
    ignored: Vec<PathBuf>,
    /// Folders that are seen without what is in them.
    emptied: Vec<PathBuf>,
}

impl<'a> Survey<'a> {
    fn new(workspace: &'a Path, closing: &'a Closing, most: u64) -> Self {
        Self {
            workspace,
            left_out: closing.hidden.iter().map(PathBuf::as_path).collect(),
            replaced: closing.replaced.iter().collect(),
            left: most,
            entries: Vec::new(),
            ignored: Vec::new(),
            emptied: Vec::new(),
        }
    }

    fn walk(&mut self, folder: &Path, rules: &mut Vec<Gitignore>) -> Result<(), NoCopy> {
        let mut own = GitignoreBuilder::new(folder);
        own.add(folder.join(".gitignore"));
        if folder == self.workspace {
            own.add(folder.join(".git/info/exclude"));
        }
        rules.push(own.build().unwrap_or_else(|_| Gitignore::empty()));
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, metadata) = (entry.path(), entry.metadata()?);
            if self.left_out.contains(path.as_path()) {
                if metadata.is_dir() {
                    self.emptied.push(path);
                }
                continue;
            }
            if metadata.is_dir() && is_ignored(&path, rules) {
                self.ignored.push(path);
                continue;
            }
            // What the smallest file takes.
            let bytes = if metadata.is_file() { metadata.len().max(4096) } else { 4096 };
            self.left = self.left.checked_sub(bytes).ok_or(NoCopy::TooLarge)?;
            let is_folder = metadata.is_dir();
            self.entries.push((path.clone(), metadata));
            if is_folder {
                self.walk(&path, rules)?;
            }
        }
        rules.pop();
        Ok(())
    }

    fn copy(&self, to: &Path) -> io::Result<()> {
        let place = |path: &Path| to.join(path.strip_prefix(self.workspace).unwrap_or(path));
        for (path, metadata) in &self.entries {
            let copy = place(path);
            if metadata.is_dir() {
                fs::create_dir(&copy)?;
            } else if metadata.is_symlink() {
                symlink(fs::read_link(path)?, &copy)?;
            } else if metadata.is_file() {
                self.copy_file(path, &copy)?;
            }
        }
        for path in self.emptied.iter().chain(&self.ignored) {
            fs::create_dir(place(path))?;
        }
        // Folders last and from within: what is put into them changes their times.
        for (path, metadata) in self.entries.iter().rev().filter(|(_, entry)| !entry.is_symlink()) {
            let is_copied = metadata.is_dir() || metadata.is_file();
            if is_copied {
                let file = File::options().read(true).open(place(path))?;
                file.set_modified(metadata.modified()?)?;
                let mode = metadata.permissions().mode() & 0o777;
                // Whoever made the copy must be able to look at it.
                let own = if metadata.is_dir() { 0o700 } else { 0o400 };
                file.set_permissions(Permissions::from_mode(mode | own))?;
            }
        }
        Ok(())
    }

    fn copy_file(&self, path: &Path, copy: &Path) -> io::Result<()> {
        if let Some((_, other)) = self.replaced.iter().find(|(replaced, _)| replaced == path) {
            return fs::copy(other, copy).map(drop);
        }
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut from = File::options().read(true).custom_flags(flags).open(path)?;
        let mut to = File::options().write(true).create_new(true).mode(0o600).open(copy)?;
        match platform::clone_content(&from, &to) {
            Ok(()) => Ok(()),
            Err(_) => io::copy(&mut from, &mut to).map(drop),
        }
    }
}

fn is_ignored(folder: &Path, rules: &[Gitignore]) -> bool {
    for rules in rules.iter().rev() {
        match rules.matched(folder, true) {
            Match::None => {}
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
        }
    }
    false
}

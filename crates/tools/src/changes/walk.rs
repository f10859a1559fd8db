//! Every path that a run touched, with what the layer and the workspace have there, by what the file system says alone.
//!
//! Invariants: the time is linear in what the layer holds and what it deletes. Nothing is held open but two folders,
//! however deep they are.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::base::Base;
use super::error::{ChangesError, Doing};
use super::layer::{Layer, Mark};
use super::node::{Kind, Stamp};
use super::path::LayerPath;
use super::rules::{Held, LayerLimits, Reason};
use super::tree::{Tree, entry, is_missing, names};
use crate::workspace::LONGEST;

/// How many files a run may delete.
const DELETIONS: u64 = 1_000_000;

/// A path that the run touched.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) path: LayerPath,
    pub(super) before: Option<Stamp>,
    pub(super) after: Option<Stamp>,
}

/// Everything that a run touched, in order.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) touched: Vec<Touched>,
    pub(super) held: Vec<Held>,
}

/// The two trees that are compared.
pub(super) struct Trees {
    pub(super) layer: Tree,
    pub(super) workspace: Tree,
}

impl Trees {
    pub(super) fn open(layer: &Layer<'_>, workspace: &Path) -> Result<Self, ChangesError> {
        Ok(Self { layer: Tree::open(layer.folder())?, workspace: Tree::open(workspace)? })
    }
}

/// Finds what the run touched.
pub(super) fn walk(
    layer: &Layer<'_>,
    trees: &Trees,
    base: &Base,
    limits: &LayerLimits,
) -> Result<Walked, ChangesError> {
    let mut walk = Walk {
        trees,
        limits,
        found: Walked::default(),
        files: 0,
        bytes: 0,
        deletions: 0,
        waiting: vec![Waiting { folder: None, is_cut: false }],
    };
    while let Some(waiting) = walk.waiting.pop() {
        match layer {
            Layer::Overlay { .. } => walk.overlay_folder(&waiting)?,
            Layer::Copy { .. } => walk.copied_folder(&waiting, base)?,
        }
    }
    if let Layer::Copy { .. } = layer {
        walk.missing_copies(base)?;
    }
    walk.found.touched.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    walk.found.held.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(walk.found)
}

struct Walk<'a> {
    trees: &'a Trees,
    limits: &'a LayerLimits,
    found: Walked,
    files: u64,
    bytes: u64,
    deletions: u64,
    waiting: Vec<Waiting>,
}

/// A folder of the layer that is still to be looked at.
struct Waiting {
    folder: Option<LayerPath>,
    /// Whether the run sees nothing of what the workspace has there.
    is_cut: bool,
}

impl Walk<'_> {
    fn overlay_folder(&mut self, waiting: &Waiting) -> Result<(), ChangesError> {
        let folder = waiting.folder.as_ref();
        let place = folder.map_or_else(
            || self.trees.layer.root_path().to_owned(),
            |path| self.trees.layer.full(path),
        );
        let Some(upper) = self.layer_folder(folder, &place)? else { return Ok(()) };
        let mark = Mark::of(upper.as_fd()).doing("read", &place)?;
        let is_cut = waiting.is_cut || mark == Mark::Opaque;
        let lower = self.trees.workspace.folder_if_any(folder).doing("read", &place)?;
        let mut seen = HashSet::new();
        for name in names(&upper).doing("read", &place)? {
            let Some(stat) = entry(upper.as_fd(), &name).doing("read", place.join(&*name))? else {
                continue;
            };
            if is_cut {
                seen.insert(name.clone());
            }
            let Some(path) = self.path(folder, &name) else { continue };
            let before = stamp(lower.as_ref(), &name).doing("read", place.join(&*name))?;
            let is_deletion = mark.is_deletion(upper.as_fd(), &name, &stat);
            let after = match is_deletion.doing("read", place.join(&*name))? {
                true => None,
                false => Some(Stamp::of(&stat)),
            };
            self.count(after.as_ref())?;
            self.touch(path, before, after, is_cut)?;
        }
        if let Some(lower) = lower.as_ref().filter(|_| is_cut) {
            for name in names(lower).doing("read", &place)? {
                if !seen.contains(&name)
                    && let Some(path) = self.path(folder, &name)
                {
                    let before = stamp(Some(lower), &name).doing("read", place.join(&*name))?;
                    self.touch(path, before, None, true)?;
                }
            }
        }
        Ok(())
    }

    /// Opens a folder of the layer; one that nobody may read is held back with all that is in it.
    fn layer_folder(
        &mut self,
        folder: Option<&LayerPath>,
        place: &Path,
    ) -> Result<Option<OwnedFd>, ChangesError> {
        match (self.trees.layer.folder(folder), folder) {
            (Err(error), Some(path)) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.found.held.push(Held { path: path.clone(), reason: Reason::Unreadable });
                Ok(None)
            }
            (opened, _) => opened.map(Some).doing("read", place),
        }
    }

    /// Notes one path, with what it implies.
    fn touch(
        &mut self,
        path: LayerPath,
        before: Option<Stamp>,
        after: Option<Stamp>,
        is_cut: bool,
    ) -> Result<(), ChangesError> {
        let is_folder =
            |stamp: &Option<Stamp>| stamp.is_some_and(|stamp| stamp.kind == Kind::Folder);
        if after.is_some_and(|after| after.kind == Kind::Other) {
            self.found.held.push(Held { path, reason: Reason::Special });
            return Ok(());
        }
        match (is_folder(&before), is_folder(&after)) {
            (_, true) => self.waiting.push(Waiting { folder: Some(path.clone()), is_cut }),
            (true, false) => self.deleted_below(&path)?,
            (false, false) => {}
        }
        self.found.touched.push(Touched { path, before, after });
        Ok(())
    }

    /// Everything in a folder of the workspace that the run deleted or replaced.
    fn deleted_below(&mut self, folder: &LayerPath) -> Result<(), ChangesError> {
        let mut waiting = vec![folder.clone()];
        while let Some(folder) = waiting.pop() {
            let place = self.trees.workspace.full(&folder);
            let Some(opened) =
                self.trees.workspace.folder_if_any(Some(&folder)).doing("read", &place)?
            else {
                continue;
            };
            for name in names(&opened).doing("read", &place)? {
                let before = stamp(Some(&opened), &name).doing("read", place.join(&*name))?;
                let Some(path) = self.path(Some(&folder), &name) else { continue };
                self.deletions += 1;
                if self.deletions > DELETIONS {
                    return Err(ChangesError::TooLarge { what: "deleted files", limit: DELETIONS });
                }
                if before.is_some_and(|before| before.kind == Kind::Folder) {
                    waiting.push(path.clone());
                }
                self.found.touched.push(Touched { path, before, after: None });
            }
        }
        Ok(())
    }

    fn copied_folder(&mut self, waiting: &Waiting, base: &Base) -> Result<(), ChangesError> {
        let folder = waiting.folder.as_ref();
        let place = folder.map_or_else(
            || self.trees.layer.root_path().to_owned(),
            |path| self.trees.layer.full(path),
        );
        let Some(copy) = self.layer_folder(folder, &place)? else { return Ok(()) };
        let lower = self.trees.workspace.folder_if_any(folder).doing("read", &place)?;
        for name in names(&copy).doing("read", &place)? {
            let Some(stat) = entry(copy.as_fd(), &name).doing("read", place.join(&*name))? else {
                continue;
            };
            let Some(path) = self.path(folder, &name) else { continue };
            let after = Stamp::of(&stat);
            if after.kind == Kind::Folder {
                self.waiting.push(Waiting { folder: Some(path.clone()), is_cut: false });
            }
            if base.is_copy(&path, &after) {
                continue;
            }
            self.count(Some(&after))?;
            if after.kind == Kind::Other {
                self.found.held.push(Held { path, reason: Reason::Special });
                continue;
            }
            let before = stamp(lower.as_ref(), &name).doing("read", place.join(&*name))?;
            self.found.touched.push(Touched { path, before, after: Some(after) });
        }
        Ok(())
    }

    /// What was copied and is not there any more.
    fn missing_copies(&mut self, base: &Base) -> Result<(), ChangesError> {
        for path in base.copies() {
            let full = self.trees.layer.full(path);
            if self.trees.layer.stat(path).or_else(gone).doing("read", &full)?.is_some() {
                continue;
            }
            let before = self.trees.workspace.stamp(path).or_else(gone);
            let before = before.doing("read", self.trees.workspace.full(path))?;
            self.found.touched.push(Touched { path: path.clone(), before, after: None });
        }
        Ok(())
    }

    /// The path of an entry, unless it is too long for any system call.
    fn path(&mut self, folder: Option<&LayerPath>, name: &OsStr) -> Option<LayerPath> {
        let path = LayerPath::inside(folder, name.as_bytes());
        if path.as_bytes().len() < LONGEST - 256 {
            return Some(path);
        }
        self.found.held.push(Held { path, reason: Reason::TooLong });
        None
    }

    fn count(&mut self, after: Option<&Stamp>) -> Result<(), ChangesError> {
        self.files += 1;
        let bytes = after.filter(|after| after.kind == Kind::File).map_or(0, |after| after.size);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files > self.limits.files {
            return Err(ChangesError::TooLarge { what: "files", limit: self.limits.files });
        }
        if self.bytes > self.limits.bytes {
            return Err(ChangesError::TooLarge { what: "bytes", limit: self.limits.bytes });
        }
        Ok(())
    }
}

fn stamp(folder: Option<&OwnedFd>, name: &OsStr) -> io::Result<Option<Stamp>> {
    match folder {
        None => Ok(None),
        Some(folder) => Ok(entry(folder.as_fd(), name)?.as_ref().map(Stamp::of)),
    }
}

/// A link where a folder was is as good as nothing.
fn gone<T>(error: io::Error) -> io::Result<Option<T>> {
    match is_missing(&error) || super::tree::is_link(&error) {
        true => Ok(None),
        false => Err(error),
    }
}

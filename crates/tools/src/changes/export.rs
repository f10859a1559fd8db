//! The files of a run, put into another folder or handed out one at a time.
//!
//! Invariants: nothing that is there is replaced, no link is followed, and what is written has the hash that was shown.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::fstat;

use super::conflict::Conflict;
use super::disk::{Disk, Dress};
use super::error::{ChangesError, Doing};
use super::layer::Layer;
use super::node::{Node, Stamp};
use super::path::LayerPath;
use super::plan::Plan;
use super::show::content;
use super::tree::{Tree, entry};
use crate::beneath::{self, Missing};

/// Writes what is added or changed into another folder. What is there and would be replaced is a conflict.
pub fn export(plan: &Plan, layer: &Layer<'_>, to: &Path) -> Result<Vec<LayerPath>, ChangesError> {
    let (layer, to) = (Tree::open(layer.folder())?, Tree::open(to)?);
    let (disk, mut written, mut conflicts) = (Disk::default(), Vec::new(), Vec::new());
    for change in plan.changes().filter(|change| change.after.is_some()) {
        let found = to.stamp(&change.path).doing("read", to.full(&change.path))?;
        let is_folder = change.after.as_ref().is_some_and(Node::is_folder);
        if found.is_some_and(|found| !is_folder || found.kind != super::node::Kind::Folder) {
            let (path, ours) = (change.path.clone(), change.after.clone());
            conflicts.push(Conflict { path, base: None, ours, theirs: None });
        }
    }
    if !conflicts.is_empty() {
        return Err(ChangesError::Conflict { conflicts });
    }
    for part in &plan.parts {
        let path = &part.change.path;
        let Some(node) = &part.change.after else { continue };
        let bytes = match &part.merged {
            Some(merged) => merged.clone(),
            None => content(&layer, path, Some(node))?,
        };
        let time = || -> io::Result<_> { Ok(Stamp::of(&fstat(layer.file(path)?)?).modified) };
        let modified = part.merged.is_none().then(time).and_then(Result::ok);
        write(&to, path, (node, &bytes, modified), &disk).doing("write", to.full(path))?;
        written.push(path.clone());
    }
    Ok(written)
}

fn write(
    to: &Tree,
    path: &LayerPath,
    (node, bytes, modified): (&Node, &[u8], Option<super::node::Moment>),
    disk: &Disk,
) -> io::Result<()> {
    let pass = |_: &OwnedFd, _: &std::ffi::OsStr| Ok(());
    let (folder, name) = beneath::open_parent(to.root(), path.as_path(), Missing::IsMade, pass)?;
    let place = (folder.as_fd(), name);
    match node {
        Node::Folder { mode } => {
            if entry(place.0, place.1)?.is_none() {
                disk.create_folder(place)?;
            }
            // Files are to come.
            disk.set_mode(place, mode | 0o700)
        }
        Node::Link { target } => disk.create_link(place, target),
        Node::File { mode, .. } => {
            let file = disk.create_file(place)?;
            disk.write(name, &file, bytes)?;
            disk.dress(&file, Dress { mode: *mode, modified })
        }
    }
}

/// Opens a file that the run added or changed.
pub fn open_file(layer: &Layer<'_>, path: &LayerPath) -> Result<File, ChangesError> {
    let layer = Tree::open(layer.folder())?;
    layer.file(path).doing("read", layer.full(path))
}

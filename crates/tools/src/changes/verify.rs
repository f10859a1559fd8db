//! Whether the workspace and what is kept are what a plan expects, before anything is done.
//!
//! Invariant: what the file system says is believed only where it says the same as when the content was read.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::error::{ChangesError, Doing};
use super::hash::{hash, side_by_side};
use super::node::{Kind, Node, Stamp};
use super::path::LayerPath;
use super::plan::{Act, Step};
use super::stage::slot_name;
use super::store::Kept;
use super::tree::{Tree, entry, is_link, is_missing, link_target, names};
use crate::beneath;
use crate::platform::files::Place;

/// What is at a place, if it is that, by its content.
pub(super) fn is_node(place: Place<'_>, node: &Node) -> io::Result<Option<Stamp>> {
    let Some(found) = entry(place.0, place.1)?.as_ref().map(Stamp::of) else { return Ok(None) };
    let is_same = match node {
        Node::Folder { mode } => {
            found.kind == Kind::Folder && (found.mode == *mode || found.permissions() == *mode)
        }
        Node::Link { target } => {
            found.kind == Kind::Link && link_target(place.0, place.1)? == *target
        }
        Node::File { size, mode, sha256 } => {
            found.kind == Kind::File && (found.size, found.permissions()) == (*size, *mode) && {
                let mut file = beneath::open_file(place.0, Path::new(place.1))?;
                hash(&mut file, &mut Vec::new())? == *sha256
            }
        }
    };
    Ok(is_same.then_some(found))
}

/// Looks whether every path is what its first step expects, before anything is done. Answers what the file system says
/// about each, or the paths that somebody changed.
pub(super) fn verify(
    steps: &[Step],
    seen: impl Fn(&LayerPath) -> Option<Stamp> + Sync,
    (workspace, kept): (&Tree, &Kept),
) -> Result<Result<Vec<Option<Stamp>>, Vec<LayerPath>>, ChangesError> {
    let device = kept.device()?;
    let mut paths = HashSet::new();
    let first: Vec<(&Step, bool)> =
        steps.iter().map(|step| (step, paths.insert(&step.path))).collect();
    let goes = |step: &&Step| matches!(step.act, Act::Take { .. } | Act::RemoveFolder { .. });
    let going: HashSet<&LayerPath> = steps.iter().filter(goes).map(|step| &step.path).collect();
    let makes = |step: &&Step| matches!(step.act, Act::MakeFolder { .. });
    let made: HashSet<&LayerPath> = steps.iter().filter(makes).map(|step| &step.path).collect();
    let look = |(step, is_first): &(&Step, bool)| -> io::Result<Look> {
        let folder = match workspace.folder(step.path.parent().as_ref()) {
            Ok(folder) => folder,
            Err(error) if is_missing(&error) || is_link(&error) => {
                let will_be = || step.path.parent().is_some_and(|parent| made.contains(&parent));
                let is_fine = step.expects().is_none() && will_be() || !is_first;
                return Ok(if is_fine { Look::Fine(None) } else { Look::Foreign });
            }
            Err(error) => return Err(error),
        };
        #[allow(clippy::unnecessary_cast, reason = "the type differs from system to system")]
        if rustix::fs::fstat(&folder)?.st_dev as u64 != device {
            return Ok(Look::Elsewhere);
        }
        if !is_first {
            return Ok(Look::Fine(None));
        }
        let place = (folder.as_fd(), step.path.name());
        let found = entry(place.0, place.1)?.as_ref().map(Stamp::of);
        let stays = |names: Vec<Box<OsStr>>| {
            let path = |name: &OsStr| LayerPath::inside(Some(&step.path), name.as_bytes());
            names.iter().any(|name| !going.contains(&path(name)))
        };
        match (step.expects(), found) {
            (None, None) => Ok(Look::Fine(None)),
            (Some(_), Some(found))
                if found.kind != Kind::Folder && seen(&step.path) == Some(found) =>
            {
                Ok(Look::Fine(Some(found)))
            }
            (Some(node), Some(_)) => {
                let Some(found) = is_node(place, &node)? else { return Ok(Look::Foreign) };
                let removes = matches!(step.act, Act::RemoveFolder { .. });
                let stays = removes && stays(names(&workspace.folder(Some(&step.path))?)?);
                Ok(if stays { Look::Foreign } else { Look::Fine(Some(found)) })
            }
            _ => Ok(Look::Foreign),
        }
    };
    let looks = side_by_side(&first, |one, _| look(one));
    let (mut states, mut foreign) = (Vec::with_capacity(steps.len()), Vec::new());
    for (step, look) in steps.iter().zip(looks) {
        match look.doing("read", workspace.full(&step.path))? {
            Look::Fine(state) => states.push(state),
            Look::Foreign => foreign.push(step.path.clone()),
            Look::Elsewhere => {
                return Err(ChangesError::OtherFileSystem { path: step.path.clone() });
            }
        }
    }
    Ok(if foreign.is_empty() { Ok(states) } else { Err(foreign) })
}

enum Look {
    Fine(Option<Stamp>),
    Foreign,
    /// On another file system.
    Elsewhere,
}

/// Looks whether what is still to come is what the plan says.
pub(super) fn check_waiting(steps: &[Step], kept: &Kept) -> Result<(), ChangesError> {
    let waits = |step: &&Step| match &step.act {
        Act::Put { slot, .. } => {
            entry(kept.slots().as_fd(), &slot_name(*slot)).is_ok_and(|found| found.is_some())
        }
        _ => false,
    };
    let waiting: Vec<Step> = steps.iter().filter(waits).cloned().collect();
    check_slots(&waiting, kept)
}

/// Looks whether what comes back is what it was.
pub(super) fn check_slots(steps: &[Step], kept: &Kept) -> Result<(), ChangesError> {
    let check = |step: &Step| -> Result<(), ChangesError> {
        let (Act::Put { slot, becomes } | Act::Swap { slot, becomes, .. }) = &step.act else {
            return Ok(());
        };
        let name = slot_name(*slot);
        let path = kept.path.join("slots").join(&name);
        match is_node((kept.slots().as_fd(), &name), becomes).doing("read", &path)? {
            Some(_) => Ok(()),
            None => {
                let reason = format!("it should be `{}` as it was before", step.path);
                Err(ChangesError::Damaged { path, reason })
            }
        }
    };
    side_by_side(steps, |step, _| check(step)).into_iter().collect()
}

//! What is to come, written beside the workspace before anything there changes.
//!
//! Invariant: what is staged has the hash that was shown.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;

use basics::sha256::Sha256;
use sha2::Digest;

use super::disk::{Disk, Dress};
use super::error::{ChangesError, Doing};
use super::hash::{hash, side_by_side};
use super::node::{Node, PERMISSIONS, Stamp};
use super::path::LayerPath;
use super::plan::{Act, Part, Step};
use super::store::Kept;
use super::tree::{Tree, is_link, is_missing};

/// More files than this are waited for together.
pub(super) const MANY: usize = 32;
/// Smaller files are copied faster than shared.
const SHARED: u64 = 256 << 10;

/// The name of a slot.
pub(super) fn slot_name(slot: u32) -> OsString {
    OsString::from(slot.to_string())
}

/// Something to be staged.
struct Item<'a> {
    slot: OsString,
    path: &'a LayerPath,
    node: &'a Node,
    merged: Option<&'a [u8]>,
}

/// Fills the slots of all steps that put something in place.
pub(super) fn stage(
    (parts, steps): (&[Part], &[Step]),
    layer: &Tree,
    kept: &Kept,
    disk: &Disk,
) -> Result<(), ChangesError> {
    let merged: std::collections::HashMap<&LayerPath, &[u8]> = parts
        .iter()
        .filter_map(|part| Some((&part.change.path, part.merged.as_deref()?)))
        .collect();
    let item = |step: &'_ Step| match &step.act {
        Act::Put { slot, .. } | Act::Swap { slot, .. } => Some(slot_name(*slot)),
        _ => None,
    };
    let items: Vec<Item<'_>> = steps
        .iter()
        .filter_map(|step| {
            let node = match &step.act {
                Act::Put { becomes, .. } | Act::Swap { becomes, .. } => becomes,
                _ => return None,
            };
            let merged = merged.get(&step.path).copied();
            Some(Item { slot: item(step)?, path: &step.path, node, merged })
        })
        .collect();
    let many = items.len() > MANY;
    let stager = Stager { layer, kept, disk, many };
    let results = side_by_side(&items, |item, buffer| stager.stage(item, buffer));
    for (item, result) in items.iter().zip(results) {
        let same = match result {
            Err(error) if is_missing(&error) || is_link(&error) => false,
            result => result.doing("copy", layer.full(item.path))?,
        };
        if !same {
            return Err(ChangesError::Changed { path: item.path.clone() });
        }
    }
    kept.sync(disk, many)
}

struct Stager<'a> {
    layer: &'a Tree,
    kept: &'a Kept,
    disk: &'a Disk,
    many: bool,
}

impl Stager<'_> {
    /// Answers whether it is what was shown.
    fn stage(&self, item: &Item<'_>, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let place = (self.kept.slots().as_fd(), &*item.slot);
        match item.node {
            Node::Folder { .. } => Ok(true),
            Node::Link { target } => {
                if self.layer.link(item.path)? != *target {
                    return Ok(false);
                }
                self.disk.create_link(place, target)?;
                Ok(true)
            }
            Node::File { mode, sha256, .. } => {
                let to = self.disk.create_file(place)?;
                let (found, modified) = match item.merged {
                    Some(bytes) => {
                        self.disk.write(&item.slot, &to, bytes)?;
                        (Sha256::of(bytes), None)
                    }
                    None => {
                        let mut from = self.layer.file(item.path)?;
                        let modified = Stamp::of(&rustix::fs::fstat(&from)?).modified;
                        (self.copy(&item.slot, &mut from, &to, buffer)?, Some(modified))
                    }
                };
                self.disk.dress(&to, Dress { mode: mode & PERMISSIONS, modified })?;
                if !self.many {
                    self.disk.sync(to.as_fd())?;
                }
                Ok(found == *sha256)
            }
        }
    }

    /// Copies a file and hashes what the copy has.
    fn copy(
        &self,
        name: &OsStr,
        from: &mut File,
        mut to: &File,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Sha256> {
        let size = from.metadata()?.len();
        if size >= SHARED && self.disk.clone_content(name, from, to)? {
            to.rewind()?;
            return hash(&mut to, buffer);
        }
        buffer.resize(128 << 10, 0);
        let mut hasher = sha2::Sha256::new();
        loop {
            match from.read(buffer) {
                Ok(0) => return Ok(hasher.into()),
                Ok(count) => {
                    hasher.update(&buffer[..count]);
                    self.disk.write(name, to, &buffer[..count])?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

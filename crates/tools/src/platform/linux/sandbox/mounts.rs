//! The warden's namespaces: the same user, a private view of processes, a file system that is
//! read-only outside the writable folders.
//!
//! Read-only mounts stop what Landlock does not see: changed modes, owners, times and attributes.
//!
//! Invariant: as in [`super::child`]: no lock, no allocation, no panic.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, fstat, open};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    move_mount, open_tree,
};

use super::child::{At, write_file};
use super::raw;
use super::report::Stage;
use super::system::SHARED_MEMORY;

/// A file or folder that must still be the one that was checked when its path is followed again.
#[derive(Clone)]
pub(super) struct Anchor {
    pub(super) path: CString,
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// What the warden does in its new namespaces.
pub(super) struct Namespaces {
    /// The identity map of user and group, where there is a user namespace.
    pub(super) identity: Option<Identity>,
    /// The largest process number, in kernels that have one for each namespace.
    pub(super) last_process: Option<String>,
    /// The options of a private `/dev/shm`.
    pub(super) shared_memory: Option<CString>,
    /// What `/proc` should not show.
    pub(super) covered: Vec<Covered>,
    /// What stays writable, the deepest path first.
    pub(super) writable: Vec<Anchor>,
}

/// A path that something empty is put on.
pub(super) enum Covered {
    File(CString),
    Folder(CString),
}

/// The lines that map a user and a group to themselves.
pub(super) struct Identity {
    pub(super) user: String,
    pub(super) group: String,
}

/// Sets up the namespaces that this process was cloned into; returns the private shared memory, if there
/// is some.
pub(super) fn enter(namespaces: &Namespaces) -> Result<Option<OwnedFd>, (Stage, io::Error)> {
    if let Some(identity) = &namespaces.identity {
        map(identity).at(Stage::Identity)?;
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(c"/", private).at(Stage::Mounts)?;
    mount(c"proc", c"/proc", c"proc", INERT, None::<&CStr>).at(Stage::Processes)?;
    if let Some(number) = &namespaces.last_process {
        write_file(c"/proc/sys/kernel/pid_max", number.as_bytes()).at(Stage::Processes)?;
    }
    close_all_but(&namespaces.writable).at(Stage::Mounts)?;
    for path in &namespaces.covered {
        cover(path).at(Stage::Processes)?;
    }
    let Some(options) = &namespaces.shared_memory else { return Ok(None) };
    mount(c"tmpfs", SHARED_MEMORY, c"tmpfs", INERT, options.as_c_str()).at(Stage::Mounts)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(SHARED_MEMORY, flags, Mode::empty()).at(Stage::Mounts).map(Some)
}

/// Maps a user and a group to themselves in a new user namespace.
pub(super) fn map(identity: &Identity) -> io::Result<()> {
    write_file(c"/proc/self/setgroups", b"deny")?;
    write_file(c"/proc/self/uid_map", identity.user.as_bytes())?;
    write_file(c"/proc/self/gid_map", identity.group.as_bytes())
}

/// Puts something empty on a path.
pub(super) fn cover(covered: &Covered) -> io::Result<()> {
    match covered {
        Covered::File(path) => {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let nothing = open_tree(CWD, c"/dev/null", flags)?;
            let onto = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
            Ok(move_mount(nothing, c"", CWD, path.as_c_str(), onto)?)
        }
        Covered::Folder(path) => {
            let flags = INERT | MountFlags::RDONLY;
            Ok(mount(c"tmpfs", path.as_c_str(), c"tmpfs", flags, c"mode=0555,nr_inodes=1")?)
        }
    }
}

const INERT: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Makes everything read-only but `writable`.
///
/// Each writable place is copied before and put on top afterwards; the recursion holds the copies.
fn close_all_but(writable: &[Anchor]) -> io::Result<()> {
    let Some((place, rest)) = writable.split_first() else { return raw::make_read_only(c"/") };
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let copy = open_tree(CWD, place.path.as_c_str(), flags)?;
    verify(&copy, place)?;
    close_all_but(rest)?;
    let onto = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(copy, c"", CWD, place.path.as_c_str(), onto)?)
}

/// Opens a place again, if it is still the same.
pub(super) fn reopen(place: &Anchor) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = open(place.path.as_c_str(), flags, Mode::empty())?;
    verify(&file, place)?;
    Ok(file)
}

fn verify(file: &OwnedFd, place: &Anchor) -> io::Result<()> {
    let status = fstat(file)?;
    if (status.st_dev, status.st_ino) == (place.device, place.inode) {
        Ok(())
    } else {
        Err(rustix::io::Errno::STALE.into())
    }
}

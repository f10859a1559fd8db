//! Mounts as values: a tree of them is found, copied, changed and put somewhere else.
//!
//! Invariants: as in [`super::child`]: no lock, no allocation, no panic. No path is followed through a symbolic
//! link, because programs make some of the folders that these paths lead through.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, mknodat, openat2, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount,
    open_tree, unmount,
};

use super::raw;

/// Where the namespaces of a view show the machine's own files, to us alone.
pub(super) const HOST: &CStr = c"/.host";
/// An empty folder.
pub(super) const EMPTY: &CStr = c"/.empty";
/// An empty file that nobody may read.
pub(super) const NOTHING: &CStr = c"/.nothing";
/// Where something is put for a moment, to be named.
pub(super) const STAGE: &CStr = c"/.stage";
/// A folder and [`EMPTY`] as the layers of an overlay.
const STAGE_AND_EMPTY: &CStr = c"/.stage:/.empty";

/// Something that is made before something can be put there.
pub(super) struct Make {
    pub(super) parent: CString,
    pub(super) name: CString,
    pub(super) kind: Kind,
}

/// What is made.
pub(super) enum Kind {
    Folder,
    File,
    Link(CString),
}

/// A file or folder of the machine, and where it is seen.
pub(super) struct Place {
    /// Its path beneath [`HOST`], with that.
    pub(super) source: CString,
    pub(super) target: CString,
    pub(super) access: Access,
    /// Which file it must be: device and number.
    pub(super) identity: Option<(u64, u64)>,
}

/// How a place is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// As it is.
    Read,
    /// Such that a socket in it is not the one that somebody listens at.
    ReadApart,
    Write,
    /// A device, which can be used.
    Device,
}

/// Makes what is not there.
pub(super) fn make(wanted: &Make) -> io::Result<()> {
    let parent = find(CWD, &wanted.parent)?;
    let made = match &wanted.kind {
        Kind::Folder => mkdirat(&parent, wanted.name.as_c_str(), Mode::from_raw_mode(0o755)),
        Kind::File => {
            let kind = FileType::RegularFile;
            mknodat(&parent, wanted.name.as_c_str(), kind, Mode::empty(), 0)
        }
        Kind::Link(to) => symlinkat(to.as_c_str(), &parent, wanted.name.as_c_str()),
    };
    match made {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens what a path leads to, for no use of its content.
pub(super) fn find(base: BorrowedFd<'_>, path: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(base, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// The same beneath a folder, if it is there.
pub(super) fn find_beneath(base: BorrowedFd<'_>, path: &CStr) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    if_there(openat2(base, path, flags, Mode::empty(), resolve))
}

/// The same anywhere.
pub(super) fn find_if_there(base: BorrowedFd<'_>, path: &CStr) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    if_there(openat2(base, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))
}

fn if_there(found: Result<OwnedFd, Errno>) -> io::Result<Option<OwnedFd>> {
    match found {
        Ok(file) => Ok(Some(file)),
        // It is gone, or a link by now.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn is_folder(file: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode) == FileType::Directory)
}

/// Copies the mounts at a file or folder.
pub(super) fn copy(file: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(file, c"", flags)?)
}

/// Puts mounts on a file or folder.
pub(super) fn put(mounts: BorrowedFd<'_>, onto: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mounts, c"", onto, c"", flags)?)
}

/// Shows a place where it is to be seen.
pub(super) fn show(place: &Place) -> io::Result<()> {
    let source = find(CWD, &place.source)?;
    if let Some(identity) = place.identity {
        let status = fstat(&source)?;
        if (status.st_dev, status.st_ino) != identity {
            return Err(Errno::STALE.into());
        }
    }
    let mut mounts = copy(source.as_fd())?;
    match place.access {
        Access::Write => raw::make_copy_writable(mounts.as_fd())?,
        Access::Device => raw::make_copy_of_device(mounts.as_fd())?,
        Access::Read => raw::make_copy_read_only(mounts.as_fd())?,
        Access::ReadApart => {
            raw::make_copy_read_only(mounts.as_fd())?;
            if is_folder(source.as_fd())? {
                mounts = apart(mounts.as_fd())?;
            }
        }
    }
    put(mounts.as_fd(), find(CWD, &place.target)?.as_fd())
}

/// Shows a place; one that cannot be had apart as it is. Answers whether it is apart.
pub(super) fn show_anyway(place: &Place) -> io::Result<bool> {
    match (show(place), place.access) {
        (Ok(()), _) => Ok(true),
        // Something may be mounted in it.
        (Err(_), Access::ReadApart) => {
            let source = find(CWD, &place.source)?;
            let mounts = copy(source.as_fd())?;
            raw::make_copy_read_only(mounts.as_fd())?;
            put(mounts.as_fd(), find(CWD, &place.target)?.as_fd())?;
            Ok(false)
        }
        (Err(error), _) => Err(error),
    }
}

/// The same files in an overlay of their own.
fn apart(folder: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    put(folder, find(CWD, STAGE)?.as_fd())?;
    let made = overlay(STAGE_AND_EMPTY, None, MountAttrFlags::MOUNT_ATTR_RDONLY);
    unmount(STAGE, UnmountFlags::DETACH)?;
    made
}

/// The folders that an overlay writes to.
pub(super) struct Upper<'a> {
    pub(super) upper: &'a CStr,
    pub(super) work: &'a CStr,
}

/// An overlay of these layers.
pub(super) fn overlay(
    lower: &CStr,
    upper: Option<Upper<'_>>,
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let context = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"lowerdir", lower)?;
    if let Some(Upper { upper, work }) = upper {
        fsconfig_set_string(&context, c"upperdir", upper)?;
        fsconfig_set_string(&context, c"workdir", work)?;
    }
    fsconfig_set_flag(&context, c"userxattr")?;
    mounted(&context, attributes)
}

/// A file system in memory.
pub(super) fn memory(mode: &CStr, inodes: &CStr) -> io::Result<OwnedFd> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"mode", mode)?;
    fsconfig_set_string(&context, c"nr_inodes", inodes)?;
    fsconfig_set_string(&context, c"size", c"1m")?;
    mounted(&context, MountAttrFlags::empty())
}

fn mounted(context: &OwnedFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(context)?;
    let attributes =
        attributes | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

//! What the warden of a command does in the namespaces of a view, of which it has a copy of the mounts: it shows
//! what this command was granted, closes what is closed, and lets go of the machine's own files.
//!
//! Invariant: as in [`super::child`]: no lock, no allocation, no panic.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, open};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::child::{At, write_file};
use super::mounts::{self, Covered};
use super::raw;
use super::report::Stage;
use super::system::SHARED_MEMORY;
use super::trees::{self, Make, Place};
use crate::containment::Network;

/// The namespaces of a view; they live as long as somebody has these open.
pub(super) struct Spaces {
    /// None where root's own privileges made the others.
    pub(super) user: Option<OwnedFd>,
    pub(super) mounts: OwnedFd,
    pub(super) network: OwnedFd,
    pub(super) messages: OwnedFd,
}

/// What the warden does there.
pub(super) struct Room {
    pub(super) spaces: Arc<Spaces>,
    /// The largest process number, in kernels that have one for each namespace.
    pub(super) last_process: Option<String>,
    /// The options of a private `/dev/shm`.
    pub(super) shared_memory: CString,
    /// What `/proc` should not show.
    pub(super) covered: Vec<Covered>,
    pub(super) network: Network,
    pub(super) workspace: CString,
    /// Folders of it that are seen as they are on the machine.
    pub(super) linked: Vec<Place>,
    /// What cannot be changed, beneath the workspace.
    pub(super) protected: Vec<CString>,
    /// What cannot be read, beneath the workspace.
    pub(super) hidden: Vec<Hidden>,
    /// What cannot be read elsewhere, whatever is granted.
    pub(super) hidden_elsewhere: Vec<CString>,
    /// What is seen in place of a file beneath the workspace: its path there, and the other file.
    pub(super) replaced: Vec<(CString, CString)>,
    pub(super) makes: Vec<Make>,
    pub(super) granted: Vec<Place>,
}

impl Room {
    /// Moves this process to the namespaces; to those of the network only where no other was asked for.
    pub(super) fn join(&self) -> io::Result<()> {
        let enter = |file: &OwnedFd, kind| move_into_link_name_space(file.as_fd(), Some(kind));
        if let Some(user) = &self.spaces.user {
            enter(user, LinkNameSpaceType::User)?;
        }
        enter(&self.spaces.messages, LinkNameSpaceType::InterProcessCommunication)?;
        if self.network != Network::Internet {
            enter(&self.spaces.network, LinkNameSpaceType::Network)?;
        }
        Ok(enter(&self.spaces.mounts, LinkNameSpaceType::Mount)?)
    }
}

/// A file or folder that something empty is put on.
pub(super) struct Hidden {
    pub(super) path: CString,
    /// Whether something in it is granted after all.
    pub(super) holds_granted: bool,
}

/// Sets everything up; returns the private shared memory.
pub(super) fn enter(room: &Room) -> Result<OwnedFd, (Stage, io::Error)> {
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(c"proc", c"/proc", c"proc", quiet, None::<&CStr>).at(Stage::Processes)?;
    // When memory runs out, this tree goes before its parent.
    let _ = write_file(c"/proc/self/oom_score_adj", b"1000");
    if let Some(number) = &room.last_process {
        write_file(c"/proc/sys/kernel/pid_max", number.as_bytes()).at(Stage::Processes)?;
    }
    if room.network == Network::Private {
        // What they may hold is counted as if they held it.
        for path in [c"/proc/sys/net/ipv4/tcp_wmem", c"/proc/sys/net/ipv4/tcp_rmem"] {
            write_file(path, BUFFERS).at(Stage::Network)?;
        }
    }
    for path in &room.covered {
        mounts::cover(path).at(Stage::Processes)?;
    }
    let options = room.shared_memory.as_c_str();
    mount(c"tmpfs", SHARED_MEMORY, c"tmpfs", quiet, options).at(Stage::Mounts)?;
    let workspace = trees::find(CWD, &room.workspace).at(Stage::Folder)?;
    for place in &room.linked {
        trees::show(place).at(Stage::Grants)?;
    }
    close(room, workspace.as_fd()).at(Stage::Closed)?;
    grant(room, workspace.as_fd()).at(Stage::Grants)?;
    unmount(trees::HOST, UnmountFlags::DETACH).at(Stage::Mounts)?;
    raw::make_one_read_only(c"/").at(Stage::Mounts)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(SHARED_MEMORY, flags, Mode::empty()).at(Stage::Mounts)
}

/// The least, the usual and the largest buffer of a connection.
const BUFFERS: &[u8] = b"4096 65536 212992";

fn close(room: &Room, workspace: BorrowedFd<'_>) -> io::Result<()> {
    for path in &room.protected {
        if let Some(file) = trees::find_beneath(workspace, path)? {
            let copy = trees::copy(file.as_fd())?;
            raw::make_copy_read_only(copy.as_fd())?;
            trees::put(copy.as_fd(), file.as_fd())?;
        }
    }
    for (path, other) in &room.replaced {
        if let Some(file) = trees::find_beneath(workspace, path)? {
            put_read_only(other, file.as_fd())?;
        }
    }
    for hidden in &room.hidden {
        let Some(file) = trees::find_beneath(workspace, &hidden.path)? else { continue };
        if !trees::is_folder(file.as_fd())? {
            put_read_only(trees::NOTHING, file.as_fd())?;
        } else if hidden.holds_granted {
            trees::put(trees::memory(c"755", c"4096")?.as_fd(), file.as_fd())?;
        } else {
            put_read_only(trees::EMPTY, file.as_fd())?;
        }
    }
    Ok(())
}

fn put_read_only(path: &CStr, onto: BorrowedFd<'_>) -> io::Result<()> {
    let copy = trees::copy(trees::find(CWD, path)?.as_fd())?;
    raw::make_copy_read_only(copy.as_fd())?;
    trees::put(copy.as_fd(), onto)
}

fn grant(room: &Room, workspace: BorrowedFd<'_>) -> io::Result<()> {
    for wanted in &room.makes {
        trees::make(wanted)?;
    }
    for place in &room.granted {
        trees::show(place)?;
    }
    for path in &room.hidden_elsewhere {
        if let Some(file) = trees::find_if_there(CWD, path)? {
            let cover = if trees::is_folder(file.as_fd())? { trees::EMPTY } else { trees::NOTHING };
            put_read_only(cover, file.as_fd())?;
        }
    }
    for hidden in room.hidden.iter().filter(|hidden| hidden.holds_granted) {
        if let Some(folder) = trees::find_beneath(workspace, &hidden.path)? {
            raw::make_opened_read_only(folder.as_fd())?;
        }
    }
    Ok(())
}

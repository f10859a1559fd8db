//! Builds the namespaces of a view: a root of its own with the system's folders, the workspace under its layer,
//! and a network that has nothing but a loopback.
//!
//! A process is cloned into them, builds, hands them over as open files and ends: open files are all that keeps
//! them. The machine's own files stay at [`trees::HOST`], read-only, for the wardens of commands, which take what
//! they need from there and then let go of it.
//!
//! Invariant: as in [`super::child`]: no lock, no allocation, no panic.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::fs::{CWD, Mode, OFlags, open};
use rustix::mount::{
    MountAttrFlags, MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{
    DumpableBehavior, Signal, chdir, fchdir, pivot_root, set_dumpable_behavior,
    set_parent_process_death_signal, umask,
};

use super::child::{At, fail_with};
use super::mounts::{self, Identity};
use super::report::{self, Report, Stage};
use super::trees::{self, Access, Make, Place, Upper};
use super::{raw, system};

/// Everything the builder needs.
pub(super) struct Building {
    pub(super) identity: Option<Identity>,
    /// An empty folder on which the new root is put.
    pub(super) root: CString,
    pub(super) makes: Vec<Make>,
    /// The system's files and folders, and its devices.
    pub(super) system: Vec<Place>,
    /// What is seen as `/tmp`.
    pub(super) temporary: Place,
    /// Where the workspace is seen, made after `temporary`, which it may lie in.
    pub(super) workspace_makes: Vec<Make>,
    pub(super) workspace: Workspace,
    pub(super) report: OwnedFd,
    /// The descriptors of all the files above, sorted.
    pub(super) kept: Vec<RawFd>,
}

/// How the workspace is seen.
pub(super) enum Workspace {
    /// Itself, with this folder's `upper` over it.
    Overlay { workspace: Place, layer: Place },
    /// A folder in its place, or itself.
    Plain(Place),
}

impl Workspace {
    fn target(&self) -> &CStr {
        match self {
            Self::Overlay { workspace, .. } => &workspace.target,
            Self::Plain(place) => &place.target,
        }
    }
}

/// Where the layers of the overlay are seen while it is mounted: names without anything special in them.
pub(super) const LOWER: &CStr = c"/.lower";
pub(super) const LAYER: &CStr = c"/.layer";
const UPPER: Upper<'static> = Upper { upper: c"/.layer/upper", work: c"/.layer/work" };

/// What is handed over, in this order; then the workspace.
pub(super) const SPACES: [&CStr; 4] =
    [c"/proc/self/ns/user", c"/proc/self/ns/mnt", c"/proc/self/ns/net", c"/proc/self/ns/ipc"];

/// Runs the builder, in a process just cloned.
pub(super) fn builder(building: &Building) -> ! {
    raw::reset_signal_handlers();
    raw::close_all_but(&building.kept);
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    match build(building) {
        Ok(()) => raw::exit(0),
        Err((stage, error)) => fail_with(building.report.as_fd(), stage, &error),
    }
}

fn build(building: &Building) -> Result<(), (Stage, io::Error)> {
    // The files in `/proc/self` that are written next belong to root unless a process is dumpable.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    if let Some(identity) = &building.identity {
        mounts::map(identity).at(Stage::Identity)?;
    }
    for (which, path) in SPACES.into_iter().enumerate() {
        let space = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).at(Stage::Root)?;
        hand_over(building, which, space).at(Stage::Root)?;
    }
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    umask(Mode::empty());
    change_root(building).at(Stage::Root)?;
    show_system(building).at(Stage::System)?;
    trees::show(&building.temporary).at(Stage::Root)?;
    for wanted in &building.workspace_makes {
        trees::make(wanted).at(Stage::Layer)?;
    }
    let workspace = show_workspace(building).at(Stage::Layer)?;
    let flags = (SocketType::DGRAM, SocketFlags::CLOEXEC);
    let socket = socket_with(AddressFamily::INET, flags.0, flags.1, None).at(Stage::Network)?;
    raw::start_loopback(socket.as_fd()).at(Stage::Network)?;
    hand_over(building, SPACES.len(), workspace).at(Stage::Layer)
}

fn hand_over(building: &Building, which: usize, file: OwnedFd) -> io::Result<()> {
    let which = i32::try_from(which).unwrap_or_default();
    report::send(building.report.as_fd(), &Report::Made(which, file))
}

/// Enters an empty root, in which the machine's files are at [`trees::HOST`].
fn change_root(building: &Building) -> io::Result<()> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let root = trees::memory(c"755", c"16384")?;
    trees::put(root.as_fd(), trees::find(CWD, &building.root)?.as_fd())?;
    fchdir(&root)?;
    rustix::fs::mkdir(c".host", Mode::RWXU)?;
    pivot_root(c".", c".host")?;
    chdir(c"/")?;
    for wanted in &building.makes {
        trees::make(wanted)?;
    }
    // Only what is copied out of it can be made writable again.
    raw::make_read_only(trees::HOST)
}

fn show_system(building: &Building) -> io::Result<()> {
    let mut is_apart = true;
    for place in &building.system {
        is_apart &= trees::show_anyway(place)?;
    }
    if !is_apart {
        report::send(building.report.as_fd(), &Report::NotApart)?;
    }
    let (quiet, options) = (MountFlags::NOSUID | MountFlags::NOEXEC, system::TERMINALS);
    Ok(mount(c"devpts", c"/dev/pts", c"devpts", quiet, options)?)
}

/// Shows the workspace, and opens it.
fn show_workspace(building: &Building) -> io::Result<OwnedFd> {
    match &building.workspace {
        Workspace::Plain(place) => {
            if !trees::show_anyway(place)? {
                report::send(building.report.as_fd(), &Report::NotApart)?;
            }
        }
        Workspace::Overlay { workspace, layer } => {
            let onto = trees::find(CWD, &workspace.target)?;
            for (place, here) in [(workspace, LOWER), (layer, LAYER)] {
                let copy = trees::copy(trees::find(CWD, &place.source)?.as_fd())?;
                if place.access == Access::Write {
                    raw::make_copy_writable(copy.as_fd())?;
                }
                trees::put(copy.as_fd(), trees::find(CWD, here)?.as_fd())?;
            }
            let merged = trees::overlay(LOWER, Some(UPPER), MountAttrFlags::empty())?;
            for here in [LOWER, LAYER] {
                unmount(here, UnmountFlags::DETACH)?;
            }
            trees::put(merged.as_fd(), onto.as_fd())?;
        }
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(open(building.workspace.target(), flags, Mode::empty())?)
}

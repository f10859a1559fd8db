//! The namespaces of a view as values: how they are built once, and how each command is let in.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::build::{self, Building, LAYER, LOWER, SPACES, Workspace};
use super::kernel::Kernel;
use super::landlock;
use super::launch::Inside;
use super::plan::Plan;
use super::prepare::{self, above_standard, c_string, setup};
use super::report::{self, Report};
use super::room::{Hidden, Room, Spaces};
use super::trees::{Access, EMPTY, HOST, Kind, Make, NOTHING, Place, STAGE};
use super::{raw, system};
use crate::containment::{Closing, Confinement, Invocation, Layout, Network, SandboxError, Source};

/// The namespaces of a view; when dropped, they end.
pub(crate) struct Built {
    pub(super) spaces: Arc<Spaces>,
    workspace: OwnedFd,
    layout: Layout,
    /// Whether no socket of the machine can be reached through the system's folders.
    pub(super) is_apart: bool,
}

impl Built {
    /// The workspace as it is seen inside.
    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.workspace.as_fd()
    }

    /// A path of this process that leads to it.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.workspace.as_raw_fd()).into()
    }

    /// Whether programs can have a network of their own there.
    pub(crate) fn has_network(&self) -> bool {
        self.is_apart
    }
}

/// Builds the namespaces; none where this kernel has none.
pub(crate) fn build(kernel: &Kernel, layout: Layout) -> Result<Option<Built>, SandboxError> {
    let Some(namespacing) = kernel.namespacing else { return Ok(None) };
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    let (heard, report) = rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)
        .map_err(setup("make a socket pair"))?;
    let mut building = building(&layout, above_standard(report)?)?;
    building.identity = prepare::identity(&namespacing);
    let user = if namespacing.user { libc::CLONE_NEWUSER } else { 0 };
    let flags = user | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;
    let handle = {
        let _blocked = raw::block_signals();
        let made = raw::clone_process(flags, build::builder, &building);
        made.map_err(setup("make a process"))?.1
    };
    drop(building);
    let heard = hear(heard.as_fd());
    let _ = waitid(WaitId::PidFd(handle.as_fd()), WaitIdOptions::EXITED);
    let (mut made, is_apart) = heard?;
    let mut take = |which: usize| {
        let lost =
            || setup("build the run's namespaces")(io::Error::from(io::ErrorKind::BrokenPipe));
        i32::try_from(which).ok().and_then(|which| made.remove(&which)).ok_or_else(lost)
    };
    let (user, mounts, network, messages) = (take(0)?, take(1)?, take(2)?, take(3)?);
    let spaces = Spaces { user: namespacing.user.then_some(user), mounts, network, messages };
    Ok(Some(Built { spaces: spaces.into(), workspace: take(SPACES.len())?, layout, is_apart }))
}

/// What the builder hands over, and whether all is apart.
fn hear(socket: BorrowedFd<'_>) -> Result<(BTreeMap<i32, OwnedFd>, bool), SandboxError> {
    let (mut made, mut is_apart) = (BTreeMap::new(), true);
    loop {
        match report::receive(socket).map_err(setup("hear from the builder"))? {
            Some(Report::Made(which, file)) => drop(made.insert(which, file)),
            Some(Report::NotApart) => is_apart = false,
            Some(Report::Failed(stage, number)) => {
                return Err(setup(stage.purpose())(io::Error::from_raw_os_error(number)));
            }
            Some(_) => {}
            None => return Ok((made, is_apart)),
        }
    }
}

fn building(layout: &Layout, report: OwnedFd) -> Result<Building, SandboxError> {
    let mut makes = Makes::default();
    for folder in ["/proc", "/tmp", "/run", "/var", "/dev/pts", "/dev/shm"] {
        makes.folder(Path::new(folder));
    }
    for folder in [EMPTY, STAGE, LOWER, LAYER] {
        makes.folder(Path::new(OsStr::from_bytes(folder.to_bytes())));
    }
    makes.file(Path::new(OsStr::from_bytes(NOTHING.to_bytes())));
    for (path, to) in LINKS {
        makes.link(Path::new(path), Path::new(to));
    }
    let mut system = Vec::new();
    let settings = system::settings();
    for path in system::READABLE.iter().map(Path::new).chain(settings.iter().map(PathBuf::as_path))
    {
        system.extend(show_system(path, &mut makes)?);
    }
    let devices = [system::DEVICES, &[system::ZEROS, system::TERMINAL]].concat();
    for path in devices.into_iter().map(Path::new).filter(|path| path.exists()) {
        makes.file(path);
        system.push(place(path, path, Access::Device)?);
    }
    let mut workspace_makes = Makes::default();
    workspace_makes.folder(&layout.workspace);
    let workspace = match &layout.source {
        Source::Overlay(layer) => Workspace::Overlay {
            workspace: place(&layout.workspace, &layout.workspace, Access::Read)?,
            layer: place(layer, &layout.workspace, Access::Write)?,
        },
        Source::Copy(copy) => Workspace::Plain(place(copy, &layout.workspace, Access::Write)?),
        Source::ReadOnly => {
            Workspace::Plain(place(&layout.workspace, &layout.workspace, Access::ReadApart)?)
        }
    };
    Ok(Building {
        identity: None,
        root: c_string(layout.mount_point.as_os_str(), "a path")?,
        makes: makes.finish()?,
        system,
        temporary: place(&layout.temporary, Path::new("/tmp"), Access::Write)?,
        workspace_makes: workspace_makes.finish()?,
        workspace,
        kept: vec![report.as_raw_fd()],
        report,
    })
}

/// What programs look for at the top.
const LINKS: &[(&str, &str)] = &[
    ("/dev/ptmx", "pts/ptmx"),
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/var/run", "/run"),
    ("/var/tmp", "/tmp"),
];

/// Shows a file or folder of the system, as a link where that leads to another one.
fn show_system(path: &Path, makes: &mut Makes) -> Result<Option<Place>, SandboxError> {
    let Ok(real) = fs::canonicalize(path) else { return Ok(None) };
    // What lies in a folder that is shown is there already.
    let is_within = |path: &Path| {
        system::READABLE.iter().any(|root| path.starts_with(root) && path != Path::new(root))
    };
    if is_within(path) {
        return Ok(None);
    }
    let is_shown = |path: &Path| system::READABLE.iter().any(|root| path.starts_with(root));
    if real != path
        && is_shown(&real)
        && let Ok(to) = fs::read_link(path)
    {
        makes.link(path, &to);
        return Ok(None);
    }
    let Ok(metadata) = fs::metadata(&real) else { return Ok(None) };
    let is_program = metadata.is_dir() && !path.starts_with("/sys");
    match metadata.is_dir() {
        true => makes.folder(path),
        false => makes.file(path),
    }
    let access = if is_program { Access::ReadApart } else { Access::Read };
    place(&real, path, access).map(Some)
}

fn place(source: &Path, target: &Path, access: Access) -> Result<Place, SandboxError> {
    Ok(Place { source: host(source)?, target: c_path(target)?, access, identity: None })
}

/// Where the machine's path is seen by those who build.
fn host(path: &Path) -> Result<CString, SandboxError> {
    let path = [HOST.to_bytes(), path.as_os_str().as_bytes()].concat();
    c_string(OsStr::from_bytes(&path), "a path")
}

fn c_path(path: &Path) -> Result<CString, SandboxError> {
    c_string(path.as_os_str(), "a path")
}

/// What has to be made so that something can be put there.
#[derive(Default)]
struct Makes {
    made: HashSet<PathBuf>,
    list: Vec<(PathBuf, Option<PathBuf>, bool)>,
}

impl Makes {
    fn folder(&mut self, path: &Path) {
        self.above(path);
        self.add(path, None, true);
    }

    fn file(&mut self, path: &Path) {
        self.above(path);
        self.add(path, None, false);
    }

    fn link(&mut self, path: &Path, to: &Path) {
        self.above(path);
        self.add(path, Some(to.into()), false);
    }

    fn above(&mut self, path: &Path) {
        let above: Vec<_> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev().filter(|folder| folder.parent().is_some()) {
            self.add(folder, None, true);
        }
    }

    fn add(&mut self, path: &Path, link: Option<PathBuf>, is_folder: bool) {
        if self.made.insert(path.into()) {
            self.list.push((path.into(), link, is_folder));
        }
    }

    fn finish(self) -> Result<Vec<Make>, SandboxError> {
        let make = |(path, link, is_folder): (PathBuf, Option<PathBuf>, bool)| {
            let kind = match link {
                Some(to) => Kind::Link(c_path(&to)?),
                None if is_folder => Kind::Folder,
                None => Kind::File,
            };
            let parent = c_path(path.parent().unwrap_or(Path::new("/")))?;
            let name = c_string(path.file_name().unwrap_or_default(), "a path")?;
            Ok(Make { parent, name, kind })
        };
        self.list.into_iter().map(make).collect()
    }
}

/// Prepares the namespaces for one command.
pub(super) fn inside(
    built: &Built,
    plan: &Plan,
    confinement: &Confinement,
    closing: &Closing,
    invocation: &Invocation,
) -> Result<Inside, SandboxError> {
    let workspace = &built.layout.workspace;
    let hidden = hidden(confinement, closing, workspace);
    let mut grants =
        Grants { built, hidden: &hidden, plan, makes: Makes::default(), places: Vec::new() };
    let read = grants.show(&confinement.read, Access::ReadApart)?;
    let mut write = grants.show(&confinement.write, Access::Write)?;
    let workspace_grant = (workspace.clone(), true);
    let mut read = read;
    match built.layout.source {
        Source::ReadOnly => read.push(workspace_grant),
        Source::Overlay(_) | Source::Copy(_) => write.push(workspace_grant),
    }
    let granted = landlock::Inside { read: &read, write: &write, network: plan.network };
    let rules = landlock::rules_inside(plan.landlock_abi, &granted);
    let (makes, granted) = (grants.makes.finish()?, grants.places);
    let room = Room {
        spaces: Arc::clone(&built.spaces),
        last_process: prepare::last_process(plan, &confinement.limits),
        shared_memory: prepare::shared_memory_options(&confinement.limits)?,
        covered: system::covered().map_err(setup("look through `/proc`"))?,
        network: if confinement.network == Network::Internet {
            Network::Internet
        } else {
            plan.network
        },
        workspace: c_path(workspace)?,
        linked: linked(&closing.linked, plan)?,
        protected: beneath(&closing.protected, workspace)?,
        hidden: room_hidden(&hidden, confinement, workspace)?,
        hidden_elsewhere: hidden_elsewhere(confinement, workspace)?,
        replaced: replaced(closing, workspace)?,
        makes,
        granted,
    };
    Ok(Inside { room, rules, folder: c_path(&invocation.folder)? })
}

/// What is hidden, the outer ones first.
fn hidden(confinement: &Confinement, closing: &Closing, workspace: &Path) -> Vec<PathBuf> {
    let all = confinement.hidden.iter().chain(&closing.hidden);
    let mut hidden: Vec<_> =
        all.filter(|path| path.starts_with(workspace) && *path != workspace).cloned().collect();
    hidden.sort();
    hidden.dedup_by(|inner, outer| inner.starts_with(outer));
    hidden
}

fn room_hidden(
    hidden: &[PathBuf],
    confinement: &Confinement,
    workspace: &Path,
) -> Result<Vec<Hidden>, SandboxError> {
    let is_granted_in = |folder: &PathBuf| {
        let mut granted = confinement.read.iter().chain(&confinement.write);
        granted.any(|path| path.starts_with(folder))
    };
    let hidden = hidden.iter().map(|path| {
        Ok(Hidden { path: inner(path, workspace)?, holds_granted: is_granted_in(path) })
    });
    hidden.collect()
}

fn hidden_elsewhere(
    confinement: &Confinement,
    workspace: &Path,
) -> Result<Vec<CString>, SandboxError> {
    let elsewhere = confinement.hidden.iter().filter(|path| !path.starts_with(workspace));
    elsewhere.map(|path| c_path(path)).collect()
}

fn replaced(closing: &Closing, workspace: &Path) -> Result<Vec<(CString, CString)>, SandboxError> {
    let pair = |(path, other): &(PathBuf, PathBuf)| Ok((inner(path, workspace)?, host(other)?));
    closing.replaced.iter().map(pair).collect()
}

fn beneath(paths: &[PathBuf], workspace: &Path) -> Result<Vec<CString>, SandboxError> {
    let within = paths.iter().filter(|path| path.starts_with(workspace) && *path != workspace);
    within.map(|path| inner(path, workspace)).collect()
}

fn inner(path: &Path, workspace: &Path) -> Result<CString, SandboxError> {
    c_path(path.strip_prefix(workspace).unwrap_or(path))
}

/// Folders that a copy of the workspace was made without.
fn linked(folders: &[PathBuf], plan: &Plan) -> Result<Vec<Place>, SandboxError> {
    let access = if plan.network == Network::Private { Access::ReadApart } else { Access::Read };
    let there = folders.iter().filter(|folder| folder.is_dir());
    there.map(|folder| place(folder, folder, access)).collect()
}

/// What one command is granted, on its way into the namespaces.
struct Grants<'a> {
    built: &'a Built,
    hidden: &'a [PathBuf],
    plan: &'a Plan,
    makes: Makes,
    places: Vec<Place>,
}

impl Grants<'_> {
    /// Shows these; returns them with whether they are folders.
    fn show(
        &mut self,
        paths: &[PathBuf],
        access: Access,
    ) -> Result<Vec<(PathBuf, bool)>, SandboxError> {
        let mut shown = Vec::new();
        for path in paths {
            let refused = |source| SandboxError::Grant { path: path.clone(), source };
            let real = match access {
                Access::Write | Access::Device => {
                    prepare::open_checked(path)?;
                    path.clone()
                }
                Access::Read | Access::ReadApart => fs::canonicalize(path).map_err(refused)?,
            };
            let metadata = fs::metadata(&real).map_err(refused)?;
            let is_folder = metadata.is_dir();
            shown.push((real.clone(), is_folder));
            if self.is_there(&real, access) {
                continue;
            }
            self.make(&real, is_folder);
            let access = match access {
                Access::ReadApart if self.plan.network != Network::Private => Access::Read,
                access => access,
            };
            let identity = Some((metadata.dev(), metadata.ino()));
            self.places.push(Place { identity, ..place(&real, &real, access)? });
        }
        Ok(shown)
    }

    /// Whether something is seen inside without any doing.
    fn is_there(&self, path: &Path, access: Access) -> bool {
        let is_hidden = self.hidden.iter().any(|hidden| path.starts_with(hidden));
        let in_workspace = path.starts_with(&self.built.layout.workspace) && !is_hidden;
        in_workspace || access != Access::Write && system::is_system_folder(path)
    }

    /// Beneath something hidden only what comes after it: that is empty, and the way there is not ours.
    fn make(&mut self, path: &Path, is_folder: bool) {
        if let Some(hidden) = self.hidden.iter().find(|hidden| path.starts_with(hidden)) {
            self.makes.made.extend(hidden.ancestors().map(Path::to_owned));
        }
        match is_folder {
            true => self.makes.folder(path),
            false => self.makes.file(path),
        }
    }
}

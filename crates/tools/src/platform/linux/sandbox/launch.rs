//! Starts a sandboxed process from values that were all prepared before it exists.

use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid,
};

use super::filter::Filters;
use super::mounts::{Anchor, Namespaces};
use super::plan::Plan;
use super::prepare::{self, above_standard, setup};
use super::room::Room;
use super::{child, filter, landlock, raw};
use crate::containment::{self, Confinement, Invocation, SandboxError};

/// How the child keeps its processes apart and together.
pub(super) enum Isolation {
    Namespaces(Namespaces),
    /// In the namespaces of a view.
    Room(Room),
    Supervised,
    Swept,
}

/// Holds a process back until something is written.
pub(super) struct Gate {
    pub(super) wait: OwnedFd,
    pub(super) opener: OwnedFd,
}

/// Where the program starts.
pub(super) enum WorkingFolder {
    Checked(Anchor),
    /// Whatever this path leads to inside.
    Inside(CString),
}

/// In what surroundings a program starts.
pub(super) enum Setting<'a> {
    /// The machine as it is, in this folder.
    Machine(&'a Path),
    /// The namespaces of a view.
    Room(Box<Inside>),
}

/// The namespaces of a view for one command.
pub(super) struct Inside {
    pub(super) room: Room,
    /// All that is granted there.
    pub(super) rules: Vec<(CString, u64)>,
    pub(super) folder: CString,
}

/// A program and what it is started with.
pub(super) struct Command {
    pub(super) program: CString,
    pub(super) arguments: raw::Strings,
    pub(super) environment: raw::Strings,
}

/// Everything the child needs.
pub(super) struct Prepared {
    pub(super) isolation: Isolation,
    pub(super) confined: bool,
    /// Where this process keeps its command line, which the program could read of the warden.
    pub(super) command_line: Option<Range<usize>>,
    /// None to end where the program would start.
    pub(super) command: Option<Command>,
    pub(super) folder: WorkingFolder,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) report: OwnedFd,
    /// Where the program's process waits until it is traced, if it is to be.
    pub(super) gate: Option<Gate>,
    /// How many traced processes and threads may live.
    pub(super) traced_limit: u64,
    pub(super) limits: Vec<(Resource, Rlimit)>,
    pub(super) ruleset: Option<OwnedFd>,
    /// Rules for what exists only inside the namespaces.
    pub(super) inner_rules: Vec<(CString, u64)>,
    pub(super) filters: Option<Filters>,
    pub(super) stack: raw::Stack,
    /// For the process that joins the namespaces of a view.
    joining: raw::Stack,
    /// The descriptors of all the files above, sorted.
    pub(super) kept: Vec<RawFd>,
}

impl Prepared {
    fn keep_descriptors(mut self) -> Self {
        let gate = self.gate.iter().flat_map(|gate| [&gate.wait, &gate.opener]);
        let files = [&self.stdin, &self.stdout, &self.stderr, &self.report];
        let files = files.into_iter().chain(&self.ruleset).chain(gate);
        self.kept = files.map(AsRawFd::as_raw_fd).collect();
        self.kept.sort_unstable();
        self
    }
}

/// A started sandbox, seen from outside; when dropped, it has ended.
pub(super) struct Launched {
    /// The warden.
    pub(super) process: Pid,
    handle: OwnedFd,
    stop: Signal,
    pub(super) report: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Launched {
    /// Has the whole tree killed.
    pub(super) fn stop(&self) {
        // A warden that has ended already needs no signal.
        let _ = pidfd_send_signal(&self.handle, self.stop);
    }

    /// Waits until the warden, and with it the tree, is gone.
    pub(super) fn reap(&self) {
        while let Err(Errno::INTR) =
            waitid(WaitId::PidFd(self.handle.as_fd()), WaitIdOptions::EXITED)
        {}
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.stop();
        self.reap();
    }
}

/// Builds the walls of `plan` and starts `invocation` inside, or only builds them.
pub(super) fn launch(
    plan: &Plan,
    confinement: &Confinement,
    setting: Setting<'_>,
    invocation: Option<&Invocation>,
) -> Result<Launched, SandboxError> {
    let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(setup("make a pipe"));
    let (stdout, stdout_end) = pipe()?;
    let (stderr, stderr_end) = pipe()?;
    for end in [&stdout, &stderr] {
        rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK).map_err(setup("prepare a pipe"))?;
    }
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    let (report, report_end) = rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)
        .map_err(setup("make a socket pair"))?;
    let Walls { isolation, folder, ruleset, inner_rules } = walls(plan, confinement, setting)?;
    let stdin = invocation.map(|invocation| invocation.stdin.clone()).unwrap_or_default();
    let prepared = Prepared {
        isolation,
        confined: plan.confined,
        command_line: prepare::command_line(),
        command: invocation.map(prepare::command).transpose()?,
        folder,
        stdin: above_standard(prepare::input(&stdin)?)?,
        stdout: above_standard(stdout_end)?,
        stderr: above_standard(stderr_end)?,
        report: above_standard(report_end)?,
        gate: plan.traced.then(prepare::gate).transpose()?,
        traced_limit: if plan.traced { confinement.limits.processes } else { u64::MAX },
        limits: prepare::limits(plan, &confinement.limits),
        ruleset,
        inner_rules,
        filters: plan.seccomp.then(|| filter::compile(plan, plan.network)),
        stack: raw::Stack::new(),
        joining: raw::Stack::new(),
        kept: Vec::new(),
    }
    .keep_descriptors();
    let _blocked = raw::block_signals();
    let flags = clone_flags(plan);
    let (process, handle) = match plan.joins {
        false => raw::clone_process(flags, child::warden, &prepared),
        true => raw::clone_elsewhere(join, flags, child::warden, &prepared, &prepared.joining),
    }
    .map_err(setup("make a process"))?;
    // A namespace dies with its first process; without one the warden must live to sweep.
    let stop = match plan.isolation {
        containment::Isolation::Namespaces => Signal::KILL,
        containment::Isolation::Supervised | containment::Isolation::Swept => Signal::TERM,
    };
    Ok(Launched { process, handle, stop, report, stdout, stderr })
}

/// Goes to where the namespaces of a view are.
fn join(prepared: &Prepared) -> io::Result<()> {
    match &prepared.isolation {
        Isolation::Room(room) => room.join(),
        Isolation::Namespaces(_) | Isolation::Supervised | Isolation::Swept => Ok(()),
    }
}

/// What keeps the program in, and where it starts.
struct Walls {
    isolation: Isolation,
    folder: WorkingFolder,
    ruleset: Option<OwnedFd>,
    inner_rules: Vec<(CString, u64)>,
}

fn walls(
    plan: &Plan,
    confinement: &Confinement,
    setting: Setting<'_>,
) -> Result<Walls, SandboxError> {
    let folder = match setting {
        Setting::Machine(folder) => folder,
        Setting::Room(inside) => {
            let Inside { room, rules, folder } = *inside;
            let ruleset = (plan.landlock_abi > 0)
                .then(|| landlock::closed_ruleset(plan.landlock_abi, plan.network));
            return Ok(Walls {
                isolation: Isolation::Room(room),
                folder: WorkingFolder::Inside(folder),
                ruleset: ruleset.transpose().map_err(setup("make a Landlock ruleset"))?,
                inner_rules: rules,
            });
        }
    };
    let writable = prepare::open_writable(confinement)?;
    let shared_memory = plan.isolation == containment::Isolation::Namespaces
        && prepare::may_cover_shared_memory(confinement, folder);
    Ok(Walls {
        isolation: prepare::isolation(plan, confinement, &writable, shared_memory)?,
        folder: WorkingFolder::Checked(prepare::open_checked(folder)?.1),
        ruleset: prepare::ruleset(plan, confinement, &writable)?,
        inner_rules: match plan.isolation {
            containment::Isolation::Namespaces => {
                landlock::inner_rules(plan.landlock_abi, shared_memory)
            }
            containment::Isolation::Supervised | containment::Isolation::Swept => Vec::new(),
        },
    })
}

fn clone_flags(plan: &Plan) -> i32 {
    let namespaces = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
    match plan.isolation {
        containment::Isolation::Namespaces if plan.namespacing.user && !plan.joins => {
            namespaces | libc::CLONE_NEWUSER
        }
        containment::Isolation::Namespaces => namespaces,
        containment::Isolation::Supervised | containment::Isolation::Swept => 0,
    }
}

//! From the copied process to the program: the code between fork and exec.
//!
//! Two processes run this. The first is the warden: process 1 of the new namespaces, or the reaper
//! of all orphans where there are none. It makes the walls that need a process tree, starts the
//! second, reaps everything and outlives it. The second closes the walls around itself and becomes
//! the program.
//!
//! Invariant: no lock, no allocation, no panic; only system calls on values prepared before.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{CWD, Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, chdir, fchdir, kill_process, set_child_subreaper,
    set_dumpable_behavior, set_parent_process_death_signal, setrlimit, setsid,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

use super::launch::{Gate, Isolation, Prepared, WorkingFolder};
use super::reap::{self, End};
use super::report::{self, Report, Stage};
use super::{mounts, raw, room};

/// Runs the warden, in a process just cloned.
pub(super) fn warden(prepared: &Prepared) -> ! {
    raw::reset_signal_handlers();
    // The parent may have many open, and other sandboxes wait for some of them to be closed.
    raw::close_all_but(&prepared.kept);
    let namespaces = matches!(prepared.isolation, Isolation::Namespaces(_) | Isolation::Room(_));
    // A killed warden takes its namespace along; without one it must live to sweep.
    let on_parent_death = if namespaces { Signal::KILL } else { Signal::TERM };
    let _ = set_parent_process_death_signal(Some(on_parent_death));
    // The parent may have died before the line above: then nobody reads this.
    if report::send(prepared.report.as_fd(), &Report::Started).is_err() {
        raw::exit(1);
    }
    let script = match enclose(prepared) {
        Ok(script) => script,
        Err((stage, error)) => fail(prepared, stage, &error),
    };
    raw::close_all_but(&[prepared.report.as_raw_fd()]);
    let say_running = || drop(report::send(prepared.report.as_fd(), &Report::Running));
    if prepared.gate.is_none() {
        // It shared our memory, and we waited, until it became the program.
        say_running();
    }
    let end = reap::until(script, prepared.traced_limit, say_running);
    if !namespaces {
        reap::sweep();
    }
    let report = match end {
        End::Ended(status) => Report::Ended(status),
        End::Asked => Report::Ended(Signal::KILL.as_raw()),
        End::Crowded => Report::Crowded,
    };
    let _ = report::send(prepared.report.as_fd(), &report);
    // In a namespace this kills whatever is left.
    raw::exit(0)
}

fn fail(prepared: &Prepared, stage: Stage, error: &io::Error) -> ! {
    fail_with(prepared.report.as_fd(), stage, error)
}

/// Says what failed, and ends this process.
pub(super) fn fail_with(report: BorrowedFd<'_>, stage: Stage, error: &io::Error) -> ! {
    let number = error.raw_os_error().unwrap_or_default();
    let _ = report::send(report, &Report::Failed(stage, number));
    raw::exit(1)
}

/// Makes the walls of the tree and starts the process that becomes the program.
fn enclose(prepared: &Prepared) -> Result<Pid, (Stage, io::Error)> {
    // The files in `/proc/self` that are written next belong to root unless a process is dumpable.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    // When memory runs out, this tree goes before its parent.
    let _ = write_file(c"/proc/self/oom_score_adj", b"1000");
    let shared_memory = match &prepared.isolation {
        Isolation::Namespaces(namespaces) => mounts::enter(namespaces)?,
        Isolation::Room(room) => Some(room::enter(room)?),
        Isolation::Supervised | Isolation::Swept => {
            set_child_subreaper(Pid::from_raw(1)).at(Stage::Processes)?;
            None
        }
    };
    if let Some(folder) = shared_memory {
        report::send(prepared.report.as_fd(), &Report::SharedMemory(folder)).at(Stage::Mounts)?;
    }
    if prepared.confined {
        let none = CapabilitySet::empty();
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, none).at(Stage::Privileges)?;
        set_no_new_privs(true).at(Stage::Privileges)?;
    }
    match &prepared.gate {
        Some(gate) => start_traced(prepared, gate),
        None => {
            hide(prepared).at(Stage::Privileges)?;
            raw::clone_sharing(program, prepared, &prepared.stack).at(Stage::Start)
        }
    }
}

/// This process holds a copy of its parent's memory, keys included: nobody may look at it.
fn hide(prepared: &Prepared) -> io::Result<()> {
    if let Some(place) = &prepared.command_line {
        raw::wipe_command_line(place);
    }
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Starts the program's process behind a gate that opens once it is traced.
fn start_traced(prepared: &Prepared, gate: &Gate) -> Result<Pid, (Stage, io::Error)> {
    let (script, _) = raw::clone_process(0, gated_program, prepared).at(Stage::Start)?;
    // A hidden process cannot be traced, so this one hides only after its copy was made.
    let traced = raw::trace(script).and_then(|()| hide(prepared)).at(Stage::Trace);
    match traced.and_then(|()| rustix::io::write(&gate.opener, b"x").at(Stage::Start)) {
        Ok(_) => Ok(script),
        Err(error) => {
            let _ = kill_process(script, Signal::KILL);
            Err(error)
        }
    }
}

fn gated_program(prepared: &Prepared) -> ! {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if let Some(gate) = &prepared.gate
        && let Ok(1) = rustix::io::read(&gate.wait, &mut [0])
    {
        program(prepared);
    }
    raw::exit(1)
}

/// Runs in the process that becomes the program.
fn program(prepared: &Prepared) -> ! {
    match confine(prepared) {
        Ok(()) => {}
        Err((stage, error)) => fail(prepared, stage, &error),
    }
    let Some(command) = &prepared.command else { raw::exit(0) };
    let error = raw::execute(&command.program, &command.arguments, &command.environment);
    fail(prepared, Stage::Execute, &error)
}

fn confine(prepared: &Prepared) -> Result<(), (Stage, io::Error)> {
    set_parent_process_death_signal(Some(Signal::KILL)).at(Stage::Session)?;
    setsid().at(Stage::Session)?;
    for (resource, limit) in &prepared.limits {
        setrlimit(*resource, *limit).at(Stage::Limits)?;
    }
    enter_folder(&prepared.folder).at(Stage::Folder)?;
    rustix::stdio::dup2_stdin(&prepared.stdin).at(Stage::Streams)?;
    rustix::stdio::dup2_stdout(&prepared.stdout).at(Stage::Streams)?;
    rustix::stdio::dup2_stderr(&prepared.stderr).at(Stage::Streams)?;
    raw::close_on_exec_from(3);
    if let Some(ruleset) = &prepared.ruleset {
        for (path, access) in &prepared.inner_rules {
            match open(path.as_c_str(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                Ok(file) => raw::landlock_allow(ruleset.as_fd(), file.as_fd(), *access)
                    .at(Stage::Landlock)?,
                // What is not there needs no rule.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error).at(Stage::Landlock),
            }
        }
        raw::landlock_enter(ruleset.as_fd()).at(Stage::Landlock)?;
    }
    raw::unblock_signals();
    enter_filters(prepared).at(Stage::Seccomp)
}

fn enter_folder(folder: &WorkingFolder) -> io::Result<()> {
    match folder {
        WorkingFolder::Checked(place) => Ok(fchdir(mounts::reopen(place)?)?),
        WorkingFolder::Inside(path) => Ok(chdir(path.as_c_str())?),
    }
}

fn enter_filters(prepared: &Prepared) -> io::Result<()> {
    let Some(filters) = &prepared.filters else { return Ok(()) };
    if let Some(handing_over) = &filters.handing_over {
        let listener = raw::seccomp_enter_supervised(handing_over)?;
        report::send(prepared.report.as_fd(), &Report::Supervise(listener))?;
    }
    raw::seccomp_enter(&filters.refusing)
}

/// Writes all of `content` to a file that exists.
pub(super) fn write_file(path: &CStr, content: &[u8]) -> io::Result<()> {
    let file = rustix::fs::openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    match rustix::io::write(file, content)? {
        written if written == content.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Says at which stage something failed.
pub(super) trait At<T> {
    /// Adds the stage to the error.
    fn at(self, stage: Stage) -> Result<T, (Stage, io::Error)>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, stage: Stage) -> Result<T, (Stage, io::Error)> {
        self.map_err(|error| (stage, error.into()))
    }
}

//! The warden's wait: reaps the tree while it lives, and kills what is left of it.
//!
//! Where there are no namespaces the tree is traced, not to look into it but because a traced
//! process cannot start another one behind the tracer's back: a new one waits, before its first
//! instruction, until the warden lets it go or kills it. That makes a sweep end, however fast they
//! multiply.
//!
//! Invariant: as in [`super::child`]: no lock, no allocation, no panic.

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};

use super::raw;

/// Children of every kind, threads of traced processes included.
const ALL: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());

/// Why the warden stopped waiting.
pub(super) enum End {
    /// The program ended, with this wait status.
    Ended(i32),
    /// The parent asked to stop.
    Asked,
    /// There were more processes and threads than may be.
    Crowded,
}

/// Reaps until `script` has ended, the parent asks to stop, or more than `limit` traced tasks live; says
/// when a traced one has become the program.
pub(super) fn until(script: Pid, limit: u64, say_running: impl Fn()) -> End {
    let mut living = 1_u64;
    let mut is_running = false;
    loop {
        while let Ok(Some((process, status))) = wait(ALL | WaitOptions::NOHANG) {
            if status.stopped() {
                if !is_running && status.as_raw() >> 16 == libc::PTRACE_EVENT_EXEC {
                    is_running = true;
                    say_running();
                }
                living = living.wrapping_add_signed(let_go_on(process, status));
            } else if process == script {
                return End::Ended(status.as_raw());
            } else {
                living = living.saturating_sub(1);
            }
            if living > limit {
                return End::Crowded;
            }
        }
        if raw::wait_for_child_or_stop() {
            return End::Asked;
        }
    }
}

/// A traced process stopped: it started another, or is that other, or got a signal. Returns how
/// many more live.
fn let_go_on(process: Pid, status: WaitStatus) -> i64 {
    let (signal, event) = (status.stopping_signal().unwrap_or_default(), status.as_raw() >> 16);
    let (more, gone_on) = match (event, signal) {
        (libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE, _) => {
            (1, raw::trace_continue(process, 0))
        }
        (libc::PTRACE_EVENT_EXEC, _) => (vanished(process), raw::trace_continue(process, 0)),
        (
            libc::PTRACE_EVENT_STOP,
            libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU,
        ) => (0, raw::trace_leave_stopped(process)),
        (0, signal) => (0, raw::trace_continue(process, signal)),
        _ => (0, raw::trace_continue(process, 0)),
    };
    // A process that is gone by now does not mind.
    drop(gone_on);
    more
}

/// A thread that executes a program takes the place of its process's first thread, whose end nobody
/// reports.
fn vanished(process: Pid) -> i64 {
    let id = process.as_raw_nonzero().get();
    match raw::trace_former_thread(process) {
        Ok(former) if former != u64::from(id.unsigned_abs()) => -1,
        _ => 0,
    }
}

/// Kills and reaps until no descendant is left.
///
/// The children of a killed process become children of this one, so each round reaches one level
/// further. A child that has not been reaped keeps its number, so no stranger can be hit.
pub(super) fn sweep() {
    loop {
        for_each_child(kill);
        let mut ended = wait(ALL);
        loop {
            match ended {
                Ok(Some((process, status))) if status.stopped() => kill(process),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
            ended = wait(ALL | WaitOptions::NOHANG);
        }
    }
}

fn kill(process: Pid) {
    let _ = kill_process(process, Signal::KILL);
}

fn for_each_child(visit: fn(Pid)) {
    let Ok(file) =
        open(c"/proc/thread-self/children", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    else {
        return;
    };
    let mut bytes = [0; 4096];
    let mut number = 0_i32;
    while let Ok(length @ 1..) = rustix::io::read(&file, &mut bytes) {
        for byte in bytes.iter().take(length) {
            if byte.is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
            } else if let Some(child) = Pid::from_raw(std::mem::take(&mut number)) {
                visit(child);
            }
        }
    }
}

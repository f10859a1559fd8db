//! Tracing: a process and all it starts report to us first, and die with us.

use std::ffi::c_int;
use std::io;

use libc::{c_long, c_ulong};
use rustix::process::Pid;

use super::checked;

/// Follows `process` and everything it will start: what ends or stops is reported to us first, and
/// if we die, they die.
pub(in super::super) fn trace(process: Pid) -> io::Result<()> {
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC;
    ptrace(libc::PTRACE_SEIZE.into(), process, options)
}

/// Lets a traced process that stopped go on, with this signal if it is not 0.
pub(in super::super) fn trace_continue(process: Pid, signal: c_int) -> io::Result<()> {
    ptrace(libc::PTRACE_CONT.into(), process, signal)
}

/// Leaves a traced process stopped, as it was asked to be, until it is asked to continue.
pub(in super::super) fn trace_leave_stopped(process: Pid) -> io::Result<()> {
    ptrace(libc::PTRACE_LISTEN.into(), process, 0)
}

/// The number that a thread had before it became, by executing a program, the only one of its
/// process.
pub(in super::super) fn trace_former_thread(process: Pid) -> io::Result<u64> {
    let mut message: c_ulong = 0;
    let process = process.as_raw_nonzero().get();
    // SAFETY: the kernel writes one integer of this size.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, process, 0_usize, &raw mut message) })?;
    Ok(message)
}

fn ptrace(request: c_long, process: Pid, data: c_int) -> io::Result<()> {
    let (process, data) = (c_long::from(process.as_raw_nonzero().get()), c_long::from(data));
    // SAFETY: these requests take numbers only and touch no memory of ours.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, process, 0_usize, data) }).map(drop)
}

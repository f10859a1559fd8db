//! New processes, in copied or in shared memory.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{OwnedFd, RawFd};

use libc::c_long;
use rustix::process::Pid;

use super::super::launch::Prepared;
use super::{checked, owned};

/// Starts a copy of this process, in the namespaces that `flags` ask for, which runs `body`.
pub(in super::super) fn clone_process(
    flags: c_int,
    body: fn(&Prepared) -> !,
    prepared: &Prepared,
) -> io::Result<(Pid, OwnedFd)> {
    let flags = c_long::from(flags | libc::CLONE_PIDFD | libc::SIGCHLD);
    let mut descriptor: RawFd = -1;
    // SAFETY: without `CLONE_VM` the new process has its own copy of this stack, so returning twice
    // is sound; what it runs keeps this module's invariant.
    let process = unsafe {
        libc::syscall(libc::SYS_clone, flags, 0_usize, &raw mut descriptor, 0_usize, 0_usize)
    };
    if process == 0 {
        body(prepared);
    }
    let process = identifier(process)?;
    Ok((process, owned(descriptor.into())?))
}

fn identifier(result: c_long) -> io::Result<Pid> {
    let process = c_int::try_from(checked(result)?).map_err(|_| io::ErrorKind::InvalidData)?;
    Pid::from_raw(process).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Memory for the stack of a process that shares ours until it becomes another program.
pub(in super::super) struct Stack(Box<MaybeUninit<UnsafeCell<[u128; 16 << 10]>>>);

impl Stack {
    pub(in super::super) fn new() -> Self {
        Self(Box::new_uninit())
    }

    fn top(&self) -> *mut c_void {
        UnsafeCell::raw_get(self.0.as_ptr()).wrapping_add(1).cast()
    }
}

/// Starts a process that runs `body` in our memory while we wait until it becomes another program
/// or ends.
///
/// Not copying the memory a second time is what makes this cheap.
pub(in super::super) fn clone_sharing(
    body: fn(&Prepared) -> !,
    prepared: &Prepared,
) -> io::Result<Pid> {
    struct Start<'a>(fn(&Prepared) -> !, &'a Prepared);
    extern "C" fn run(start: *mut c_void) -> c_int {
        // SAFETY: the pointer is to the `Start` below, which outlives the wait.
        let start = unsafe { &*start.cast::<Start<'_>>() };
        start.0(start.1)
    }
    let mut start = Start(body, prepared);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is aligned, ours and unused by anybody else, and this thread does not
    // continue before the new process has left it.
    let process = unsafe { libc::clone(run, prepared.stack.top(), flags, (&raw mut start).cast()) };
    identifier(process.into())
}

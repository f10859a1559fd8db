//! New processes, in copied or in shared memory.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{OwnedFd, RawFd};

use libc::c_long;
use rustix::process::Pid;

use super::{checked, owned};

/// Starts a copy of this process, in the namespaces that `flags` ask for, which runs `body`.
pub(in super::super) fn clone_process<T>(
    flags: c_int,
    body: fn(&T) -> !,
    prepared: &T,
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
pub(in super::super) fn clone_sharing<T>(
    body: fn(&T) -> !,
    prepared: &T,
    stack: &Stack,
) -> io::Result<Pid> {
    struct Start<'a, T>(fn(&T) -> !, &'a T);
    extern "C" fn run<T>(start: *mut c_void) -> c_int {
        // SAFETY: the pointer is to the `Start` below, which outlives the wait.
        let start = unsafe { &*start.cast::<Start<'_, T>>() };
        start.0(start.1)
    }
    let mut start = Start(body, prepared);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is aligned, ours and unused by anybody else, and this thread does not
    // continue before the new process has left it.
    let process = unsafe { libc::clone(run::<T>, stack.top(), flags, (&raw mut start).cast()) };
    identifier(process.into())
}

/// Where a process that only makes another one leaves what came of it.
struct Joining<'a, T> {
    join: fn(&T) -> io::Result<()>,
    flags: c_long,
    body: fn(&T) -> !,
    prepared: &'a T,
    /// The new process or a negative error number, and its handle.
    made: Cell<(c_long, RawFd)>,
}

/// Starts a process that is our child but lives where `join` leads: a second process, which shares our memory
/// and our descriptors while we wait, goes there, makes it and ends.
pub(in super::super) fn clone_elsewhere<T>(
    join: fn(&T) -> io::Result<()>,
    flags: c_int,
    body: fn(&T) -> !,
    prepared: &T,
    stack: &Stack,
) -> io::Result<(Pid, OwnedFd)> {
    let flags = c_long::from(flags | libc::CLONE_PARENT | libc::CLONE_PIDFD | libc::SIGCHLD);
    let mut joining = Joining { join, flags, body, prepared, made: Cell::new((0, -1)) };
    let sharing = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES | libc::SIGCHLD;
    let start = (&raw mut joining).cast();
    // SAFETY: the stack is aligned, ours and unused by anybody else, and this thread does not
    // continue before the second process has ended.
    let second = unsafe { libc::clone(join_and_clone::<T>, stack.top(), sharing, start) };
    let second = identifier(second.into())?;
    while let Err(rustix::io::Errno::INTR) =
        rustix::process::waitpid(Some(second), rustix::process::WaitOptions::empty())
    {}
    let (process, handle) = joining.made.get();
    match c_int::try_from(process) {
        Ok(number @ ..=0) => Err(io::Error::from_raw_os_error(-number)),
        _ => Ok((identifier(process)?, owned(handle.into())?)),
    }
}

extern "C" fn join_and_clone<T>(start: *mut c_void) -> c_int {
    // SAFETY: the pointer is to the `Joining` of a caller that waits for this process to end.
    let joining = unsafe { &*start.cast::<Joining<'_, T>>() };
    let number = |error: &io::Error| -c_long::from(error.raw_os_error().unwrap_or(libc::EINVAL));
    if let Err(error) = (joining.join)(joining.prepared) {
        joining.made.set((number(&error), -1));
        return 1;
    }
    let mut descriptor: RawFd = -1;
    // SAFETY: without `CLONE_VM` the new process has its own copy of this stack, so returning twice
    // is sound; what it runs keeps this module's invariant.
    let process = unsafe {
        libc::syscall(
            libc::SYS_clone,
            joining.flags,
            0_usize,
            &raw mut descriptor,
            0_usize,
            0_usize,
        )
    };
    if process == 0 {
        (joining.body)(joining.prepared);
    }
    let failed = || number(&io::Error::last_os_error());
    joining.made.set((if process < 0 { failed() } else { process }, descriptor));
    0
}

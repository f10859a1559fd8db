//! System calls that no crate offers in safe form, each behind a safe function.
//!
//! Invariant: everything that [`clone_process`] runs in the new process makes system calls only: it
//! takes no lock, allocates nothing and cannot unwind, because the threads that may hold the locks
//! do not exist there.
#![expect(
    unsafe_code,
    reason = "system calls without a safe binding, and the code between fork and exec"
)]

mod clone;
mod landlock;
mod seccomp;
mod signal;
mod trace;

use std::ffi::{CStr, CString, c_char, c_int};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::{io, ptr};

use libc::c_long;

pub(super) use clone::{Stack, clone_elsewhere, clone_process, clone_sharing};
pub(super) use landlock::{
    Handled, landlock_allow, landlock_create, landlock_enter, landlock_version,
};
pub(super) use seccomp::{
    Answer, Call, notify_answer, notify_is_valid, notify_receive, seccomp_enter,
    seccomp_enter_supervised,
};
pub(super) use signal::{
    block_signals, reset_signal_handlers, unblock_signals, wait_for_child_or_stop,
};
pub(super) use trace::{trace, trace_continue, trace_former_thread, trace_leave_stopped};

fn checked(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn owned(result: c_long) -> io::Result<OwnedFd> {
    let descriptor = RawFd::try_from(checked(result)?).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the kernel just made this descriptor for us, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

const NO_SET_ID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// Makes the mount at `path` and all mounts beneath it read-only and without set-user-id programs.
pub(super) fn make_read_only(path: &CStr) -> io::Result<()> {
    let (set, flags) = (libc::MOUNT_ATTR_RDONLY | NO_SET_ID, libc::AT_RECURSIVE);
    set_mount(libc::AT_FDCWD, path, flags, set, 0)
}

/// The same for the mount at `path` alone.
pub(super) fn make_one_read_only(path: &CStr) -> io::Result<()> {
    set_mount(libc::AT_FDCWD, path, 0, libc::MOUNT_ATTR_RDONLY | NO_SET_ID, 0)
}

/// The same for a copy of mounts that is not in its place yet.
pub(super) fn make_copy_read_only(copy: BorrowedFd<'_>) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    let set = libc::MOUNT_ATTR_RDONLY | NO_SET_ID | NO_DEVICES;
    set_mount(copy.as_raw_fd(), c"", flags, set, 0)
}

/// The same for the mount alone whose root is open.
pub(super) fn make_opened_read_only(root: BorrowedFd<'_>) -> io::Result<()> {
    let set = libc::MOUNT_ATTR_RDONLY | NO_SET_ID;
    set_mount(root.as_raw_fd(), c"", libc::AT_EMPTY_PATH, set, 0)
}

/// Makes a copy of a mount writable, without set-user-id programs and devices.
pub(super) fn make_copy_writable(copy: BorrowedFd<'_>) -> io::Result<()> {
    let (set, clear) = (NO_SET_ID | NO_DEVICES, libc::MOUNT_ATTR_RDONLY);
    set_mount(copy.as_raw_fd(), c"", libc::AT_EMPTY_PATH, set, clear)
}

/// The same for one that is a device.
pub(super) fn make_copy_of_device(copy: BorrowedFd<'_>) -> io::Result<()> {
    set_mount(copy.as_raw_fd(), c"", libc::AT_EMPTY_PATH, NO_SET_ID, libc::MOUNT_ATTR_RDONLY)
}

fn set_mount(at: RawFd, path: &CStr, flags: c_int, set: u64, clear: u64) -> io::Result<()> {
    let attributes =
        libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    // SAFETY: a C string and a structure of the size that is given.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at,
            path.as_ptr(),
            flags,
            ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// Starts the loopback interface of this network namespace.
pub(super) fn start_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the structure consists of integers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
        *place = byte.cast_signed() as c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as _;
    // SAFETY: the kernel reads a structure of this kind.
    let result =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    checked(result.into()).map(drop)
}

/// A null-terminated array of C strings, as `execve` wants it.
pub(super) struct Strings {
    pointers: Vec<*const c_char>,
    _owned: Vec<CString>,
}

impl Strings {
    pub(super) fn new(strings: Vec<CString>) -> Self {
        // A C string's bytes are on the heap: moving the vector does not move them.
        let mut pointers: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
        pointers.push(ptr::null());
        Self { pointers, _owned: strings }
    }
}

/// Becomes `program`, or returns why not.
pub(super) fn execute(program: &CStr, arguments: &Strings, environment: &Strings) -> io::Error {
    // SAFETY: both arrays end with a null pointer and their strings live as long as they do.
    unsafe {
        libc::execve(program.as_ptr(), arguments.pointers.as_ptr(), environment.pointers.as_ptr());
    }
    io::Error::last_os_error()
}

/// Marks every descriptor from `first` on to be closed by `execve`.
pub(super) fn close_on_exec_from(first: RawFd) {
    for_range(first, RawFd::MAX, 4, |descriptor| {
        // SAFETY: no memory is involved, and nobody minds a descriptor that does not exist.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    });
}

/// Closes every descriptor but those `kept`, which are sorted.
///
/// Only for a process that has just been copied: the original keeps its own, and the copy never
/// uses the others.
pub(super) fn close_all_but(kept: &[RawFd]) {
    let close = |descriptor| {
        // SAFETY: what owned the descriptor is the original's, as said above.
        unsafe { libc::close(descriptor) };
    };
    let mut first = 0;
    for descriptor in kept {
        for_range(first, descriptor.wrapping_sub(1), 0, close);
        first = descriptor.wrapping_add(1);
    }
    for_range(first, RawFd::MAX, 0, close);
}

/// Applies `close_range`; kernels before 5.11 do not know it, or its flag.
fn for_range(first: RawFd, last: RawFd, flags: c_int, otherwise: impl Fn(RawFd)) {
    const MOST: RawFd = 4096;
    if first > last {
        return;
    }
    // SAFETY: no memory is involved.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } < 0 {
        (first..=last.min(MOST)).for_each(otherwise);
    }
}

/// Overwrites the command line that others can read of this process, where the kernel keeps it.
pub(super) fn wipe_command_line(place: &Range<usize>) {
    let start = ptr::with_exposed_provenance_mut::<u8>(place.start);
    // SAFETY: the kernel named this range of our stack, and this process, a copy, never reads it
    // again.
    unsafe { ptr::write_bytes(start, 0, place.len()) };
}

/// Ends this process at once, without running anything of ours.
pub(super) fn exit(code: c_int) -> ! {
    // SAFETY: does not return, runs no handlers.
    unsafe { libc::_exit(code) }
}

//! Seccomp: a filter is entered, and the calls it hands over are received and answered.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use libc::{c_long, c_ulong, sock_filter};

use super::{checked, owned};

/// Puts the calling thread, and what it starts, under the filter.
pub(in super::super) fn seccomp_enter(program: &[sock_filter]) -> io::Result<()> {
    seccomp(program, 0).map(drop)
}

/// Like [`seccomp_enter`], and returns where the supervisor learns of the calls that the filter
/// hands over.
pub(in super::super) fn seccomp_enter_supervised(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let listen = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Without the second flag (before Linux 5.19) a signal can make a supervised call fail with
    // `EINTR`.
    seccomp(program, listen | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
        .or_else(|_| seccomp(program, listen))
        .and_then(owned)
}

fn seccomp(program: &[sock_filter], flags: c_ulong) -> io::Result<c_long> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies `length` instructions from a live slice and writes nothing.
    checked(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            ptr::from_ref(&program),
        )
    })
}

/// A call that waits for the supervisor's answer.
pub(in super::super) type Call = libc::seccomp_notif;

/// The supervisor's answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Answer {
    /// Let the kernel do it.
    Continue,
    /// It has been done.
    Done,
    /// It fails with this error number.
    Fail(c_int),
}

const NOTIFY_RECEIVE: c_ulong = 0xc050_2100;
const NOTIFY_SEND: c_ulong = 0xc018_2101;
const NOTIFY_VALID: c_ulong = 0x4008_2102;

/// Takes the next supervised call.
pub(in super::super) fn notify_receive(listener: BorrowedFd<'_>) -> io::Result<Call> {
    // SAFETY: the structure consists of integers, for which zero is a value, and the kernel wants
    // it zeroed.
    let mut call: Call = unsafe { mem::zeroed() };
    // SAFETY: the kernel fills the structure that the request's size names.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_RECEIVE as _, &raw mut call) };
    checked(result.into()).map(|_| call)
}

/// Whether the caller still waits, so that what was read from its memory was its own.
pub(in super::super) fn notify_is_valid(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one integer.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_VALID as _, &raw const id) == 0 }
}

/// Answers a supervised call.
pub(in super::super) fn notify_answer(
    listener: BorrowedFd<'_>,
    id: u64,
    answer: Answer,
) -> io::Result<()> {
    let (error, flags) = match answer {
        Answer::Continue => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Answer::Done => (0, 0),
        Answer::Fail(error) => (-error, 0),
    };
    let mut response = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the kernel reads the structure that the request's size names.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_SEND as _, &raw mut response) };
    checked(result.into()).map(drop)
}

//! System calls that no crate offers in safe form, each behind a safe function.
//!
//! Invariant: everything that [`clone_process`] runs in the new process makes system calls only: it takes no
//! lock, allocates nothing and cannot unwind, because the threads that may hold the locks do not exist there.
#![expect(unsafe_code, reason = "system calls without a safe binding, and the code between fork and exec")]

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::{c_long, c_ulong, sock_filter};
use rustix::process::Pid;

use super::launch::Prepared;

/// What a Landlock ruleset refuses unless a rule grants it.
#[repr(C)]
pub(super) struct Handled {
    pub(super) files: u64,
    pub(super) ports: u64,
    pub(super) scopes: u64,
}

fn checked(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn owned(result: c_long) -> io::Result<OwnedFd> {
    let descriptor = RawFd::try_from(checked(result)?).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the kernel just made this descriptor for us, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The Landlock version of this kernel.
pub(super) fn landlock_version() -> io::Result<u32> {
    const VERSION: c_long = 1;
    // SAFETY: with this flag the kernel reads no memory.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<c_void>(), 0_usize, VERSION)
    };
    u32::try_from(checked(version)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Makes a ruleset; fields that are zero are left out, since older kernels do not know them.
pub(super) fn landlock_create(handled: &Handled) -> io::Result<OwnedFd> {
    let fields = if handled.scopes != 0 { 3 } else if handled.ports != 0 { 2 } else { 1 };
    // SAFETY: the pointer is to `fields` initialised integers.
    owned(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::from_ref(handled),
            fields * size_of::<u64>(),
            0,
        )
    })
}

/// Grants `access` on `file` and, if it is a folder, on everything beneath it.
pub(super) fn landlock_allow(ruleset: BorrowedFd<'_>, file: BorrowedFd<'_>, access: u64) -> io::Result<()> {
    const PATH_BENEATH: c_int = 1;
    #[repr(C, packed)]
    struct PathBeneath {
        access: u64,
        file: RawFd,
    }
    let rule = PathBeneath { access, file: file.as_raw_fd() };
    // SAFETY: the pointer is to an initialised structure of the kind that `PATH_BENEATH` announces.
    checked(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            ptr::from_ref(&rule),
            0,
        )
    })
    .map(drop)
}

/// Puts the calling thread, and what it starts, under the ruleset.
pub(super) fn landlock_enter(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) }).map(drop)
}

/// Puts the calling thread, and what it starts, under the filter.
pub(super) fn seccomp_enter(program: &[sock_filter]) -> io::Result<()> {
    seccomp(program, 0).map(drop)
}

/// Like [`seccomp_enter`], and returns where the supervisor learns of the calls that the filter hands over.
pub(super) fn seccomp_enter_supervised(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let listen = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Without the second flag (before Linux 5.19) a signal can make a supervised call fail with `EINTR`.
    seccomp(program, listen | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
        .or_else(|_| seccomp(program, listen))
        .and_then(owned)
}

fn seccomp(program: &[sock_filter], flags: c_ulong) -> io::Result<c_long> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies `length` instructions from a live slice and writes nothing.
    checked(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, ptr::from_ref(&program))
    })
}

/// A call that waits for the supervisor's answer.
pub(super) type Call = libc::seccomp_notif;

/// The supervisor's answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
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
pub(super) fn notify_receive(listener: BorrowedFd<'_>) -> io::Result<Call> {
    // SAFETY: the structure consists of integers, for which zero is a value, and the kernel wants it zeroed.
    let mut call: Call = unsafe { mem::zeroed() };
    // SAFETY: the kernel fills the structure that the request's size names.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_RECEIVE as _, &raw mut call) }.into())?;
    Ok(call)
}

/// Whether the caller still waits, so that what was read from its memory was its own.
pub(super) fn notify_is_valid(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one integer.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_VALID as _, &raw const id) == 0 }
}

/// Answers a supervised call.
pub(super) fn notify_answer(listener: BorrowedFd<'_>, id: u64, answer: Answer) -> io::Result<()> {
    let (error, flags) = match answer {
        Answer::Continue => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Answer::Done => (0, 0),
        Answer::Fail(error) => (-error, 0),
    };
    let mut response = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the kernel reads the structure that the request's size names.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_SEND as _, &raw mut response) }.into()).map(drop)
}

/// Makes the mount at `path` and all mounts beneath it read-only and without set-user-id programs.
pub(super) fn make_read_only(path: &CStr) -> io::Result<()> {
    const NO_SET_ID: u64 = 2;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | NO_SET_ID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: a C string and a structure of the size that is given.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
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
pub(super) fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    const CLOSE_ON_EXEC: c_int = 4;
    close_range(first, RawFd::MAX, CLOSE_ON_EXEC)
}

/// Closes every descriptor but one.
///
/// Only for a process that owns nothing else any more: what held the descriptors must not use them again.
pub(super) fn close_all_but(kept: BorrowedFd<'_>) {
    let kept = kept.as_raw_fd();
    let _ = close_range(0, kept - 1, 0);
    let _ = close_range(kept + 1, RawFd::MAX, 0);
}

fn close_range(first: RawFd, last: RawFd, flags: c_int) -> io::Result<()> {
    // SAFETY: no memory is involved.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) }).map(drop)
}

/// All signals of this thread, held back until dropped.
pub(super) struct SignalsBlocked(libc::sigset_t);

/// Holds back all signals, so that no handler of ours runs in a process that is being set up.
pub(super) fn block_signals() -> SignalsBlocked {
    // SAFETY: both sets are initialised by the calls that fill them; the calls cannot fail.
    unsafe {
        let mut all = mem::zeroed();
        let mut before = mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        SignalsBlocked(before)
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: the set was filled by the call that blocked the signals.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Gives every signal its default meaning again.
pub(super) fn reset_signal_handlers() {
    const LAST: c_int = 64;
    for signal in 1..=LAST {
        // SAFETY: the default action involves no function of ours; numbers that cannot be set are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Lets all signals through.
pub(super) fn unblock_signals() {
    // SAFETY: the set is initialised by the call that empties it.
    unsafe {
        let mut none = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Waits until a child changes or somebody asks to stop; the answer is whether to stop.
pub(super) fn wait_for_child_or_stop() -> bool {
    // SAFETY: the set is initialised by the call that empties it, and no information is asked for.
    unsafe {
        let mut awaited = mem::zeroed();
        libc::sigemptyset(&raw mut awaited);
        libc::sigaddset(&raw mut awaited, libc::SIGCHLD);
        libc::sigaddset(&raw mut awaited, libc::SIGTERM);
        libc::sigwaitinfo(&raw const awaited, ptr::null_mut()) == libc::SIGTERM
    }
}

/// Follows `process` and everything it will start: what ends or stops is reported to us first, and if we die,
/// they die.
pub(super) fn trace(process: Pid) -> io::Result<()> {
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC;
    ptrace(libc::PTRACE_SEIZE, process, options)
}

/// Lets a traced process that stopped go on, with this signal if it is not 0.
pub(super) fn trace_continue(process: Pid, signal: c_int) -> io::Result<()> {
    ptrace(libc::PTRACE_CONT, process, signal)
}

/// Leaves a traced process stopped, as it was asked to be, until it is asked to continue.
pub(super) fn trace_leave_stopped(process: Pid) -> io::Result<()> {
    ptrace(libc::PTRACE_LISTEN, process, 0)
}

/// The number that a thread had before it became, by executing a program, the only one of its process.
pub(super) fn trace_former_thread(process: Pid) -> io::Result<u64> {
    let mut message: c_ulong = 0;
    let process = process.as_raw_nonzero().get();
    // SAFETY: the kernel writes one integer of this size.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, process, 0_usize, &raw mut message) })?;
    Ok(message)
}

fn ptrace(request: libc::c_uint, process: Pid, data: c_int) -> io::Result<()> {
    let process = process.as_raw_nonzero().get();
    // SAFETY: these requests take numbers only and touch no memory of ours.
    checked(unsafe { libc::ptrace(request, process, 0_usize, c_long::from(data)) }).map(drop)
}

/// Overwrites the command line that others can read of this process, where the kernel keeps it.
pub(super) fn wipe_command_line(place: &Range<usize>) {
    let start = ptr::with_exposed_provenance_mut::<u8>(place.start);
    // SAFETY: the kernel named this range of our stack, and this process, a copy, never reads it again.
    unsafe { ptr::write_bytes(start, 0, place.len()) };
}

/// Ends this process at once, without running anything of ours.
pub(super) fn exit(code: c_int) -> ! {
    // SAFETY: does not return, runs no handlers.
    unsafe { libc::_exit(code) }
}

/// Starts a copy of this process, in the namespaces that `flags` ask for, which runs `body`.
pub(super) fn clone_process(
    flags: c_int,
    body: fn(&Prepared) -> !,
    prepared: &Prepared,
) -> io::Result<(Pid, OwnedFd)> {
    let flags = c_long::from(flags | libc::CLONE_PIDFD | libc::SIGCHLD);
    let mut descriptor: RawFd = -1;
    // SAFETY: without `CLONE_VM` the new process has its own copy of this stack, so returning twice is sound;
    // what it runs keeps this module's invariant.
    let process = unsafe { libc::syscall(libc::SYS_clone, flags, 0, &raw mut descriptor, 0, 0) };
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
pub(super) struct Stack(Box<MaybeUninit<UnsafeCell<[u128; 16 << 10]>>>);

impl Stack {
    pub(super) fn new() -> Self {
        Self(Box::new_uninit())
    }

    fn top(&self) -> *mut c_void {
        UnsafeCell::raw_get(self.0.as_ptr()).wrapping_add(1).cast()
    }
}

/// Starts a process that runs `body` in our memory while we wait until it becomes another program or ends.
///
/// Not copying the memory a second time is what makes this cheap.
pub(super) fn clone_sharing(body: fn(&Prepared) -> !, prepared: &Prepared) -> io::Result<Pid> {
    struct Start<'a>(fn(&Prepared) -> !, &'a Prepared);
    extern "C" fn run(start: *mut c_void) -> c_int {
        // SAFETY: the pointer is to the `Start` below, which outlives the wait.
        let start = unsafe { &*start.cast::<Start<'_>>() };
        start.0(start.1)
    }
    let mut start = Start(body, prepared);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is aligned, ours and unused by anybody else, and this thread does not continue
    // before the new process has left it.
    let process = unsafe { libc::clone(run, prepared.stack.top(), flags, (&raw mut start).cast()) };
    identifier(process.into())
}

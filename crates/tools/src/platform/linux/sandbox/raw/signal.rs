//! Signals: held back, reset, let through and waited for.

use std::ffi::c_int;
use std::mem;
use std::ptr;

/// All signals of this thread, held back until dropped.
pub(in super::super) struct SignalsBlocked(libc::sigset_t);

/// Holds back all signals, so that no handler of ours runs in a process that is being set up.
pub(in super::super) fn block_signals() -> SignalsBlocked {
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
pub(in super::super) fn reset_signal_handlers() {
    const LAST: c_int = 64;
    for signal in 1..=LAST {
        // SAFETY: the default action involves no function of ours; numbers that cannot be set are
        // refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Lets all signals through.
pub(in super::super) fn unblock_signals() {
    // SAFETY: the set is initialised by the call that empties it.
    unsafe {
        let mut none = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Waits until a child changes or somebody asks to stop; the answer is whether to stop.
pub(in super::super) fn wait_for_child_or_stop() -> bool {
    // SAFETY: the set is initialised by the call that empties it, and no information is asked for.
    unsafe {
        let mut awaited = mem::zeroed();
        libc::sigemptyset(&raw mut awaited);
        libc::sigaddset(&raw mut awaited, libc::SIGCHLD);
        libc::sigaddset(&raw mut awaited, libc::SIGTERM);
        libc::sigwaitinfo(&raw const awaited, ptr::null_mut()) == libc::SIGTERM
    }
}

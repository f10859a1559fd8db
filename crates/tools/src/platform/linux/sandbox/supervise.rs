//! Decides on calls that neither Landlock nor a filter can judge: how much memory is mapped to be shared,
//! and, where there are no namespaces to make them harmless, signals and changes of a file's mode, owner
//! and times.
//!
//! Invariant: what is judged is what happens. Arguments that are numbers were copied by the kernel,
//! so the call may go on; a path is in memory that the program can change, so the supervisor opens
//! the file, judges what it opened and makes the change itself.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use libc::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, EFAULT, ENOMEM, EPERM};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::Errno;
use rustix::process::Pid;

use super::filter::FCHMODAT2;
use super::raw::{self, Answer, Call};
use super::tree;
use crate::containment::Confinement;

/// Answers the calls of one sandbox.
pub(super) struct Supervisor {
    pub(super) listener: OwnedFd,
    root: Pid,
    writable: Vec<PathBuf>,
    /// Bytes of shared memory that were ever mapped.
    ///
    /// None is given back: the pages live until the last process has unmapped the last of them, and nobody
    /// but root can see when that is.
    pub(super) shared: u64,
    shared_limit: u64,
}

/// A change of a file, and to which file.
struct Change {
    /// An open file, which is meant itself or is where a relative path begins.
    folder: i32,
    /// The path's address.
    path: Option<u64>,
    flags: i32,
    kind: Kind,
}

enum Kind {
    Mode(u32),
    Owner(u32, u32),
    /// The address of two times, or 0 for now.
    Times(u64),
}

impl Supervisor {
    /// Decides for the descendants of `root`, within their confinement.
    pub(super) fn new(listener: OwnedFd, root: Pid, confinement: &Confinement) -> Self {
        let (writable, shared_limit) = (confinement.write.clone(), confinement.limits.memory);
        Self { listener, root, writable, shared: 0, shared_limit }
    }

    /// Takes one call and answers it; the answer here is whether there can be more.
    pub(super) fn serve(&mut self) -> bool {
        match raw::notify_receive(self.listener.as_fd()) {
            Ok(call) => {
                let answer = self.judge(&call);
                // A caller that is gone by now does not matter.
                let _ = raw::notify_answer(self.listener.as_fd(), call.id, answer);
                true
            }
            // Only this caller is gone, or we were interrupted.
            Err(error) => matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)),
        }
    }

    fn judge(&mut self, call: &Call) -> Answer {
        let argument = call.data.args;
        match i64::from(call.data.nr) {
            libc::SYS_mmap => self.judge_sharing(argument[1]),
            libc::SYS_kill
            | libc::SYS_tkill
            | libc::SYS_tgkill
            | libc::SYS_rt_sigqueueinfo
            | libc::SYS_rt_tgsigqueueinfo => self.judge_signal(argument[0] as i32),
            number => match change(number, &argument) {
                Some(change) => {
                    self.make(call, &change).map_or_else(Answer::Fail, |()| Answer::Done)
                }
                None => Answer::Fail(EPERM),
            },
        }
    }

    /// The filter hands over what maps shared memory.
    fn judge_sharing(&mut self, length: u64) -> Answer {
        const PAGE: u64 = 4096;
        let total = self.shared.saturating_add(length.saturating_add(PAGE - 1) / PAGE * PAGE);
        if total > self.shared_limit {
            return Answer::Fail(ENOMEM);
        }
        self.shared = total;
        Answer::Continue
    }

    /// A signal may go to the sandbox's own processes and groups; -1 would mean everything the user
    /// runs.
    fn judge_signal(&self, target: i32) -> Answer {
        let processes = || tree::descendants(self.root).into_iter();
        let own = match target {
            0 => true,
            -1 | i32::MIN => false,
            1.. => {
                processes().any(|process| process.id == target || has_thread(process.id, target))
            }
            // A group lies within a session, and every session of the sandbox began inside it.
            _ => processes().any(|process| tree::group_of(&process) == Some(-target)),
        };
        if own { Answer::Continue } else { Answer::Fail(EPERM) }
    }

    fn make(&self, call: &Call, change: &Change) -> Result<(), i32> {
        let file = open(call, change)?;
        if !raw::notify_is_valid(self.listener.as_fd(), call.id) {
            return Err(EPERM);
        }
        let through = format!("/proc/self/fd/{}", file.as_raw_fd());
        let real = std::fs::read_link(&through).map_err(number_of)?;
        if !self.writable.iter().any(|folder| real.starts_with(folder)) {
            return Err(EPERM);
        }
        match change.kind {
            Kind::Mode(mode) => rustix::fs::chmod(&through, Mode::from_raw_mode(mode)),
            Kind::Times(address) => {
                let times = read_times(call, address)?;
                rustix::fs::utimensat(CWD, &through, &times, AtFlags::empty())
            }
            Kind::Owner(user, group) => keep_owner(&file, user, group),
        }
        .map_err(Errno::raw_os_error)
    }
}

fn number_of(error: io::Error) -> i32 {
    error.raw_os_error().unwrap_or(EPERM)
}

fn has_thread(process: i32, thread: i32) -> bool {
    PathBuf::from(format!("/proc/{process}/task/{thread}")).exists()
}

/// An owner cannot be changed without privileges; programs that ask to keep it are content.
fn keep_owner(file: &OwnedFd, user: u32, group: u32) -> Result<(), Errno> {
    const KEEP: u32 = u32::MAX;
    let status = rustix::fs::fstat(file)?;
    let same = [KEEP, status.st_uid].contains(&user) && [KEEP, status.st_gid].contains(&group);
    if same { Ok(()) } else { Err(Errno::PERM) }
}

/// What a call would change, if it is one that changes metadata.
fn change(number: i64, argument: &[u64; 6]) -> Option<Change> {
    let int = |at: usize| argument[at] as i32;
    let mode = |at: usize| Kind::Mode(argument[at] as u32);
    let owner = |at: usize| Kind::Owner(argument[at] as u32, argument[at + 1] as u32);
    let of_file = |kind| Change { folder: int(0), path: None, flags: 0, kind };
    let below = |flags, kind| Change { folder: int(0), path: Some(argument[1]), flags, kind };
    #[cfg(target_arch = "x86_64")]
    let here = |flags, kind| Change { folder: AT_FDCWD, path: Some(argument[0]), flags, kind };
    Some(match number {
        libc::SYS_fchmod => of_file(mode(1)),
        libc::SYS_fchmodat => below(0, mode(2)),
        FCHMODAT2 => below(int(3), mode(2)),
        libc::SYS_fchown => of_file(owner(1)),
        libc::SYS_fchownat => below(int(4), owner(2)),
        libc::SYS_utimensat if argument[1] == 0 => of_file(Kind::Times(argument[2])),
        libc::SYS_utimensat => below(int(3), Kind::Times(argument[2])),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => here(0, mode(1)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown => here(0, owner(1)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => here(AT_SYMLINK_NOFOLLOW, owner(1)),
        _ => return None,
    })
}

/// Opens, without any right to its content, the file that the caller means.
fn open(call: &Call, change: &Change) -> Result<OwnedFd, i32> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let at = |path: &str| rustix::fs::open(path, flags, Mode::empty()).map_err(Errno::raw_os_error);
    let folder = || match change.folder {
        AT_FDCWD => at(&format!("/proc/{}/cwd", call.pid)),
        number => at(&format!("/proc/{}/fd/{number}", call.pid)),
    };
    let Some(address) = change.path else { return folder() };
    let path = read_path(call, address)?;
    if path.is_empty() && change.flags & AT_EMPTY_PATH != 0 {
        return folder();
    }
    let base = if path.to_bytes().starts_with(b"/") { at("/")? } else { folder()? };
    let unfollowed = change.flags & AT_SYMLINK_NOFOLLOW != 0;
    let flags = if unfollowed { flags | OFlags::NOFOLLOW } else { flags };
    // Links of `/proc` would lead to our own files instead of the caller's.
    let resolve = ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(base, &path, flags, Mode::empty(), resolve).map_err(Errno::raw_os_error)
}

fn memory(call: &Call) -> Result<File, i32> {
    File::open(format!("/proc/{}/mem", call.pid)).map_err(number_of)
}

fn read_path(call: &Call, address: u64) -> Result<CString, i32> {
    const PAGE: u64 = 4096;
    let memory = memory(call)?;
    let mut path = Vec::new();
    let mut position = address;
    while path.len() < libc::PATH_MAX.cast_unsigned() as usize {
        // Never across a page boundary: the next page may not exist.
        let mut part = vec![0; (PAGE - position % PAGE) as usize];
        memory.read_exact_at(&mut part, position).map_err(|_| EFAULT)?;
        if let Some(end) = part.iter().position(|byte| *byte == 0) {
            path.extend(&part[..end]);
            return CString::new(path).map_err(|_| EFAULT);
        }
        position = position.checked_add(part.len() as u64).ok_or(EFAULT)?;
        path.extend(part);
    }
    Err(libc::ENAMETOOLONG)
}

fn read_times(call: &Call, address: u64) -> Result<Timestamps, i32> {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    if address == 0 {
        return Ok(Timestamps { last_access: now, last_modification: now });
    }
    let mut bytes = [0; 32];
    memory(call)?.read_exact_at(&mut bytes, address).map_err(|_| EFAULT)?;
    let mut numbers = bytes.as_chunks::<8>().0.iter().map(|number| i64::from_ne_bytes(*number));
    let mut time = || Some(Timespec { tv_sec: numbers.next()?, tv_nsec: numbers.next()? });
    let last_access = time().ok_or(EFAULT)?;
    let last_modification = time().ok_or(EFAULT)?;
    Ok(Timestamps { last_access, last_modification })
}

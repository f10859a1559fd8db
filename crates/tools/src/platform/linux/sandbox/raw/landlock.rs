//! Landlock: a ruleset is made, filled and entered.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr;

use libc::c_long;

use super::{checked, owned};

/// What a Landlock ruleset refuses unless a rule grants it.
#[repr(C)]
pub(in super::super) struct Handled {
    pub(in super::super) files: u64,
    pub(in super::super) ports: u64,
    pub(in super::super) scopes: u64,
}

/// The Landlock version of this kernel.
pub(in super::super) fn landlock_version() -> io::Result<u32> {
    const VERSION: c_long = 1;
    // SAFETY: with this flag the kernel reads no memory.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<c_void>(), 0_usize, VERSION)
    };
    u32::try_from(checked(version)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Makes a ruleset; fields that are zero are left out, since older kernels do not know them.
pub(in super::super) fn landlock_create(handled: &Handled) -> io::Result<OwnedFd> {
    let fields = if handled.scopes != 0 {
        3
    } else if handled.ports != 0 {
        2
    } else {
        1
    };
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
pub(in super::super) fn landlock_allow(
    ruleset: BorrowedFd<'_>,
    file: BorrowedFd<'_>,
    access: u64,
) -> io::Result<()> {
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
pub(in super::super) fn landlock_enter(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
        .map(drop)
}

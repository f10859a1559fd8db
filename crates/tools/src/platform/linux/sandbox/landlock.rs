//! Which files the program may open, as a Landlock ruleset made before the program exists.
//!
//! Invariant: a right that the kernel knows is always handled, so what no rule grants is refused.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::ops::Bound;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::raw;
use super::system;
use crate::containment::Network;

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const RESOLVE_UNIX: u64 = 1 << 16;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
/// Everything but device nodes, socket files and device commands.
const WRITE: u64 = READ
    | WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
    | TRUNCATE;
const DEVICE: u64 = READ_FILE | WRITE_FILE | TRUNCATE;
/// The rights that make sense on something that is not a folder; the kernel refuses the others
/// there.
const ON_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
/// Terminals.
const TERMINAL: u64 = READ | WRITE_FILE | TRUNCATE | IOCTL_DEV;

/// What the ruleset grants.
pub(super) struct Grants<'a> {
    pub(super) read: &'a [PathBuf],
    /// Sorted, so that what lies beneath a folder comes right after it.
    pub(super) hidden: BTreeSet<&'a Path>,
    /// Opened by the caller, which checked that nothing on their way is a symbolic link.
    pub(super) write: Vec<BorrowedFd<'a>>,
    pub(super) network: Network,
    /// Whether `/proc` will show nothing but the sandbox's own processes.
    pub(super) private_processes: bool,
}

/// A path that could not become a rule.
pub(super) struct Refused {
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}

/// Makes the ruleset that grants `grants` and refuses the rest, as far as version `abi` reaches.
pub(super) fn ruleset(abi: u32, grants: &Grants<'_>) -> Result<OwnedFd, Refused> {
    let refused = |path: &Path, source: io::Error| Refused { path: path.into(), source };
    let handled = handled(abi, grants.network);
    let ruleset = raw::landlock_create(&handled).map_err(|e| refused(Path::new("/"), e))?;
    let rules = Rules { ruleset, handled: handled.files };
    for path in system::READABLE {
        rules.allow_if_present(Path::new(path), READ)?;
    }
    for path in system::settings() {
        rules.allow_if_present(&path, READ)?;
    }
    for path in system::DEVICES {
        rules.allow_if_present(Path::new(path), DEVICE)?;
    }
    rules.allow_if_present(Path::new(system::ZEROS), READ_FILE)?;
    if !grants.private_processes {
        for path in system::ABOUT_THE_MACHINE {
            rules.allow_if_present(Path::new(path), READ)?;
        }
    }
    for path in grants.read {
        rules.allow_except(path, &grants.hidden)?;
    }
    for file in &grants.write {
        rules.allow_open(*file, WRITE).map_err(|e| refused(Path::new("writable folder"), e))?;
    }
    Ok(rules.ruleset)
}

/// The rules for mounts that exist only inside the sandbox's namespaces: the paths and what they
/// grant.
pub(super) fn inner_rules(abi: u32, shared_memory: bool) -> Vec<(CString, u64)> {
    let handled = handled(abi, Network::Denied).files;
    let mut rules = vec![(c"/proc".to_owned(), READ & handled)];
    if shared_memory {
        rules.push((system::SHARED_MEMORY.to_owned(), WRITE & handled));
    }
    rules
}

/// A ruleset that grants nothing yet.
pub(super) fn closed_ruleset(abi: u32, network: Network) -> io::Result<OwnedFd> {
    raw::landlock_create(&handled(abi, network))
}

/// What the namespaces of a view grant: all of it is opened inside.
pub(super) struct Inside<'a> {
    /// Files and folders, and whether they are folders.
    pub(super) read: &'a [(PathBuf, bool)],
    pub(super) write: &'a [(PathBuf, bool)],
    pub(super) network: Network,
}

/// The rules for them: the paths and what they grant.
pub(super) fn rules_inside(abi: u32, inside: &Inside<'_>) -> Vec<(CString, u64)> {
    let handled = handled(abi, inside.network).files;
    let sockets = match inside.network {
        Network::Private => MAKE_SOCK | RESOLVE_UNIX,
        Network::Denied | Network::Internet => 0,
    };
    let settings = system::settings();
    let system =
        system::READABLE.iter().map(Path::new).chain(settings.iter().map(PathBuf::as_path));
    let system = system.filter_map(|path| Some((path, READ, path.metadata().ok()?.is_dir())));
    let devices = system::DEVICES.iter().map(|path| (Path::new(path), DEVICE, false));
    let own = [
        (Path::new(system::ZEROS), READ_FILE, false),
        (Path::new(system::TERMINAL), DEVICE | IOCTL_DEV, false),
        // Nothing is there but what was put there.
        (Path::new("/"), READ_DIR, true),
        (Path::new("/dev/pts"), TERMINAL, true),
        (Path::new("/dev/shm"), WRITE, true),
        (Path::new("/proc"), READ, true),
        (Path::new("/tmp"), WRITE | sockets, true),
    ];
    let read = inside.read.iter().map(|(path, is_folder)| (path.as_path(), READ, *is_folder));
    let write =
        inside.write.iter().map(|(path, is_folder)| (path.as_path(), WRITE | sockets, *is_folder));
    let all = system.chain(devices).chain(own).chain(read).chain(write);
    all.filter_map(|(path, access, is_folder)| {
        let fitting = if is_folder { access } else { access & ON_FILES };
        Some((CString::new(path.as_os_str().as_bytes()).ok()?, fitting & handled))
    })
    .collect()
}

fn handled(abi: u32, network: Network) -> raw::Handled {
    let files = match abi {
        0 | 1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        5..=8 => (1 << 16) - 1,
        // Version 9 adds the connection to a named Unix socket.
        _ => (1 << 17) - 1,
    };
    // Binding and connecting TCP; abstract Unix sockets and signals that lead out.
    let ports = if abi >= 4 && network == Network::Denied { 0b11 } else { 0 };
    raw::Handled { files, ports, scopes: if abi >= 6 { 0b11 } else { 0 } }
}

struct Rules {
    ruleset: OwnedFd,
    handled: u64,
}

impl Rules {
    fn allow_open(&self, file: BorrowedFd<'_>, access: u64) -> io::Result<()> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode);
        let fitting = if kind == FileType::Directory { access } else { access & ON_FILES };
        raw::landlock_allow(self.ruleset.as_fd(), file, fitting & self.handled)
    }

    fn allow(&self, path: &Path, access: u64) -> Result<(), Refused> {
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(io::Error::from)
            .and_then(|file| self.allow_open(file.as_fd(), access))
            .map_err(|source| Refused { path: path.into(), source })
    }

    fn allow_if_present(&self, path: &Path, access: u64) -> Result<(), Refused> {
        match self.allow(path, access) {
            Err(refused) if is_absent(&refused.source) => Ok(()),
            result => result,
        }
    }

    /// Landlock cannot subtract: a folder with something hidden beneath it can be listed, and is
    /// otherwise granted entry by entry.
    fn allow_except(&self, path: &Path, hidden: &BTreeSet<&Path>) -> Result<(), Refused> {
        let mut behind = hidden.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
        if !behind.next().is_some_and(|closed| closed.starts_with(path)) {
            return self.allow(path, READ);
        }
        self.allow(path, READ_DIR)?;
        let unreadable = |source| Refused { path: path.into(), source };
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // What a link points to must be readable in its own right.
            let is_link = entry.file_type().map_err(unreadable)?.is_symlink();
            if !is_link && !hidden.contains(entry.path().as_path()) {
                self.allow_existing(&entry.path(), hidden)?;
            }
        }
        Ok(())
    }

    /// Entries come and go while they are listed.
    fn allow_existing(&self, path: &Path, hidden: &BTreeSet<&Path>) -> Result<(), Refused> {
        match self.allow_except(path, hidden) {
            Err(refused) if is_absent(&refused.source) => Ok(()),
            result => result,
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

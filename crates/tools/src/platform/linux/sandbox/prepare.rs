//! The values that a child needs, made while it is still allowed to allocate and to fail with a
//! reason.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, Mode, OFlags, ResolveFlags, SealFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Resource, Rlimit};

use super::kernel::Namespacing;
use super::landlock::{self, Grants};
use super::launch::{Command, Gate, Isolation};
use super::mounts::{Anchor, Identity, Namespaces};
use super::plan::Plan;
use super::{raw, system};
use crate::containment::{self, Confinement, Invocation, Limits, SandboxError, Stdin};

/// A path that was opened, and what was found there.
type Opened = (OwnedFd, Anchor);

/// Turns a cause into the error that `what` failed.
pub(super) fn setup<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> SandboxError {
    move |source| SandboxError::Setup { what, source: source.into() }
}

/// Opens every writable path.
pub(super) fn open_writable(confinement: &Confinement) -> Result<Vec<Opened>, SandboxError> {
    for writable in &confinement.write {
        if let Some(hidden) = confinement.hidden.iter().find(|hidden| hidden.starts_with(writable))
        {
            return Err(SandboxError::HiddenInside {
                writable: writable.clone(),
                hidden: hidden.clone(),
            });
        }
    }
    confinement.write.iter().map(|path| open_checked(path)).collect()
}

/// Opens a path none of whose parts is a symbolic link, so that nobody can have pointed it
/// elsewhere.
pub(super) fn open_checked(path: &Path) -> Result<Opened, SandboxError> {
    let refused = |source: io::Error| SandboxError::Grant { path: path.into(), source };
    if !path.is_absolute() {
        return Err(refused(io::ErrorKind::InvalidInput.into()));
    }
    let file = open_unlinked(path).map_err(refused)?;
    let status = rustix::fs::fstat(&file).map_err(|error| refused(error.into()))?;
    let path = c_string(path.as_os_str(), "a path")?;
    Ok((file, Anchor { path, device: status.st_dev, inode: status.st_ino }))
}

fn open_unlinked(path: &Path) -> io::Result<OwnedFd> {
    let (flags, resolve) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::NO_SYMLINKS);
    match rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve) {
        // Kernels before 5.6, and some containers.
        Err(Errno::NOSYS) if fs::canonicalize(path)? == path => {
            Ok(rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// Whether the system's shared memory can be covered by a private one: it exists, and nothing
/// granted is in it.
pub(super) fn may_cover_shared_memory(confinement: &Confinement, folder: &Path) -> bool {
    let shared_memory = Path::new(OsStr::from_bytes(system::SHARED_MEMORY.to_bytes()));
    let granted = confinement.read.iter().chain(&confinement.write).map(PathBuf::as_path);
    !granted.chain([folder]).any(|path| path.starts_with(shared_memory)) && shared_memory.is_dir()
}

/// A gate that is closed.
pub(super) fn gate() -> Result<Gate, SandboxError> {
    let (wait, opener) =
        rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(setup("make a pipe"))?;
    Ok(Gate { wait: above_standard(wait)?, opener: above_standard(opener)? })
}

/// What the warden does about namespaces.
pub(super) fn isolation(
    plan: &Plan,
    confinement: &Confinement,
    writable: &[Opened],
    shared_memory: bool,
) -> Result<Isolation, SandboxError> {
    Ok(match plan.isolation {
        containment::Isolation::Namespaces => {
            Isolation::Namespaces(namespaces(plan, confinement, writable, shared_memory)?)
        }
        containment::Isolation::Supervised => Isolation::Supervised,
        containment::Isolation::Swept => Isolation::Swept,
    })
}

fn namespaces(
    plan: &Plan,
    confinement: &Confinement,
    writable: &[Opened],
    shared_memory: bool,
) -> Result<Namespaces, SandboxError> {
    let limits = &confinement.limits;
    let mut writable: Vec<Anchor> = writable.iter().map(|(_, place)| place.clone()).collect();
    writable.sort_by_key(|place| std::cmp::Reverse(place.path.as_bytes().len()));
    Ok(Namespaces {
        identity: identity(&plan.namespacing),
        last_process: last_process(plan, limits),
        covered: system::covered().map_err(setup("look through `/proc`"))?,
        shared_memory: shared_memory.then(|| shared_memory_options(limits)).transpose()?,
        writable,
    })
}

/// The lines that map this user and group to themselves, where there is a user namespace.
pub(super) fn identity(namespacing: &Namespacing) -> Option<Identity> {
    let line = |id: u32| format!("{id} {id} 1");
    namespacing.user.then(|| Identity {
        user: line(rustix::process::geteuid().as_raw()),
        group: line(rustix::process::getegid().as_raw()),
    })
}

/// The largest process number, where it can be set.
pub(super) fn last_process(plan: &Plan, limits: &Limits) -> Option<String> {
    // The kernel does not give numbers below 300 out a second time.
    plan.namespacing.process_limit.then(|| limits.processes.saturating_add(300).to_string())
}

/// The options of a private `/dev/shm`.
pub(super) fn shared_memory_options(limits: &Limits) -> Result<CString, SandboxError> {
    let options = format!("mode=1777,nr_inodes=4096,size={}", limits.memory / 4);
    c_string(OsStr::new(&options), "an option")
}

/// The rules on files, where there is a Landlock to enforce them.
pub(super) fn ruleset(
    plan: &Plan,
    confinement: &Confinement,
    writable: &[Opened],
) -> Result<Option<OwnedFd>, SandboxError> {
    if plan.landlock_abi == 0 {
        return Ok(None);
    }
    let grants = Grants {
        read: &confinement.read,
        hidden: confinement.hidden.iter().map(PathBuf::as_path).collect(),
        write: writable.iter().map(|(file, _)| file.as_fd()).collect(),
        network: plan.network,
        private_processes: plan.isolation == containment::Isolation::Namespaces,
    };
    landlock::ruleset(plan.landlock_abi, &grants)
        .map(Some)
        .map_err(|refused| SandboxError::Grant { path: refused.path, source: refused.source })
}

/// The limits that the kernel enforces on each process.
pub(super) fn limits(plan: &Plan, limits: &Limits) -> Vec<(Resource, Rlimit)> {
    if !plan.confined {
        return Vec::new();
    }
    let seconds = limits.cpu.as_secs().max(1);
    // The kernel counts all tasks of a user, or of a user in a user namespace, and never those of
    // root.
    let others = if plan.joins && plan.namespacing.process_limit {
        // Other commands count as well, and the kernel counts those of this one better.
        limits.processes.saturating_mul(31)
    } else if plan.isolation == containment::Isolation::Namespaces {
        2
    } else {
        tasks_on_the_machine()
    };
    let wanted = [
        (Resource::Cpu, seconds),
        (Resource::Data, limits.memory),
        (Resource::Nproc, limits.processes.saturating_add(others)),
        (Resource::Fsize, limits.file_size),
        (Resource::Nofile, limits.open_files),
        (Resource::Core, 0),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ];
    let capped = wanted.map(|(resource, value)| {
        let hard =
            rustix::process::getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
        (resource, Rlimit { current: Some(hard), maximum: Some(hard) })
    });
    capped.into()
}

fn tasks_on_the_machine() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let total =
        load.split_whitespace().nth(3).and_then(|tasks| tasks.split('/').nth(1)?.parse().ok());
    total.unwrap_or(u64::from(u16::MAX))
}

/// Where the kernel finds the command line of this process.
pub(super) fn command_line() -> Option<Range<usize>> {
    let status = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = status.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(45).map_while(|field| field.parse().ok());
    let (start, end) = (fields.next()?, fields.next()?);
    (0 < start && start < end).then_some(start..end)
}

/// The program with its arguments and environment.
pub(super) fn command(invocation: &Invocation) -> Result<Command, SandboxError> {
    let program = c_string(invocation.program.as_os_str(), "the program's path")?;
    let mut arguments = vec![program.clone()];
    for argument in &invocation.arguments {
        arguments.push(c_string(argument, "an argument")?);
    }
    let environment = invocation.environment.iter().map(|(name, value)| {
        let line = [name.as_os_str(), OsStr::new("="), value.as_os_str()];
        let line: OsString = line.into_iter().collect();
        c_string(&line, "the environment")
    });
    let environment = environment.collect::<Result<_, _>>()?;
    Ok(Command {
        program,
        arguments: raw::Strings::new(arguments),
        environment: raw::Strings::new(environment),
    })
}

pub(super) fn c_string(text: &OsStr, what: &'static str) -> Result<CString, SandboxError> {
    CString::new(text.to_owned().into_vec()).map_err(|_| SandboxError::Nul { what })
}

/// Standard input: nothing, these bytes in memory that nobody can change any more, or a pipe.
pub(super) fn input(stdin: &Stdin) -> Result<OwnedFd, SandboxError> {
    let made = match stdin {
        Stdin::Bytes(bytes) if bytes.is_empty() => File::open("/dev/null").map(OwnedFd::from),
        Stdin::Bytes(bytes) => sealed(bytes).map(OwnedFd::from),
        Stdin::Pipe(pipe) => pipe.try_clone(),
    };
    made.map_err(setup("prepare the input"))
}

fn sealed(bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create("stdin", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// Moves a descriptor out of the way of the standard streams, which the child puts in their places.
pub(super) fn above_standard(descriptor: OwnedFd) -> Result<OwnedFd, SandboxError> {
    const FIRST: i32 = 3;
    if descriptor.as_raw_fd() >= FIRST {
        return Ok(descriptor);
    }
    rustix::io::fcntl_dupfd_cloexec(&descriptor, FIRST).map_err(setup("move a descriptor"))
}

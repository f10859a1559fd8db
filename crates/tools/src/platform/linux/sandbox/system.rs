//! The parts of the system that every program needs and nobody minds being read.
//!
//! Invariant: nothing here holds a secret, even for a program that runs as root: `/etc` is granted
//! file by file, `/dev` device by device, and `/proc` as a whole only where it shows the sandbox
//! alone.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, open, statat};

use super::mounts::Covered;

/// The settings of each installed Python and Java, without which they do not start.
pub(super) fn settings() -> Vec<PathBuf> {
    let mut settings = Vec::new();
    for path in entries(Path::new("/etc")) {
        let name = path.file_name().unwrap_or_default().as_bytes();
        if name.starts_with(b"python3") {
            settings.push(path);
        } else if name.starts_with(b"java-") {
            // Passwords for watching a process from afar are in there.
            settings.extend(entries(&path).filter(|path| !path.ends_with("management")));
        }
    }
    settings
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Whether every program can read and execute what lies in this folder.
pub(crate) fn is_system_folder(folder: &Path) -> bool {
    READABLE.iter().any(|root| folder.starts_with(root))
}

/// Where POSIX shared memory and semaphores live.
pub(super) const SHARED_MEMORY: &CStr = c"/dev/shm";

/// Programs, libraries and settings, to read and execute.
pub(super) const READABLE: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/var/lib/ca-certificates",
    "/etc/ImageMagick-6",
    "/etc/ImageMagick-7",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/libreoffice",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/machine-info",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/profile.d/lang.sh",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];

/// Devices that hold nothing.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Opened for writing, it can be mapped to be shared, and that memory nobody could count.
pub(super) const ZEROS: &str = "/dev/zero";

/// The terminal that a process belongs to; in a view one that was made there.
pub(super) const TERMINAL: &str = "/dev/tty";

/// The options of the terminals that a view has for itself.
pub(super) const TERMINALS: &CStr = c"newinstance,ptmxmode=0666,mode=0600";

/// What is covered in `/proc`: the kernel's keys, and for root what it shows to root alone.
///
/// A program that runs as root has no privileges in the sandbox, but it still is the owner of these.
pub(super) fn covered() -> io::Result<Vec<Covered>> {
    let mut covered: Vec<_> =
        [c"/proc/keys", c"/proc/key-users"].map(known_file).into_iter().flatten().collect();
    if rustix::process::geteuid().is_root() {
        // The keys of the network's connections, among much that nobody needs.
        covered.extend(exists(c"/proc/sys/net").then(|| Covered::Folder(c"/proc/sys/net".into())));
        covered.extend(for_root()?);
    }
    Ok(covered)
}

fn known_file(path: &CStr) -> Option<Covered> {
    exists(path).then(|| Covered::File(path.into()))
}

fn exists(path: &CStr) -> bool {
    statat(CWD, path, AtFlags::empty()).is_ok()
}

/// The files that only their owner may read.
fn for_root() -> io::Result<Vec<Covered>> {
    let folder = open(c"/proc", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut found = Vec::new();
    // So small that the processes, which come last and are many, are not asked for.
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(&folder, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes().first().is_some_and(u8::is_ascii_digit) {
            break;
        }
        if entry.file_type() == FileType::RegularFile
            && statat(&folder, name, AtFlags::empty())?.st_mode & 0o004 == 0
        {
            let path = [c"/proc/".to_bytes(), name.to_bytes()].concat();
            found.extend(CString::new(path).ok().map(Covered::File));
        }
    }
    Ok(found)
}

/// What `/proc` says about the machine rather than about a process.
pub(super) const ABOUT_THE_MACHINE: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
];

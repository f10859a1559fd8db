//! The parts of the system that every program needs and nobody minds being read.
//!
//! Invariant: nothing here holds a secret, even for a program that runs as root: `/etc` is granted
//! file by file, `/dev` device by device, and `/proc` as a whole only where it shows the sandbox
//! alone.

use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mounts::Covered;

/// The settings of each installed Python, which its start-up code imports.
pub(super) fn python_settings() -> Vec<PathBuf> {
    let entries = fs::read_dir("/etc").into_iter().flatten().flatten();
    let settings = entries.filter(|entry| entry.file_name().as_bytes().starts_with(b"python3"));
    settings.map(|entry| entry.path()).collect()
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

/// What is covered in `/proc`: the kernel's keys, and for root what it shows to root alone.
///
/// A program that runs as root has no privileges in the sandbox, but it still is the owner of these.
pub(super) fn covered() -> Vec<Covered> {
    let keys = [c"/proc/keys", c"/proc/key-users"].into_iter().filter(|path| exists(path));
    let keys = keys.map(|path| Covered::File(path.to_owned()));
    if rustix::process::geteuid().is_root() {
        keys.chain(for_root()).collect()
    } else {
        keys.collect()
    }
}

fn exists(path: &CStr) -> bool {
    Path::new(OsStr::from_bytes(path.to_bytes())).exists()
}

fn for_root() -> impl Iterator<Item = Covered> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_process = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_for_root = !is_process
            && entry.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o004 == 0);
        let path = is_for_root.then(|| CString::new(format!("/proc/{name}")).ok())?;
        path.map(Covered::File)
    });
    let folders = [c"/proc/sys/net", c"/proc/tty/driver"].into_iter().filter(|path| exists(path));
    files.chain(folders.map(|path| Covered::Folder(path.to_owned())))
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

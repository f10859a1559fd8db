//! A folder of its own for each test, with what tests put into it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use basics::skill::Source;
use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};

use crate::index::{Entry, Index, IndexOptions};
use crate::roots::Root;

/// A temporary folder; paths are relative to it.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Other users must be able to enter it.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    /// A world with a skill in each of `folders`.
    pub(crate) fn with_skills<'a>(folders: impl IntoIterator<Item = &'a str>) -> Self {
        let world = Self::new();
        folders.into_iter().for_each(|folder| world.skill(folder));
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.folder.path().to_owned() } else { self.folder.path().join(path) }
    }

    pub(crate) fn folder(&self, path: &str) {
        fs::create_dir_all(self.path(path)).unwrap();
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A skill that is called like its folder.
    pub(crate) fn skill(&self, folder: &str) {
        let name = folder.rsplit('/').next().unwrap();
        self.named_skill(folder, name);
    }

    pub(crate) fn named_skill(&self, folder: &str, name: &str) {
        let content = format!("---\nname: {name}\ndescription: What {name} does.\n---\nBody.\n");
        self.write(&format!("{folder}/SKILL.md"), content);
    }

    /// The skill in `root/a`, as the index has it.
    pub(crate) fn entry(&self) -> Entry {
        self.entry_of("root/a")
    }

    pub(crate) fn entry_of(&self, folder: &str) -> Entry {
        let root = Root { source: Source::User, path: self.path("root"), priority: 0 };
        let index = Index::build(&[root], &IndexOptions::default());
        let folder = self.path(folder);
        let found = index.skills.into_iter().find(|entry| entry.path == folder);
        found.unwrap_or_else(|| panic!("it is not in the index: {:?}", index.report.ignored))
    }

    /// A symbolic link; a relative `target` counts from the link's own folder.
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A pipe without anyone at its other end: opening it carelessly would block.
    pub(crate) fn pipe(&self, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    }

    /// A file of `size` bytes that begins with `start` and is empty space from there on.
    pub(crate) fn hollow(&self, path: &str, start: &str, size: u64) {
        self.write(path, start);
        fs::OpenOptions::new().write(true).open(self.path(path)).unwrap().set_len(size).unwrap();
    }

    /// Waits until the file system's clock has moved on, so that a change from now on has a new stamp.
    pub(crate) fn tick(&self) {
        let stamp = || {
            self.write("clock", "");
            let metadata = fs::metadata(self.path("clock")).unwrap();
            (metadata.ctime(), metadata.ctime_nsec())
        };
        let before = stamp();
        while stamp() == before {}
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        let is_folder = path.symlink_metadata().unwrap().is_dir();
        if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Sets when a file was last modified, in seconds since 1970.
    pub(crate) fn set_modified(&self, path: &str, seconds: i64) {
        let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, self.path(path), &times, AtFlags::empty()).unwrap();
    }
}

/// Bytes this thread has read so far from files of any kind, as the kernel counts them.
pub(crate) fn bytes_read_by_this_thread() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = counters.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().parse().unwrap()
}

/// Runs `work` without root's power to read everything.
pub(crate) fn without_privileges<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    const NOBODY: u32 = 65_534;
    let in_a_thread_of_its_own = || {
        if rustix::process::getuid().is_root() {
            rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(NOBODY)).unwrap();
        }
        work()
    };
    std::thread::scope(|scope| scope.spawn(in_a_thread_of_its_own).join().unwrap())
}

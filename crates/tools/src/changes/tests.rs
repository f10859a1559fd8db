//! A workspace, a layer made by hand, and what becomes of both.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use state::Folder;
use tempfile::TempDir;

use super::*;

mod basic;
mod crash;
mod held;
mod property;
mod shown;
mod slow;

/// Everything in a folder: kind and mode, content, time of modification of files and links.
type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>, Option<(i64, i64)>)>;

struct World {
    #[expect(dead_code, reason = "it removes the folder at the end")]
    folder: TempDir,
    workspace: PathBuf,
    upper: PathBuf,
    run: Folder,
    rules: Rules,
    base: Base,
}

impl World {
    fn new() -> Self {
        Self::at(temporary())
    }

    fn at(folder: TempDir) -> Self {
        let path = folder.path().canonicalize().unwrap();
        let make = |name: &str| {
            fs::create_dir(path.join(name)).unwrap();
            path.join(name)
        };
        let (workspace, upper, run) = (make("workspace"), make("upper"), make("run"));
        let run = Folder::at(&run).unwrap();
        Self { folder, workspace, upper, run, rules: Rules::default(), base: Base::default() }
    }

    /// A file of the workspace.
    fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        write(&self.workspace.join(path), content.as_ref());
        self
    }

    /// A file of the layer; folders that both have get the same mode.
    fn upper(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        write(&self.upper.join(path), content.as_ref());
        self
    }

    fn deletes(&self, path: &str) -> &Self {
        whiteout(&self.upper.join(path));
        self
    }

    fn opaque(&self, path: &str) -> &Self {
        fs::create_dir_all(self.upper.join(path)).unwrap();
        mark(&self.upper.join(path), "user.overlay.opaque", b"y");
        self
    }

    fn layer(&self) -> Layer<'_> {
        Layer::Overlay { upper: &self.upper }
    }

    /// Notes as if the action had begun after everything in the workspace.
    fn note(&mut self) {
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let layer = Layer::Overlay { upper: &self.upper };
        self.base.note(&layer, &self.workspace, later, (&self.rules, &self.run)).unwrap();
    }

    fn collect(&self) -> ChangeSet {
        let about = (&self.base, &self.rules);
        collect(&self.layer(), &self.workspace, about, &mut Hashes::default()).unwrap()
    }

    fn plan(&self, selection: &Selection<'_>) -> Result<Plan, ChangesError> {
        let set = self.collect();
        let places = (&self.layer(), &*self.workspace);
        Plan::new(&set, selection, places, (&self.base, &self.rules, &self.run))
    }

    fn store(&self) -> Store {
        Store::open(&self.run.create_folder("applied", state::Access::Private).unwrap()).unwrap()
    }

    fn apply(&self, disk: &Disk) -> Result<Applied, ChangesError> {
        let plan = self.plan(&Selection::default())?;
        apply(&plan, &self.store(), (&self.layer(), &self.workspace), disk)
    }

    fn undo(&self, number: u32, disk: &Disk) -> Result<Applied, ChangesError> {
        undo(&self.store(), number, (&self.workspace, &self.rules), disk)
    }

    fn recover(&self) -> Vec<Recovered> {
        recover(&self.store(), (&self.workspace, &self.rules), &Disk::default()).unwrap()
    }

    fn snapshot(&self) -> Snapshot {
        snapshot(&self.workspace)
    }

    /// The changes in short: `+`, `~`, `-` and the path, `!` for what is held back, `?` for conflicts.
    fn shown(&self) -> String {
        let set = self.collect();
        let change = |change: &Change| match (&change.before, &change.after) {
            (None, _) => format!("+{}", change.path),
            (_, None) => format!("-{}", change.path),
            _ => format!("~{}", change.path),
        };
        let held = set.held.iter().map(|held| format!("!{}", held.path));
        let conflicts = set.conflicts.iter().map(|conflict| format!("?{}", conflict.path));
        let all: Vec<String> =
            set.changes.iter().map(change).chain(held).chain(conflicts).collect();
        all.join(" ")
    }
}

/// In memory where that can hold the marks of an overlay: these tests wait for the disk often.
fn temporary() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm").ok();
    let takes_marks = |folder: &TempDir| {
        setxattr(folder.path(), "user.overlay.test", b"y", XattrFlags::empty()).is_ok()
    };
    in_memory.filter(takes_marks).unwrap_or_else(|| tempfile::tempdir().unwrap())
}

fn path(text: &str) -> LayerPath {
    text.parse().unwrap()
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A deletion as the kernel makes it, or its other form where devices cannot be made.
fn whiteout(path: &Path) {
    let parent = path.parent().unwrap();
    fs::create_dir_all(parent).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    if mknodat(CWD, path, FileType::CharacterDevice, mode, 0).is_err() {
        mark(parent, "user.overlay.opaque", b"x");
        fs::write(path, "").unwrap();
        mark(path, "user.overlay.whiteout", b"y");
    }
}

fn mark(path: &Path, name: &str, value: &[u8]) {
    setxattr(path, name, value, XattrFlags::empty()).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn snapshot(folder: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let stat = fs::symlink_metadata(&path).unwrap();
            let content = if stat.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if stat.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            let time = (!stat.is_dir()).then(|| (stat.mtime(), stat.mtime_nsec()));
            found.insert(
                path.strip_prefix(folder).unwrap().to_owned(),
                (stat.mode(), content, time),
            );
        }
    }
    found
}

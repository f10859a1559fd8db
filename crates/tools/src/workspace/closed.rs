//! What no tool changes, whatever was approved: compared by what a file is, not by how it is called.
//!
//! Invariant: whatever name leads there (a link, a mount, another spelling, a second name of the same
//! file), what is changed is neither closed itself nor in a folder that is.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, openat, statat};

use super::git_settings::git_settings;
use super::real_path;
use super::secrets::STATE;
use super::spelling::fold;
use crate::beneath::IsClosed;
use crate::platform::PASSING;

/// Which file or folder something is, whatever led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "their types differ from system to system"
    )]
    pub(crate) fn new(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    /// What a path leads to, links followed; none if it leads nowhere.
    fn at(path: &Path) -> Option<Self> {
        statat(CWD, path, AtFlags::empty()).ok().map(|stat| Self::new(&stat))
    }
}

/// Places that are closed, as paths: what they lead to is looked up whenever something is to be changed.
#[derive(Debug, Default)]
pub(super) struct Closed {
    /// Folders in which agents and version control keep their state.
    homes: Vec<PathBuf>,
    /// Files and folders.
    paths: Vec<PathBuf>,
    /// Folders of skills.
    shelves: Vec<PathBuf>,
}

impl Closed {
    pub(super) fn add_home(&mut self, folder: &Path) {
        self.homes.push(folder.to_owned());
    }

    pub(super) fn add(&mut self, path: &Path) {
        self.paths.push(path.to_owned());
    }

    pub(super) fn add_shelf(&mut self, folder: &Path) {
        self.shelves.push(folder.to_owned());
    }

    /// What is closed now for changes beneath `root`; an error where that is all of it. A path is looked at where it is
    /// `seen`, and the root itself through its layer, which may lie among the state.
    pub(super) fn around(
        &self,
        (root, layer): (BorrowedFd<'_>, BorrowedFd<'_>),
        seen: impl Fn(&Path) -> PathBuf,
    ) -> io::Result<Guard> {
        let mut above = above(root)?;
        above.push(Identity::new(&fstat(layer)?));
        let state: Vec<PathBuf> = self.homes.iter().flat_map(|home| state_in(home)).collect();
        // A layer has identities of its own for what is seen through it, also where a link from elsewhere leads there.
        let identities = |path: &Path| {
            let real = real_path(path).ok().and_then(|real| Identity::at(&seen(&real)));
            Identity::at(&seen(path)).into_iter().chain(real)
        };
        let strict = state.iter().chain(&self.paths).flat_map(|path| identities(path));
        let mut closed: HashSet<Identity> = strict.collect();
        if above.iter().any(|folder| closed.contains(folder)) {
            return Err(IsClosed.into());
        }
        // What state consists of may be somewhere else, through a link, or have a second name. A link to
        // the workspace itself, and a folder that is searched for skills with all that is in it, are no
        // reason to close everything.
        let parts = state.iter().flat_map(|folder| entries(&seen(folder)));
        let deeper = state.iter().filter(|folder| !folder.ends_with(".git"));
        let deeper = deeper.flat_map(|folder| links_below(&seen(folder)));
        let git = self.homes.iter().flat_map(|home| git_settings(&home.join(".git")));
        let loose = parts.chain(deeper).chain(git).chain(self.shelves.iter().cloned());
        let loose = loose.flat_map(|path| identities(&path));
        closed.extend(loose.filter(|identity| !above.contains(identity)));
        Ok(Guard { closed })
    }
}

/// What is closed at one moment.
#[derive(Debug)]
pub(crate) struct Guard {
    closed: HashSet<Identity>,
}

impl Guard {
    /// Stops at what is closed.
    pub(crate) fn pass(&self, found: &Stat) -> io::Result<()> {
        match self.closed.contains(&Identity::new(found)) {
            true => Err(IsClosed.into()),
            false => Ok(()),
        }
    }

    /// The same for a folder on the way to `next`. One that Git would take for a repository, or would once `next` is in
    /// it, is closed, whatever it is called: a `.git` somewhere else may lead there, and Git looks for one in each
    /// folder above the current one.
    pub(crate) fn pass_folder(&self, folder: &OwnedFd, next: &OsStr) -> io::Result<()> {
        self.pass(&fstat(folder)?)?;
        match Pieces::find(folder, next).are_complete() {
            true => Err(IsClosed.into()),
            false => Ok(()),
        }
    }

    /// The same for the folder that `file` itself is in. Git runs what a `config` says, so none waits for the
    /// missing piece.
    pub(crate) fn pass_file(&self, folder: &OwnedFd, file: &OsStr) -> io::Result<()> {
        let is_config = is_named(file, "config") || is_named(file, "config.worktree");
        match is_config && Pieces::find(folder, file).count() > 1 {
            true => Err(IsClosed.into()),
            false => Ok(()),
        }
    }
}

/// What Git takes a folder for a repository by. Of what kind they are does not matter: Git asks for little.
struct Pieces {
    head: bool,
    objects: bool,
    refs: bool,
    /// Says in which folder the others are.
    common: bool,
}

impl Pieces {
    /// Those that are in a folder once `next` is.
    fn find(folder: &OwnedFd, next: &OsStr) -> Self {
        let has = |name: &str| {
            is_named(next, name) || statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
        };
        Self {
            head: has("HEAD"),
            objects: has("objects"),
            refs: has("refs"),
            common: has("commondir"),
        }
    }

    fn are_complete(&self) -> bool {
        self.head && (self.common || self.objects && self.refs)
    }

    fn count(&self) -> usize {
        let all = [self.head, self.objects, self.refs, self.common];
        all.into_iter().filter(|is_there| *is_there).count()
    }
}

/// Whether some file system takes one name for the other.
fn is_named(name: &OsStr, other: &str) -> bool {
    fold(&name.to_string_lossy()) == fold(other)
}

/// A folder and those it is in, up to the root of the file system or as far as can be seen.
fn above(folder: BorrowedFd<'_>) -> io::Result<Vec<Identity>> {
    let mut identities = vec![Identity::new(&fstat(folder)?)];
    let climb = |folder: BorrowedFd<'_>| {
        openat(folder, "..", PASSING | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    };
    let mut next = climb(folder);
    while let Ok(parent) = next {
        let identity = Identity::new(&fstat(&parent)?);
        if identities.last() == Some(&identity) {
            break;
        }
        identities.push(identity);
        next = climb(parent.as_fd());
    }
    Ok(identities)
}

/// Where agents and version control keep their state in a folder.
fn state_in(folder: &Path) -> Vec<PathBuf> {
    let mut state: Vec<PathBuf> = STATE.iter().map(|name| folder.join(name)).collect();
    let git = folder.join(".git");
    for repository in repositories(&git).into_iter().chain([git]) {
        state.push(repository.join("hooks"));
        state.push(repository);
    }
    state
}

/// Where agents keep their state in a folder, and what of it, and of Git's, is somewhere else, because a link or a file
/// says so.
pub fn agent_state_in(folder: &Path) -> Vec<PathBuf> {
    let links = |path: &Path| entries(path).filter(|part| part.is_symlink());
    let state = STATE.iter().filter(|name| **name != ".git").map(|name| folder.join(name));
    let state = state.flat_map(|path| links_below(&path).into_iter().chain([path]));
    let git = folder.join(".git");
    let named = repositories(&git);
    let settings =
        |path: &PathBuf| ["config", "config.worktree", "hooks"].map(|name| path.join(name));
    let settings: Vec<PathBuf> = named.iter().flat_map(settings).collect();
    let git = named.into_iter().chain([git]);
    let git = git.flat_map(|path| links(&path).chain(links_below(&path.join("hooks"))));
    state.chain(git).chain(settings).collect()
}

/// How many files and folders of one state are looked at.
const MOST: usize = 10_000;

/// The links in a folder at any depth, and those in the folders that they lead to. Those near the top come first, so
/// that of too many the most likely ones are known.
pub(crate) fn links_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(home) = fs::canonicalize(folder) else { return Vec::new() };
    let is_above = |other: &Path| home.starts_with(other) || folder.starts_with(other);
    let (mut links, mut seen) = (Vec::new(), HashSet::from([home.clone()]));
    let mut waiting = VecDeque::from([folder.to_owned()]);
    let (mut elsewhere, mut left) = (VecDeque::new(), MOST);
    while let Some(next) = waiting.pop_front().or_else(|| elsewhere.pop_front()) {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            if left == 0 {
                return links;
            }
            left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            // The records of runs are this program's own, and many.
            if kind.is_dir() && !path.ends_with(".agent/runs") {
                waiting.push_back(path);
            } else if kind.is_symlink() {
                let target = fs::canonicalize(&path).ok().filter(|target| target.is_dir());
                if let Some(target) = target
                    && !is_above(&target)
                    && seen.insert(target.clone())
                {
                    elsewhere.push_back(target);
                }
                links.push(path);
            }
        }
    }
    links
}

/// Where `.git` is only a file that says where the repository is: that folder, and the one it shares with others.
pub(super) fn repositories(git: &Path) -> Vec<PathBuf> {
    let named = |file: &Path, key: &str, base: &Path| {
        let is_small =
            fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() < 10_000);
        let text = is_small.then(|| fs::read_to_string(file).ok()).flatten()?;
        Some(base.join(text.lines().next()?.strip_prefix(key)?.trim()))
    };
    let own = git.parent().and_then(|folder| named(git, "gitdir:", folder));
    let shared = own.as_deref().and_then(|own| named(&own.join("commondir"), "", own));
    own.into_iter().chain(shared).collect()
}

/// What is in a folder; nothing where it cannot be listed.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

//! Finding the skills below one root, reading no more than their frontmatter.
//!
//! The walk goes level by level: each level's folders are sorted, looked at in parallel, and merged
//! in their order; in the end all is sorted by path. So neither the number of threads nor their
//! timing shows in the result, even where a bound cuts the walk short.

mod folder;
mod head;
mod parallel;
pub(crate) mod path_bytes;
mod stamp;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use basics::failure::Explain;
use folder::{Folder, Look};
use rustix::fs::{CWD, Mode as FileMode, OFlags, openat};
use serde::{Deserialize, Serialize};

use crate::frontmatter::FrontmatterError;
use crate::metadata::{Metadata, ReadOptions};
pub(crate) use parallel::map_in_order;
pub(crate) use stamp::{Stamp, Stamped};

/// How a root is walked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DiscoveryOptions {
    /// How each frontmatter is read.
    pub read: ReadOptions,
    /// How deep grouping folders may nest.
    pub depth: usize,
    /// Folders looked at in one root.
    pub folders: usize,
    /// Whether symbolic links are followed.
    pub follow_symlinks: bool,
    /// Threads that read.
    pub threads: usize,
}

impl Default for DiscoveryOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
        Self {
            read: ReadOptions::default(),
            depth: 6,
            folders: 20_000,
            follow_symlinks: true,
            threads,
        }
    }
}

/// A symbolic link on the way to a skill that leads out of its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Link {
    /// The link.
    #[serde(with = "path_bytes")]
    #[schemars(with = "String")]
    pub path: PathBuf,
    /// Where it leads.
    #[serde(with = "path_bytes")]
    #[schemars(with = "String")]
    pub target: PathBuf,
}

/// A skill below a root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// The skill's folder, relative to the root.
    #[serde(with = "path_bytes")]
    pub(crate) folder: PathBuf,
    pub(crate) metadata: Metadata,
    pub(crate) modified: i64,
    pub(crate) links: Vec<Link>,
}

/// Something below a root that is not in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ignored {
    /// Relative to the root.
    #[serde(with = "path_bytes")]
    pub(crate) path: PathBuf,
    pub(crate) problem: Problem,
}

/// Why something is not in the index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Problem {
    /// The frontmatter is refused.
    #[error(transparent)]
    Frontmatter(#[from] FrontmatterError),
    /// The system refused to read it.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// What the system said.
        reason: String,
    },
    /// `SKILL.md` is a device, a pipe or a folder.
    #[error("SKILL.md is not a regular file")]
    NotAFile,
    /// A skill in a folder that is never searched.
    #[error("the folder is hidden or contains dependencies, so it is not searched")]
    SkippedFolder,
    /// There is a `skill.md`, but no `SKILL.md`.
    #[error("the file is called `{found}`, not `SKILL.md`")]
    WrongCase {
        /// The name found.
        found: String,
    },
    /// A link leads back to a folder it stands in.
    #[error("the link leads to a folder above itself")]
    LinkCycle,
    /// A link leads nowhere.
    #[error("the link leads nowhere")]
    BrokenLink,
    /// Links are not followed.
    #[error("a symbolic link, and links are not followed")]
    LinkNotFollowed,
    /// The root does not exist.
    #[error("no such folder")]
    NoRoot,
    /// The walk's bound was reached.
    #[error("more than {limit} folders; the rest was not searched")]
    TooManyFolders {
        /// The number of folders allowed.
        limit: usize,
    },
    /// Folders are nested deeper than the walk goes.
    #[error("folders nested deeper than {limit} levels were not searched")]
    TooDeep {
        /// The number of levels allowed.
        limit: usize,
    },
}

impl Explain for Problem {
    fn code(&self) -> &'static str {
        match self {
            Self::Frontmatter(error) => error.code(),
            Self::Unreadable { .. } => "unreadable",
            Self::NotAFile => "not-a-file",
            Self::SkippedFolder => "skipped-folder",
            Self::WrongCase { .. } => "wrong-case",
            Self::LinkCycle => "link-cycle",
            Self::BrokenLink => "broken-link",
            Self::LinkNotFollowed => "link-not-followed",
            Self::NoRoot => "no-such-root",
            Self::TooManyFolders { .. } => "too-many-folders",
            Self::TooDeep { .. } => "nested-too-deep",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Frontmatter(error) => return error.hint(),
            Self::Unreadable { .. } => "check the permissions of the file and its folders",
            Self::NotAFile => "replace it with a regular file",
            Self::SkippedFolder => "rename the folder without a dot, or add it with --root",
            Self::WrongCase { .. } => "rename the file to SKILL.md",
            Self::LinkCycle => "remove the link",
            Self::BrokenLink => "remove the link, or restore its target",
            Self::LinkNotFollowed => "set `registry.follow_symlinks` to true, or copy the skill",
            Self::NoRoot => "check the path given with --root, SKILLFUL_ROOTS or `skill_roots`",
            Self::TooManyFolders { .. } => {
                "use the folder that contains the skills as the root, or raise `registry.max_directories`"
            }
            Self::TooDeep { .. } => "move the skills up, or raise `registry.max_depth`",
        }
        .into()
    }
}

/// Everything one walk found out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Discovery {
    pub(crate) found: Vec<Found>,
    pub(crate) ignored: Vec<Ignored>,
    /// Bytes read from `SKILL.md` files.
    pub(crate) bytes_read: u64,
}

/// What a discovery rests on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Basis<'a> {
    /// When it began, by the clock that files are stamped with.
    pub(crate) started: SystemTime,
    /// Files, folders and links as they were: while they stay, the discovery holds.
    #[serde(borrow)]
    pub(crate) stamps: Vec<Stamped<'a>>,
}

/// Skills read earlier, by their `SKILL.md`, to be used again where the file has not changed.
pub(crate) type Known<'a> = HashMap<&'a Path, (&'a Stamp, &'a Found)>;

/// Walks `root` and reads the frontmatter of every skill below it that is not `known`.
pub(crate) fn discover(
    root: &Path,
    options: &DiscoveryOptions,
    known: &Known<'_>,
    started: SystemTime,
) -> (Discovery, Basis<'static>) {
    let mut discovery = Discovery::default();
    let mut basis = Basis { started, stamps: Vec::new() };
    let (handle, real) = match open_root(root) {
        Ok(opened) => opened,
        Err(problem) => {
            basis.stamps.push(Stamped::new(PathBuf::new(), None));
            discovery.ignore(PathBuf::new(), problem);
            return (discovery, basis);
        }
    };
    let look = Look { handle: &handle, root, real: &real, options, known };
    let mut level = vec![Folder::root(&real, root.file_name())];
    let mut seen = 0;
    for depth in 0.. {
        if level.is_empty() {
            break;
        }
        if depth > options.depth.saturating_add(1) {
            discovery.ignore(PathBuf::new(), Problem::TooDeep { limit: options.depth });
            break;
        }
        let is_cut = level.len() > options.folders - seen;
        level.truncate(options.folders - seen);
        seen += level.len();
        let steps = map_in_order(&level, options.threads, |folder| look.at(folder));
        level = Vec::new();
        for step in steps {
            discovery.bytes_read += step.bytes_read;
            discovery.found.extend(step.found);
            discovery.ignored.extend(step.ignored);
            basis.stamps.extend(step.stamps);
            level.extend(step.children);
        }
        if is_cut {
            discovery.ignore(PathBuf::new(), Problem::TooManyFolders { limit: options.folders });
            break;
        }
    }
    discovery.sort();
    (discovery, basis)
}

impl Discovery {
    fn ignore(&mut self, path: PathBuf, problem: Problem) {
        self.ignored.push(Ignored { path, problem });
    }

    /// Orders everything by its path, however deep it was found.
    fn sort(&mut self) {
        self.found.sort_by(|a, b| a.folder.as_os_str().cmp(b.folder.as_os_str()));
        self.ignored.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    }
}

/// The root, and where it really is.
fn open_root(root: &Path) -> Result<(OwnedFd, PathBuf), Problem> {
    let opened = open_folder(root).map_err(std::io::Error::from);
    let opened = opened.and_then(|handle| Ok((handle, root.canonicalize()?)));
    opened.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Problem::NoRoot,
        kind => Problem::Unreadable { reason: kind.to_string() },
    })
}

/// Opens the root as a place to look files up from; what is below it may change under our feet, but
/// not which folder this is.
pub(crate) fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, FileMode::empty())
}

fn skips(name: &OsString) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "node_modules"
}

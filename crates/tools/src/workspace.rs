//! Where the tools may reach: the workspace and the selected skills, what is hidden there, and limits.
//!
//! Invariant: every file has exactly one name here (relative to the workspace, or `skill://NAME/…`
//! when it is outside of it), that name is what rules and people see, and it is opened without
//! following any link: what was checked is what is read. What is closed to changes is told by what it
//! is, see `closed`.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::beneath;
use crate::error::ToolError;
pub use crate::limits::Limits;
use crate::network::NetworkPolicy;
use path::{SKILL, SKILL_SCHEME, real_path_beneath};

pub(crate) use closed::Identity;
pub use closed::agent_state_in;
pub(crate) use closed::links_below;
use closed::{Closed, Guard};
pub(crate) use git_settings::{git_setting, git_settings};
pub(crate) use path::{LONGEST, normal_path, real_path, way_to};
pub use secrets::PathPatterns;
pub(crate) use spelling::fold;
pub(crate) use target::Target;
pub(crate) use twins::{Twins, has_twin};

mod closed;
mod git_settings;
mod path;
mod secrets;
mod spelling;
mod staged;
mod target;
mod twins;

/// Where the tools may reach, and how far.
#[derive(Debug)]
pub struct Workspace {
    /// The workspace itself, then the selected skills.
    roots: Vec<Root>,
    /// How much a tool may read, return and wait for.
    pub limits: Limits,
    /// What the tools pretend not to see.
    pub secrets: PathPatterns,
    /// What is never written or deleted, whatever was approved, by name.
    pub protected: PathPatterns,
    /// The same, by what it is.
    closed: Closed,
    /// What may be reached over the network.
    pub network: NetworkPolicy,
}

#[derive(Debug)]
struct Root {
    /// The skill it belongs to; the workspace itself has none.
    skill: Option<String>,
    path: PathBuf,
    /// Where it is seen: a run sees the workspace through its layer, at a path that leads there.
    seen: PathBuf,
    folder: OwnedFd,
    /// The layer that it is seen through.
    layer: Option<OwnedFd>,
}

/// A file or directory by its one name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkspacePath<'w> {
    pub(crate) name: &'w str,
    /// The path beneath the root; empty for the root itself.
    pub(crate) inner: &'w str,
    root: &'w Root,
}

impl WorkspacePath<'_> {
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.root.handle()
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(self.inner)
    }

    /// Where the files beneath the same root are read.
    pub(crate) fn seen_path(&self) -> &Path {
        &self.root.seen
    }

    /// The name of something beneath the same root.
    pub(crate) fn name_of(&self, inner: &str) -> String {
        self.root.name_of(inner)
    }
}

impl Root {
    fn handle(&self) -> BorrowedFd<'_> {
        self.layer.as_ref().unwrap_or(&self.folder).as_fd()
    }

    fn open(skill: Option<String>, path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let folder = beneath::open_root(&path)?;
        Ok(Self { skill, seen: path.clone(), path, folder, layer: None })
    }

    /// Whether what is seen is not what is on disk at its path.
    fn is_layered(&self) -> bool {
        self.seen != self.path
    }

    /// Where a path of the file system is seen.
    fn seen(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.path) {
            Ok(inner) if self.is_layered() => self.seen.join(inner),
            _ => path.to_owned(),
        }
    }

    /// The path beneath this skill of something that is called `skill://…`.
    fn inner_of<'n>(&self, name: &'n str) -> Option<&'n str> {
        let rest = name.strip_prefix(SKILL)?.strip_prefix(self.skill.as_deref()?)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    fn name_of(&self, inner: &str) -> String {
        match (&self.skill, inner) {
            (None, "") => ".".to_owned(),
            (None, inner) => inner.to_owned(),
            (Some(skill), "") => format!("{SKILL}{skill}"),
            (Some(skill), inner) => format!("{SKILL}{skill}/{inner}"),
        }
    }
}

impl Workspace {
    /// The workspace in a directory, with the default limits and no network.
    pub fn open(path: &Path) -> io::Result<Self> {
        let root = Root::open(None, path)?;
        let mut closed = Closed::default();
        closed.add_home(&root.path);
        Ok(Self {
            roots: vec![root],
            limits: Limits::default(),
            secrets: PathPatterns::secrets(),
            protected: PathPatterns::protected(),
            closed,
            network: NetworkPolicy::default(),
        })
    }

    /// Lets the tools read the directory of a skill, once it is selected. Of skills whose files could have the same
    /// names, such as `acme` and `acme/deploy`, only the first.
    pub fn select_skill(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let root = Root::open(Some(name.to_owned()), path)?;
        let overlaps = |other: &&Root| {
            root.inner_of(&other.name_of("")).is_some()
                || other.inner_of(&root.name_of("")).is_some()
        };
        match self.roots.iter().find(overlaps) {
            None => self.roots.push(root),
            Some(other) if other.skill == root.skill && other.path == root.path => {}
            Some(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        }
        Ok(())
    }

    /// From now on the workspace is seen through a run's layer, which is open as `folder` and found at `seen`.
    pub fn look_through(&mut self, layer: OwnedFd, seen: PathBuf) {
        let workspace = &mut self.roots[0];
        workspace.layer = Some(layer);
        workspace.seen = seen;
    }

    /// Where a path of the workspace is seen.
    pub fn seen(&self, path: &str) -> PathBuf {
        self.roots[0].seen.join(path)
    }

    /// Closes what agents and version control keep in another folder, such as the user's home, to changes:
    /// a link may lead from there into the workspace.
    pub fn protect_state(&mut self, folder: &Path) {
        self.closed.add_home(folder);
    }

    /// Closes a file, or a folder with all that is in it, to changes.
    pub fn protect(&mut self, path: &Path) {
        self.closed.add(path);
    }

    /// Closes a folder of skills to changes, unless the workspace lies in it: then [`Self::protect`] its skills.
    pub fn protect_skills(&mut self, folder: &Path) {
        self.closed.add_shelf(folder);
    }

    /// The one name of what a path leads to; of the link itself, where the last name is one and `keeps_last`.
    pub(crate) fn one_name(&self, path: &str, keeps_last: bool) -> Result<String, ToolError> {
        let outside = || ToolError::Outside { path: path.to_owned() };
        let normal = normal_path(path).ok_or_else(outside)?;
        let absolute = match normal.strip_prefix(SKILL) {
            Some(_) => self.skill_path(&normal).ok_or_else(outside)?,
            None => self.roots[0].path.join(&normal),
        };
        let real = match (keeps_last, absolute.parent(), absolute.file_name()) {
            (true, Some(parent), Some(name)) => {
                self.real_path(parent).map(|parent| parent.join(name))
            }
            _ => self.real_path(&absolute),
        };
        let real = real.map_err(|source| ToolError::Io { path: path.to_owned(), source })?;
        self.name_of(&real).ok_or_else(outside)
    }

    /// The path without links, as it is seen.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        let root = &self.roots[0];
        match path.strip_prefix(&root.path) {
            Ok(inner) if root.is_layered() => real_path_beneath(root.handle(), &root.path, inner),
            _ => real_path(path),
        }
    }

    /// Finds a file by its one name; any other spelling is refused.
    pub(crate) fn place<'w>(&'w self, name: &'w str) -> Result<WorkspacePath<'w>, ToolError> {
        let (root, inner) = match self.skill_root(name) {
            Some(found) => found,
            None => (&self.roots[0], if name == "." { "" } else { name }),
        };
        if self.name_of(&root.path.join(inner)).as_deref() != Some(name)
            || normal_path(name).as_deref() != Some(name)
        {
            return Err(ToolError::Outside { path: name.to_owned() });
        }
        Ok(WorkspacePath { name, inner, root })
    }

    /// Finds a file to be read or listed.
    pub(crate) fn visible<'w>(&'w self, name: &'w str) -> Result<WorkspacePath<'w>, ToolError> {
        let place = self.place(name)?;
        match self.secrets.matching(place.inner) {
            Some(pattern) => {
                Err(ToolError::Hidden { path: name.to_owned(), pattern: pattern.to_string() })
            }
            None => Ok(place),
        }
    }

    /// Finds a file to be written or deleted.
    pub(crate) fn writable<'w>(&'w self, name: &'w str) -> Result<Target<'w>, ToolError> {
        let place = self.visible(name)?;
        if place.root.skill.is_some() || self.protected.matching(place.inner).is_some() {
            return Err(ToolError::ReadOnly { path: name.to_owned() });
        }
        let root = (place.root.folder.as_fd(), place.folder());
        let guard = self.closed.around(root, |path| self.roots[0].seen(path));
        let guard = guard.map_err(|source| ToolError::at(name, source))?;
        Target::new(place, guard, self)
    }

    fn skill_root<'w>(&'w self, name: &'w str) -> Option<(&'w Root, &'w str)> {
        self.roots.iter().find_map(|root| Some((root, root.inner_of(name)?)))
    }

    fn skill_path(&self, name: &str) -> Option<PathBuf> {
        self.skill_root(name).map(|(root, inner)| root.path.join(inner))
    }

    /// The one name of a path: from the first root that holds it, so that a skill inside the
    /// workspace has no second name that rules about the workspace would miss. What could pass for a file of a skill
    /// has none.
    fn name_of(&self, path: &Path) -> Option<String> {
        let (root, inner) = self.roots.iter().find_map(|root| {
            let inner = path.strip_prefix(&root.path).ok()?.to_str()?;
            Some((root, inner))
        })?;
        let misleads = root.skill.is_none() && inner.starts_with(SKILL_SCHEME);
        (!misleads).then(|| root.name_of(inner))
    }
}

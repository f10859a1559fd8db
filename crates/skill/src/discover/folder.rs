//! Looking at one folder: is it a skill, a group of skills, or neither?

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::{
    DiscoveryOptions, Found, Ignored, Known, Link, Problem, Stamp, Stamped, head, skips, stamp,
};

const MANIFEST: &str = "SKILL.md";

/// A folder to look at.
#[derive(Debug)]
pub(super) struct Folder {
    /// Relative to the root.
    path: PathBuf,
    name: String,
    way: Arc<Way>,
}

/// Where a folder really is when links were followed to reach it.
#[derive(Debug)]
struct Way {
    /// The part of the folder's path that `real` stands for.
    prefix: PathBuf,
    real: PathBuf,
    /// Real folders that were left through a link on the way here.
    left: Vec<PathBuf>,
    /// Links that led out of the root.
    outward: Vec<Link>,
}

/// What a look at a folder showed.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) found: Option<Found>,
    pub(super) ignored: Vec<Ignored>,
    pub(super) stamps: Vec<Stamped<'static>>,
    pub(super) children: Vec<Folder>,
    pub(super) bytes_read: u64,
}

/// One root, being looked at.
pub(super) struct Look<'a> {
    pub(super) handle: &'a OwnedFd,
    pub(super) root: &'a Path,
    pub(super) real: &'a Path,
    pub(super) options: &'a DiscoveryOptions,
    pub(super) known: &'a Known<'a>,
}

impl Folder {
    pub(super) fn root(real: &Path, name: Option<&OsStr>) -> Self {
        let way = Way {
            prefix: PathBuf::new(),
            real: real.to_owned(),
            left: Vec::new(),
            outward: Vec::new(),
        };
        let name = name.unwrap_or(OsStr::new("/")).to_string_lossy().into_owned();
        Self { path: PathBuf::new(), name, way: Arc::new(way) }
    }

    fn real(&self) -> PathBuf {
        self.way.real.join(self.path.strip_prefix(&self.way.prefix).unwrap_or(&self.path))
    }
}

impl Look<'_> {
    pub(super) fn at(&self, folder: &Folder) -> Step {
        let mut step = Step::default();
        let manifest = folder.path.join(MANIFEST);
        // A file that was known within the root may since have moved behind a link out of it.
        if folder.way.outward.is_empty()
            && let Some((stamp, found)) = self.known.get(manifest.as_path())
            && stamp::look(self.handle, &manifest, AtFlags::empty()).as_ref() == Some(stamp)
        {
            step.stamps.push(Stamped::new(manifest, Some((*stamp).clone())));
            step.found = Some((*found).clone());
            return step;
        }
        match self.open(&manifest, OFlags::NOFOLLOW) {
            Ok(file) => self.skill(folder, manifest, file, Vec::new(), &mut step),
            Err(Errno::NOENT) => self.group(folder, &mut step),
            // The last part of the path is a link.
            Err(Errno::LOOP) => self.linked_skill(folder, manifest, &mut step),
            Err(error) => {
                step.stamps.push(Stamped::at(self.handle, manifest.clone()));
                step.stamps.push(Stamped::at(self.handle, folder.path.clone()));
                step.ignore(manifest, unreadable(error));
            }
        }
        step
    }

    /// Opens without waiting: a pipe would otherwise block until someone writes to it.
    fn open(&self, path: &Path, flags: OFlags) -> Result<File, Errno> {
        let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        openat(self.handle, path, flags, Mode::empty()).map(File::from)
    }

    fn skill(
        &self,
        folder: &Folder,
        manifest: PathBuf,
        file: File,
        own: Vec<Link>,
        step: &mut Step,
    ) {
        let stat = match fstat(&file) {
            Ok(stat) => stat,
            Err(error) => return step.ignore(manifest, unreadable(error)),
        };
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let stamp = Stamp::from(stat);
        let modified = stamp.modified;
        step.stamps.push(Stamped::new(manifest.clone(), Some(stamp)));
        if !is_file {
            return step.ignore(manifest, Problem::NotAFile);
        }
        let (bytes_read, read) = head::read(file, &folder.name, &self.options.read);
        step.bytes_read = bytes_read;
        match read {
            Ok(metadata) => {
                let mut links = folder.way.outward.clone();
                links.extend(own);
                step.found = Some(Found { folder: folder.path.clone(), metadata, modified, links });
            }
            Err(problem) => step.ignore(manifest, problem),
        }
    }

    fn linked_skill(&self, folder: &Folder, manifest: PathBuf, step: &mut Step) {
        step.stamps.push(Stamped::link_at(self.handle, manifest.clone()));
        if !self.options.follow_symlinks {
            return step.ignore(manifest, Problem::LinkNotFollowed);
        }
        let target = self.root.join(&manifest).canonicalize();
        match self.open(&manifest, OFlags::empty()) {
            Ok(file) => {
                let own = target.ok().and_then(|target| self.outward(&manifest, &target));
                self.skill(folder, manifest, file, own.into_iter().collect(), step);
            }
            Err(error) => {
                step.stamps.push(Stamped::at(self.handle, manifest.clone()));
                step.ignore(manifest, link_problem(error));
            }
        }
    }

    /// The link at `path`, if it leads out of the root.
    fn outward(&self, path: &Path, target: &Path) -> Option<Link> {
        let leaves = !target.starts_with(self.real);
        leaves.then(|| Link { path: self.root.join(path), target: target.to_owned() })
    }

    /// A folder without `SKILL.md`: its folders are looked at next.
    fn group(&self, folder: &Folder, step: &mut Step) {
        step.stamps.push(Stamped::at(self.handle, folder.path.clone()));
        let listed = match self.list(folder) {
            Ok(listed) => listed,
            Err(error) => return step.ignore(folder.path.clone(), unreadable(error)),
        };
        for (name, kind) in listed {
            let path = folder.path.join(&name);
            match kind {
                FileType::Directory | FileType::Symlink if skips(&name) => self.skip(path, step),
                FileType::Directory => step.children.push(Folder {
                    path,
                    name: name.to_string_lossy().into_owned(),
                    way: Arc::clone(&folder.way),
                }),
                FileType::RegularFile | FileType::Symlink if is_manifest_in_other_case(&name) => {
                    let found = name.to_string_lossy().into_owned();
                    step.ignore(path, Problem::WrongCase { found });
                }
                FileType::Symlink => self.linked_folder(folder, &name, path, step),
                _ => {}
            }
        }
    }

    /// Nothing in such a folder is searched, but a skill that it is itself is reported.
    fn skip(&self, path: PathBuf, step: &mut Step) {
        let manifest = Stamped::at(self.handle, path.join(MANIFEST));
        let is_skill = manifest.stamp.is_some();
        step.stamps.push(manifest);
        if is_skill {
            step.ignore(path, Problem::SkippedFolder);
        }
    }

    fn linked_folder(&self, parent: &Folder, name: &OsStr, path: PathBuf, step: &mut Step) {
        step.stamps.push(Stamped::link_at(self.handle, path.clone()));
        let stat = statat(self.handle, &path, AtFlags::empty());
        match self.way_through(parent, &path, stat) {
            Ok(Some(way)) => {
                let name = name.to_string_lossy().into_owned();
                step.children.push(Folder { path, name, way: Arc::new(way) });
            }
            left_out => {
                // Nobody looks behind this link, but what is there may become a folder.
                let stamp = stat.ok().map(Stamp::from);
                step.stamps.push(Stamped::new(path.clone(), stamp));
                if let Err(problem) = left_out {
                    step.ignore(path, problem);
                }
            }
        }
    }

    /// Where the link at `path` leads; `None` if that is no folder.
    fn way_through(
        &self,
        parent: &Folder,
        path: &Path,
        stat: Result<Stat, Errno>,
    ) -> Result<Option<Way>, Problem> {
        if FileType::from_raw_mode(stat.map_err(link_problem)?.st_mode) != FileType::Directory {
            return Ok(None);
        }
        if !self.options.follow_symlinks {
            return Err(Problem::LinkNotFollowed);
        }
        let real = self.root.join(path).canonicalize().map_err(|_| Problem::BrokenLink)?;
        let mut left = parent.way.left.clone();
        left.push(parent.real());
        if left.iter().any(|left| left.starts_with(&real)) {
            return Err(Problem::LinkCycle);
        }
        let mut outward = parent.way.outward.clone();
        outward.extend(self.outward(path, &real));
        Ok(Some(Way { prefix: path.to_owned(), real, left, outward }))
    }

    /// Names and kinds, sorted by name.
    fn list(&self, folder: &Folder) -> Result<Vec<(OsString, FileType)>, Errno> {
        let path = if folder.path.as_os_str().is_empty() { Path::new(".") } else { &folder.path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(self.handle, path, flags, Mode::empty())?;
        let mut listed = Vec::new();
        for entry in Dir::new(opened)? {
            let entry = entry?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    let stat = statat(self.handle, folder.path.join(&name), flags);
                    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
                }
                kind => kind,
            };
            listed.push((name, kind));
        }
        listed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(listed)
    }
}

impl Step {
    fn ignore(&mut self, path: PathBuf, problem: Problem) {
        self.ignored.push(Ignored { path, problem });
    }
}

fn is_manifest_in_other_case(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(MANIFEST) && name != MANIFEST
}

fn unreadable(error: Errno) -> Problem {
    match error {
        // A socket, or a device without a driver.
        Errno::NXIO | Errno::NODEV => Problem::NotAFile,
        other => Problem::Unreadable { reason: std::io::Error::from(other).kind().to_string() },
    }
}

fn link_problem(error: Errno) -> Problem {
    match error {
        Errno::NOENT | Errno::NOTDIR => Problem::BrokenLink,
        Errno::LOOP => Problem::LinkCycle,
        other => unreadable(other),
    }
}

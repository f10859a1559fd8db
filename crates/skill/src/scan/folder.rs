//! Looking at one folder: is it a skill, a group of skills, or neither?

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use super::{
    Found, Ignored, Known, Link, Problem, ScanOptions, Stamp, Stamped, head, skips, stamp,
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
    pub(super) stamps: Vec<Stamped>,
    pub(super) children: Vec<Folder>,
    pub(super) bytes_read: u64,
}

/// One root, being looked at.
pub(super) struct Look<'a> {
    pub(super) handle: &'a OwnedFd,
    pub(super) root: &'a Path,
    pub(super) real: &'a Path,
    pub(super) options: &'a ScanOptions,
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
        if let Some((stamp, found)) = self.known.get(manifest.as_path())
            && stamp::look(self.handle, &manifest, AtFlags::empty()).as_ref() == Some(stamp)
        {
            step.stamps.push(Stamped {
                path: manifest,
                is_link: false,
                stamp: Some((*stamp).clone()),
            });
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
        step.stamps.push(Stamped { path: manifest.clone(), is_link: false, stamp: Some(stamp) });
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
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let leaves = !target.starts_with(self.real);
        leaves.then(|| Link { path: shown(&self.root.join(path)), target: shown(target) })
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
                FileType::Directory if !skips(&name) => step.children.push(Folder {
                    path,
                    name: name.to_string_lossy().into_owned(),
                    way: Arc::clone(&folder.way),
                }),
                FileType::Symlink if !skips(&name) => self.linked_folder(folder, &name, path, step),
                FileType::RegularFile if is_manifest_in_other_case(&name) => {
                    let found = name.to_string_lossy().into_owned();
                    step.ignore(path, Problem::WrongCase { found });
                }
                _ => {}
            }
        }
    }

    fn linked_folder(&self, parent: &Folder, name: &OsStr, path: PathBuf, step: &mut Step) {
        step.stamps.push(Stamped::link_at(self.handle, path.clone()));
        let target = match statat(self.handle, &path, AtFlags::empty()) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                self.root.join(&path).canonicalize()
            }
            Ok(_) => return,
            Err(error) => {
                step.stamps.push(Stamped::absent(path.clone()));
                return step.ignore(path, link_problem(error));
            }
        };
        if !self.options.follow_symlinks {
            return step.ignore(path, Problem::LinkNotFollowed);
        }
        let Ok(target) = target else { return step.ignore(path, Problem::BrokenLink) };
        let stands_in = parent.real();
        if std::iter::once(&stands_in).chain(&parent.way.left).any(|left| left.starts_with(&target))
        {
            return step.ignore(path, Problem::LinkCycle);
        }
        let mut left = parent.way.left.clone();
        left.push(stands_in);
        let mut outward = parent.way.outward.clone();
        outward.extend(self.outward(&path, &target));
        let way = Arc::new(Way { prefix: path.clone(), real: target, left, outward });
        step.children.push(Folder { path, name: name.to_string_lossy().into_owned(), way });
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
    Problem::Unreadable { reason: std::io::Error::from(error).kind().to_string() }
}

fn link_problem(error: Errno) -> Problem {
    match error {
        Errno::NOENT | Errno::NOTDIR => Problem::BrokenLink,
        Errno::LOOP => Problem::LinkCycle,
        other => unreadable(other),
    }
}

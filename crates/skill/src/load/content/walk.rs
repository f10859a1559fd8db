//! Walking through a skill's folder: every file is read once, hashed and, where wanted, copied.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use basics::sha256::hex;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode as Permissions, OFlags, RawMode, fchmod, fstat, mkdirat, openat,
    readlinkat, statat, symlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use sha2::{Digest, Sha256};

use super::super::files::{CAREFUL, MANIFEST, Store};
use super::{BYTES, COUNT, Content, CopyError, DEPTH, Files, Gap, Item, Kind};
use crate::lock::Mode;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const BLOCK: usize = 64 << 10;

/// What was found so far.
#[derive(Default)]
pub(super) struct Walk {
    items: Vec<Item>,
    seen: usize,
    bytes: u64,
    /// The first thing that cannot be vouched for, where the walk could go on.
    gap: Option<Gap>,
}

impl Walk {
    pub(super) fn finish(self, stopped: Option<Gap>) -> Content {
        Content::new(self.items, stopped.or(self.gap))
    }

    fn count(&mut self) -> Result<(), Gap> {
        self.seen += 1;
        if self.seen > COUNT { Err(Gap::TooManyFiles) } else { Ok(()) }
    }

    fn weigh(&mut self, bytes: u64) -> Result<(), Gap> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES { Err(Gap::TooManyBytes) } else { Ok(()) }
    }

    fn note(&mut self, gap: Gap) {
        self.gap.get_or_insert(gap);
    }

    fn add(&mut self, path: &[u8], kind: Kind) {
        self.items.push(Item { path: path.to_owned(), kind });
    }

    /// One file: read once, through one handle.
    fn file(
        &mut self,
        path: &[u8],
        mode: Mode,
        mut from: impl Read,
        mut to: Option<File>,
    ) -> Result<(), CopyError> {
        let mut hasher = Sha256::new();
        let mut size = 0;
        let mut block = vec![0; BLOCK];
        loop {
            let read = match from.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.note(unreadable(path, &error));
                    return Ok(());
                }
            };
            self.weigh(read as u64)?;
            size += read as u64;
            hasher.update(&block[..read]);
            if let Some(to) = &mut to {
                to.write_all(&block[..read])?;
            }
        }
        self.add(path, Kind::File { mode, size, sha256: hex(&hasher.finalize()) });
        Ok(())
    }
}

impl Files {
    /// Walks through everything; `to` is where it is copied.
    pub(super) fn walk(&self, walk: &mut Walk, to: Option<&OwnedFd>) -> Result<(), CopyError> {
        match self.place() {
            Store::Disk { folder, .. } => self.folder(walk, folder.as_fd(), b"", to, 0),
            Store::Builtin(files) => files.iter().try_for_each(|file| {
                // Built-in scripts are those that name their interpreter.
                let mode =
                    if file.bytes.starts_with(b"#!") { Mode::Executable } else { Mode::Plain };
                let to = to.map(|to| create_below(to, file.path, mode)).transpose()?;
                walk.file(file.path.as_bytes(), mode, file.bytes, to)
            }),
        }
    }

    fn folder(
        &self,
        walk: &mut Walk,
        folder: impl AsFd,
        path: &[u8],
        to: Option<&OwnedFd>,
        depth: usize,
    ) -> Result<(), CopyError> {
        if depth > DEPTH {
            return Err(Gap::TooDeep.into());
        }
        let names = match names(&folder, walk)? {
            Ok(names) => names,
            Err(error) => {
                walk.note(unreadable(path, &error.into()));
                return Ok(());
            }
        };
        if names.is_empty() && depth > 0 {
            walk.add(path, Kind::Folder);
        }
        for name in names {
            let bytes = name.to_bytes();
            let inner = if path.is_empty() { bytes.to_vec() } else { [path, b"/", bytes].concat() };
            match statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(error) => walk.note(unreadable(&inner, &error.into())),
                Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                    FileType::Directory => {
                        let opened = match openat(&folder, &name, FOLDER, Permissions::empty()) {
                            Ok(opened) => opened,
                            Err(error) => {
                                walk.note(unreadable(&inner, &error.into()));
                                continue;
                            }
                        };
                        let to = to.map(|to| create_folder(to, &name)).transpose()?;
                        self.folder(walk, opened, &inner, to.as_ref(), depth + 1)?;
                    }
                    FileType::Symlink if inner == MANIFEST.as_bytes() => {
                        self.linked_manifest(walk, to)?;
                    }
                    FileType::Symlink => link(walk, &folder, &name, &inner, to)?,
                    FileType::RegularFile => file(walk, &folder, &name, &inner, to)?,
                    _ => walk.note(Gap::NotAFile { path: lossy(&inner) }),
                },
            }
        }
        Ok(())
    }

    /// `SKILL.md` alone may be a link out of the skill, and counts as the file that it leads to.
    fn linked_manifest(&self, walk: &mut Walk, to: Option<&OwnedFd>) -> Result<(), CopyError> {
        match self.read_manifest(BYTES) {
            Ok(bytes) => {
                let to = to.map(|to| create(to, MANIFEST, Mode::Plain)).transpose()?;
                walk.file(MANIFEST.as_bytes(), Mode::Plain, bytes.as_slice(), to)
            }
            Err(error) => {
                let (path, reason) = (MANIFEST.to_owned(), error.to_string());
                walk.note(Gap::Unreadable { path, reason });
                Ok(())
            }
        }
    }
}

/// The names in a folder; each is counted before it is kept.
fn names(folder: impl AsFd, walk: &mut Walk) -> Result<Result<Vec<CString>, Errno>, Gap> {
    let mut names = Vec::new();
    let opened = match openat(folder, ".", FOLDER, Permissions::empty()).and_then(Dir::new) {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error)),
    };
    for entry in opened {
        let name = match entry {
            Ok(entry) => entry.file_name().to_owned(),
            Err(error) => return Ok(Err(error)),
        };
        if !matches!(name.to_bytes(), b"." | b"..") {
            walk.count()?;
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(Ok(names))
}

fn link(
    walk: &mut Walk,
    folder: impl AsFd,
    name: &CString,
    path: &[u8],
    to: Option<&OwnedFd>,
) -> Result<(), CopyError> {
    match readlinkat(folder, name, Vec::new()) {
        Ok(target) => {
            if let Some(to) = to {
                symlinkat(&target, to, name).map_err(io::Error::from)?;
            }
            walk.add(path, Kind::Link { target: target.into_bytes() });
        }
        Err(error) => walk.note(unreadable(path, &error.into())),
    }
    Ok(())
}

fn file(
    walk: &mut Walk,
    folder: impl AsFd,
    name: &CString,
    path: &[u8],
    to: Option<&OwnedFd>,
) -> Result<(), CopyError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | CAREFUL;
    let opened = openat(folder, name, flags, Permissions::empty());
    let opened = opened.and_then(|file| Ok((fstat(&file)?, File::from(file))));
    let (found, from) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            walk.note(unreadable(path, &error.into()));
            return Ok(());
        }
    };
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        walk.note(Gap::NotAFile { path: lossy(path) });
        return Ok(());
    }
    // A large file is not read to find out that it is too large.
    let size = u64::try_from(found.st_size).unwrap_or(u64::MAX);
    if walk.bytes.saturating_add(size) > BYTES {
        return Err(Gap::TooManyBytes.into());
    }
    #[allow(clippy::useless_conversion, reason = "its type depends on the system")]
    let mode = Mode::of(found.st_mode.into());
    let to = to.map(|to| create(to, name, mode)).transpose()?;
    walk.file(path, mode, from, to)
}

/// Makes a folder that was not there, and opens it.
pub(super) fn create_folder(below: impl AsFd, name: impl Arg + Copy) -> io::Result<OwnedFd> {
    mkdirat(&below, name, Permissions::from_raw_mode(0o755))?;
    Ok(openat(below, name, FOLDER, Permissions::empty())?)
}

/// Makes a file that was not there.
fn create(below: impl AsFd, name: impl Arg, mode: Mode) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let permissions = Permissions::from_raw_mode(mode.bits() as RawMode);
    let file = openat(below, name, flags, permissions)?;
    // Whatever the process takes away from new files.
    fchmod(&file, permissions)?;
    Ok(file.into())
}

/// The same for a path with folders that may have to be made.
fn create_below(below: &OwnedFd, path: &str, mode: Mode) -> io::Result<File> {
    let Some((folder, rest)) = path.split_once('/') else { return create(below, path, mode) };
    match mkdirat(below, folder, Permissions::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    create_below(&openat(below, folder, FOLDER, Permissions::empty())?, rest, mode)
}

fn unreadable(path: &[u8], error: &io::Error) -> Gap {
    let path = if path.is_empty() { ".".to_owned() } else { lossy(path) };
    Gap::Unreadable { path, reason: error.kind().to_string() }
}

fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

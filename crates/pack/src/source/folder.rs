//! A folder as a source: its skills, read once, no link followed.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode as Bits, OFlags, Stat, fstat, openat, statat};
use skill::metadata::ReadOptions;

use crate::material::{ArchiveError, Limits, Material, Mode};
use crate::refusal::{Flaw, Refusal};
use crate::spool::Spool;

/// Folders between the source and a skill, as in a root.
const DEEPEST_SKILL: usize = 6;

/// Gathers the skills in `folders`, or all skills below them.
pub(super) fn gather(
    folders: &[PathBuf],
    limits: Limits,
    options: &ReadOptions,
) -> Result<Material, ArchiveError> {
    let mut walk = Walk { spool: Spool::new(limits)? };
    for folder in folders {
        // The folder that the user named may be a link; what is in it may not.
        let opened = openat(
            CWD,
            folder,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Bits::empty(),
        );
        let place = match folders {
            [one] => one.file_name().unwrap_or_default().to_string_lossy(),
            _ => folder.to_string_lossy(),
        };
        walk.search(opened.map_err(std::io::Error::from)?, &place, DEEPEST_SKILL)?;
    }
    walk.spool.finish(options)
}

struct Walk {
    spool: Spool,
}

impl Walk {
    /// Looks for skills; below a skill nothing is searched.
    fn search(&mut self, folder: OwnedFd, place: &str, depth: usize) -> Result<(), ArchiveError> {
        if statat(&folder, "SKILL.md", AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return self.take(folder, place, b"");
        }
        for name in names(&folder)? {
            let skipped = name.starts_with(b".") || name == b"node_modules" || depth == 0;
            let found = statat(&folder, OsStr::from_bytes(&name), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(std::io::Error::from)?;
            if !skipped && FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                let inner = open(&folder, &name, OFlags::DIRECTORY)?;
                self.search(
                    inner,
                    &format!("{place}/{}", String::from_utf8_lossy(&name)),
                    depth - 1,
                )?;
            }
        }
        Ok(())
    }

    /// Takes everything below a skill's folder.
    fn take(&mut self, folder: OwnedFd, place: &str, prefix: &[u8]) -> Result<(), ArchiveError> {
        for name in names(&folder)? {
            let path = [prefix, &name].concat();
            let shown = || format!("{place}/{}", String::from_utf8_lossy(&path));
            let found = statat(&folder, OsStr::from_bytes(&name), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(std::io::Error::from)?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => {
                    self.spool.folder(place, &path)?;
                    let inner = open(&folder, &name, OFlags::DIRECTORY)?;
                    self.take(inner, place, &[&path[..], b"/"].concat())?;
                }
                FileType::RegularFile => {
                    let file = open(&folder, &name, OFlags::NONBLOCK)?;
                    // What was opened is what is checked.
                    let found = fstat(&file).map_err(std::io::Error::from)?;
                    let mode = mode(&found).map_err(|flaw| Refusal::of(flaw, shown()))?;
                    self.spool.file(place, &path, mode, File::from(file))?;
                }
                kind => return Err(Refusal::of(flaw_of(kind), shown()).into()),
            }
        }
        Ok(())
    }
}

fn flaw_of(kind: FileType) -> Flaw {
    match kind {
        FileType::Symlink => Flaw::Symlink,
        FileType::Fifo => Flaw::Fifo,
        FileType::Socket => Flaw::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => Flaw::Device,
        _ => Flaw::OddType,
    }
}

fn mode(found: &Stat) -> Result<Mode, Flaw> {
    let kind = FileType::from_raw_mode(found.st_mode);
    match () {
        () if kind != FileType::RegularFile => Err(flaw_of(kind)),
        () if found.st_nlink > 1 => Err(Flaw::HardLink),
        () if found.st_mode & 0o7000 != 0 => Err(Flaw::Setuid),
        #[allow(clippy::useless_conversion, reason = "its type depends on the system")]
        () => Ok(Mode::of(found.st_mode.into())),
    }
}

fn open(folder: &OwnedFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, ArchiveError> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(folder, OsStr::from_bytes(name), flags, Bits::empty())
        .map_err(std::io::Error::from)?)
}

/// Sorted, so that a refusal does not depend on the order on disk.
fn names(folder: &OwnedFd) -> Result<Vec<Vec<u8>>, ArchiveError> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(std::io::Error::from)? {
        let name = entry.map_err(std::io::Error::from)?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

//! A file that is written before anybody can see it, then put in place at once.
//!
//! Invariant: a kill at any moment leaves the old file or the new one. Only between getting a name and being
//! put over an old file does the content have a name of its own; [`sweep`] removes what a kill leaves then.
//!
//! Whoever writes holds a lock on the file, and the kernel lets go of it when the process ends: so what has the
//! name of a temporary file and no lock belongs to nobody.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RawMode, flock, fstat, linkat, openat,
    renameat, unlinkat,
};
use rustix::io::Errno;

use crate::platform::{link_unnamed, open_unnamed};

/// What a temporary file is called: this, the number of its process and another one, and the end.
const NAME: (&str, &str) = (".skillful-", ".tmp");

/// Content on its way to its place.
#[derive(Debug)]
pub(super) struct Staged {
    file: File,
    /// What it is called meanwhile, where it is called anything.
    name: Option<String>,
}

/// Content that has a name, beside its place.
#[derive(Debug)]
pub(super) struct Named {
    name: String,
    /// Keeps the lock.
    _file: File,
}

impl Staged {
    /// Writes the content down without a name; not every system and file system can.
    pub(super) fn unnamed(folder: &OwnedFd, bytes: &[u8], mode: Option<u32>) -> io::Result<Self> {
        let file = File::from(open_unnamed(folder)?);
        lock(&file);
        let mut staged = Self { file, name: None };
        staged.fill(bytes, mode)?;
        Ok(staged)
    }

    /// Writes the content down under a temporary name.
    pub(super) fn beside(folder: &OwnedFd, bytes: &[u8], mode: Option<u32>) -> io::Result<Self> {
        let mut staged = Self::create(folder)?;
        staged.fill(bytes, mode).map_err(|error| staged.give_up(folder, error))?;
        Ok(staged)
    }

    fn fill(&mut self, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if let Some(mode) = mode {
            // Permissions alone: whoever recorded it does not make a program run as somebody else.
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode((mode & 0o777) as RawMode))?;
        }
        self.file.sync_all()
    }

    /// Makes a file with a temporary name.
    fn create(folder: &OwnedFd) -> io::Result<Self> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let (name, file) =
                free_name(|name| openat(folder, name, flags, Mode::from_raw_mode(0o666)))?;
            let file = File::from(file);
            lock(&file);
            // Before it was locked, somebody may have taken it for a leftover.
            if fstat(&file)?.st_nlink > 0 {
                return Ok(Self { file, name: Some(name) });
            }
        }
    }

    /// Puts the content where nothing is; it is an error when something came there meanwhile.
    pub(super) fn put(self, folder: &OwnedFd, place: &OsStr) -> io::Result<()> {
        let Some(name) = &self.name else { return Ok(link_unnamed(&self.file, folder, place)?) };
        match linkat(folder, &**name, folder, place, AtFlags::empty()) {
            Ok(()) => Ok(unlinkat(folder, &**name, AtFlags::empty())?),
            Err(error @ Errno::EXIST) => Err(self.give_up(folder, error.into())),
            // A file system on which no file has two names.
            Err(_) => self.named(folder)?.put_over(folder, place),
        }
    }

    /// Gives the content a name beside its place.
    pub(super) fn named(self, folder: &OwnedFd) -> io::Result<Named> {
        let Self { file, name } = self;
        let name = match name {
            Some(name) => name,
            None => free_name(|name| link_unnamed(&file, folder, OsStr::new(name)))?.0,
        };
        Ok(Named { name, _file: file })
    }

    /// Takes back what has a name already.
    fn give_up(&self, folder: &OwnedFd, error: io::Error) -> io::Error {
        if let Some(name) = &self.name {
            // What went wrong before matters more than a leftover.
            let _ = unlinkat(folder, &**name, AtFlags::empty());
        }
        error
    }
}

impl Named {
    /// Puts the content in the place of an old file.
    pub(super) fn put_over(self, folder: &OwnedFd, place: &OsStr) -> io::Result<()> {
        renameat(folder, &*self.name, folder, place).map_err(|error| {
            let _ = unlinkat(folder, &*self.name, AtFlags::empty());
            error.into()
        })
    }
}

/// Removes temporary files that nobody writes any more. What cannot be removed stays: it is in nobody's way.
pub(super) fn sweep(folder: &OwnedFd) {
    for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if is_temporary(name) && is_abandoned(folder, name) {
            let _ = unlinkat(folder, name, AtFlags::empty());
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_prefix(NAME.0)?.strip_suffix(NAME.1));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    })
}

fn is_abandoned(folder: &OwnedFd, name: &OsStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(folder, name, flags, Mode::empty()) else { return false };
    let is_file = fstat(&file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    is_file && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// A file system without locks keeps leftovers, and that is all.
fn lock(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Tries one temporary name after the other until one is free.
fn free_name<T>(mut take: impl FnMut(&str) -> Result<T, Errno>) -> io::Result<(String, T)> {
    let mut attempt = 0_u32;
    loop {
        let name = format!("{}{}-{attempt}{}", NAME.0, std::process::id(), NAME.1);
        match take(&name) {
            Ok(taken) => return Ok((name, taken)),
            Err(Errno::EXIST) => attempt += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;

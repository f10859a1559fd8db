//! `write_file` and `delete_file`.
//!
//! Invariants: a reader sees the file before or after a change, never in between; what was there has
//! been recorded before anything changes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;
use serde_json::json;

use super::beneath;
use crate::call::{DeleteFile, WriteFile};
use crate::outcome::{Outcome, ToolError, sha256};
use crate::undo::{Previous, Undo};
use crate::workspace::{Place, Workspace};

type Record<'r> = &'r mut dyn FnMut(&Undo) -> io::Result<()>;

/// Creates a file, or replaces all of it.
pub(crate) fn write_file(
    call: &WriteFile,
    workspace: &Workspace,
    record: Record<'_>,
) -> Result<Outcome, ToolError> {
    let place = workspace.writable(&call.path)?;
    let (size, limit) = (call.content.len() as u64, workspace.limits.file_bytes);
    if size > limit {
        return Err(ToolError::TooLarge { path: call.path.clone(), size, limit });
    }
    let previous = previous(&place, limit)?;
    let mode = previous.as_ref().map(|file| file.mode);
    // Renaming would get around the protection of a file that its owner made read-only.
    if mode.is_some_and(|mode| mode & 0o222 == 0) {
        return Err(ToolError::at(&call.path, io::ErrorKind::PermissionDenied.into()));
    }
    let sha256 = sha256(call.content.as_bytes());
    let facts = json!({"path": call.path, "size": size, "created": previous.is_none()});
    let undo = Undo { path: call.path.clone(), previous, sha256_after: Some(sha256.clone()) };
    record(&undo).map_err(|source| ToolError::NotRecorded { path: call.path.clone(), source })?;
    replace(place.folder(), place.path(), call.content.as_bytes(), mode)
        .map_err(|source| ToolError::at(&call.path, source))?;
    Ok(Outcome::done(sha256, facts))
}

/// Deletes a file.
pub(crate) fn delete_file(
    call: &DeleteFile,
    workspace: &Workspace,
    record: Record<'_>,
) -> Result<Outcome, ToolError> {
    let place = workspace.writable(&call.path)?;
    let at = |source| ToolError::at(&call.path, source);
    let previous = previous(&place, workspace.limits.file_bytes)?;
    let bytes = previous
        .as_ref()
        .map(|file| &file.bytes)
        .ok_or_else(|| at(io::ErrorKind::NotFound.into()))?;
    let outcome = Outcome::done(sha256(bytes), json!({"path": call.path, "size": bytes.len()}));
    let undo = Undo { path: call.path.clone(), previous, sha256_after: None };
    record(&undo).map_err(|source| ToolError::NotRecorded { path: call.path.clone(), source })?;
    remove(place.folder(), place.path()).map_err(at)?;
    Ok(outcome)
}

/// What is there now, if anything is.
pub(crate) fn previous(place: &Place<'_>, limit: u64) -> Result<Option<Previous>, ToolError> {
    let read = || -> io::Result<_> {
        let mut file = beneath::open_file(place.folder(), place.path())?;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        let bytes = beneath::read_whole(&mut file, limit)?;
        Ok(bytes.map(|bytes| Previous { bytes, mode }))
    };
    match read() {
        Ok(Ok(previous)) => Ok(Some(previous)),
        Ok(Err(size)) => Err(ToolError::TooLarge { path: place.name.to_owned(), size, limit }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ToolError::at(place.name, error)),
    }
}

/// Puts a file in place, whole or not at all.
pub(crate) fn replace(
    root: BorrowedFd<'_>,
    path: &Path,
    bytes: &[u8],
    mode: Option<u32>,
) -> io::Result<()> {
    let (folder, name) = beneath::create_parent(root, path)?;
    let (mut file, temporary) = create_temporary(folder.as_fd())?;
    let put = |file: &mut File| {
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&*file, Mode::from_raw_mode(mode))?;
        }
        file.sync_all()?;
        Ok(renameat(&folder, &*temporary, &folder, name)?)
    };
    if let Err(error) = put(&mut file) {
        // What went wrong before matters more than a leftover.
        let _ = unlinkat(&folder, &*temporary, AtFlags::empty());
        return Err(error);
    }
    Ok(rustix::fs::fsync(&folder)?)
}

/// Removes a file.
pub(crate) fn remove(root: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let (folder, name): (_, &OsStr) = beneath::open_parent(root, path)?;
    unlinkat(&folder, name, AtFlags::empty())?;
    Ok(rustix::fs::fsync(&folder)?)
}

fn create_temporary(folder: BorrowedFd<'_>) -> io::Result<(File, String)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut attempt = 0_u32;
    loop {
        let name = format!(".skillful-{}-{attempt}.tmp", std::process::id());
        match openat(folder, &*name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((File::from(file), name)),
            Err(Errno::EXIST) => attempt += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

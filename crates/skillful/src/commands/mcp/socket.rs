//! A socket file that only its user can reach.
//!
//! Invariant: it lies in a folder that nobody else can enter, what is there and is not a socket that nobody
//! listens on stays as it is, and no link is followed.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use basics::failure::Explain;
use rustix::fs::{
    AtFlags, Dev, FileType, FlockOperation, Mode, OFlags, Stat, chmodat, flock, fstat, open,
    statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

use crate::failure::Exit;
use crate::platform::reach;

/// The file of a socket; it goes when this is dropped.
#[derive(Debug)]
pub(super) struct SocketFile {
    folder: OwnedFd,
    name: OsString,
    device: Dev,
    inode: u64,
}

/// Why nobody can listen there.
#[derive(Debug, thiserror::Error)]
pub(super) enum SocketError {
    #[error("`{}` does not name a file", .0.display())]
    NoName(PathBuf),
    #[error("cannot open the folder `{}`", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("other users can enter `{}`", .0.display())]
    Shared(PathBuf),
    #[error("`{}` already exists and is not your socket", .0.display())]
    Taken(PathBuf),
    #[error("another server already uses `{}`", .0.display())]
    InUse(PathBuf),
    #[error("cannot listen on `{}`", path.display())]
    Listen { path: PathBuf, source: io::Error },
}

impl Explain for SocketError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoName(_) | Self::Shared(_) => Exit::Usage,
            _ => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoName(_) | Self::Shared(_) => "Usage",
            _ => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::NoName(_) => "give a file, such as unix:$XDG_RUNTIME_DIR/skillful.sock",
            Self::Folder { .. } => "use a folder that exists and is not a link",
            Self::Shared(_) => {
                "use your own folder, such as $XDG_RUNTIME_DIR, or create one with `mkdir -m 700`"
            }
            Self::Taken(_) => "use a file name that does not exist",
            Self::InUse(_) => "stop that server, or use another file",
            Self::Listen { .. } => "check that you can write to the folder",
        }
        .into()
    }
}

impl SocketFile {
    /// Listens at `path`, in place of a server that is gone.
    pub(super) async fn listen(path: &Path) -> Result<(UnixListener, Self), SocketError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(SocketError::NoName(path.to_owned()));
        };
        let folder = private_folder(parent)?;
        let failed =
            |error: io::Error| SocketError::Listen { path: path.to_owned(), source: error };
        // One server after the other, so that none takes away what another has just made.
        flock(&folder, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| failed(error.into()))?;
        make_way(&folder, name, path).await?;
        let listener = UnixListener::bind(reach(&folder, path)).map_err(failed)?;
        let made = secure(&folder, name).map_err(|error| failed(error.into()))?;
        flock(&folder, FlockOperation::Unlock).map_err(|error| failed(error.into()))?;
        let file = Self { folder, name: name.to_owned(), device: made.st_dev, inode: made.st_ino };
        Ok((listener, file))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_own = |found: Stat| found.st_dev == self.device && found.st_ino == self.inode;
        if statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_own) {
            // One that stays is replaced by the next server.
            let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// The folder, if it belongs to this user and nobody else can look into it.
fn private_folder(folder: &Path) -> Result<OwnedFd, SocketError> {
    let failed =
        |error: Errno| SocketError::Folder { folder: folder.to_owned(), source: error.into() };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(folder, flags, Mode::empty()).map_err(failed)?;
    let found = fstat(&opened).map_err(failed)?;
    let others = Mode::RWXG | Mode::RWXO;
    let is_private = found.st_uid == geteuid().as_raw()
        && !Mode::from_raw_mode(found.st_mode).intersects(others);
    if is_private { Ok(opened) } else { Err(SocketError::Shared(folder.to_owned())) }
}

/// Takes away the socket of a server that is gone.
async fn make_way(folder: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), SocketError> {
    let failed = |error: Errno| SocketError::Listen { path: path.to_owned(), source: error.into() };
    let found = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let is_socket = FileType::from_raw_mode(found.st_mode) == FileType::Socket;
    if !is_socket || found.st_uid != geteuid().as_raw() {
        return Err(SocketError::Taken(path.to_owned()));
    }
    match UnixStream::connect(reach(folder, path)).await {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            unlinkat(folder, name, AtFlags::empty()).map_err(failed)
        }
        // One that is too busy to answer is there, too.
        Ok(_) | Err(_) => Err(SocketError::InUse(path.to_owned())),
    }
}

/// Only the user can connect.
fn secure(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<Stat> {
    chmodat(folder, name, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

//! Why a file or folder of state is not touched.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use basics::failure::{Exit, Explain, Failure};

/// What could not be done with a file or folder of state.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`", path.display())]
pub struct StateError {
    /// What was tried.
    pub doing: &'static str,
    /// With what: the link itself, where one is on the way.
    pub path: PathBuf,
    /// Why it failed.
    #[source]
    pub cause: Cause,
}

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// A link would lead elsewhere.
    #[error("it is a link, and links are not followed here")]
    Link,
    /// A folder, a pipe, a device, a socket.
    #[error("it is not a plain file")]
    NotAFile,
    /// Something else is in the place of a folder.
    #[error("it is not a folder")]
    NotAFolder,
    /// Whoever changes it changes a file somewhere else, too.
    #[error("it is a hard link: the file has a second name elsewhere")]
    ManyNames,
    /// Somebody else can change it at any time.
    #[error("it belongs to another user")]
    NotOurs,
    /// It has more bytes than a file of its kind can have.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// How many it may have.
        limit: u64,
    },
    /// The path is not one of plain names.
    #[error("the path leads outside its folder")]
    Outside,
    /// Another file system is mounted there.
    #[error("it is on another file system")]
    OtherDisk,
    /// Somebody gave a folder another place while it was worked on.
    #[error("it was moved in the meantime")]
    Moved,
    /// The system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for Cause {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Io(error.into())
    }
}

impl StateError {
    /// Whether there is nothing of that name.
    pub fn is_missing(&self) -> bool {
        self.kind() == Some(io::ErrorKind::NotFound)
    }

    /// Whether there is already something of that name.
    pub fn is_taken(&self) -> bool {
        self.kind() == Some(io::ErrorKind::AlreadyExists)
    }

    /// Whether something is there that this program never puts there.
    pub fn is_unsafe(&self) -> bool {
        self.kind().is_none()
    }

    fn kind(&self) -> Option<io::ErrorKind> {
        match &self.cause {
            Cause::Io(error) => Some(error.kind()),
            _ => None,
        }
    }
}

impl Cause {
    fn io_kind(&self) -> io::ErrorKind {
        match self {
            Self::Io(error) => error.kind(),
            Self::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Self::NotAFolder => io::ErrorKind::NotADirectory,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

impl From<StateError> for io::Error {
    fn from(error: StateError) -> Self {
        Self::new(error.cause.io_kind(), Failure::of(&error))
    }
}

/// For those who name the file themselves.
impl From<Cause> for io::Error {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Io(error) => error,
            cause => Self::new(cause.io_kind(), cause),
        }
    }
}

impl Explain for StateError {
    fn exit(&self) -> Exit {
        if self.is_unsafe() { Exit::Refused } else { Exit::Failed }
    }

    fn code(&self) -> &'static str {
        if self.is_unsafe() { "StateUnsafe" } else { "IOError" }
    }

    fn hint(&self) -> Cow<'static, str> {
        match &self.cause {
            Cause::Link => {
                "Skillful never makes a link there: check where it leads, then remove it"
            }
            Cause::NotAFile | Cause::NotAFolder | Cause::ManyNames => {
                "Skillful never creates such a thing there: look at it, then remove it"
            }
            Cause::NotOurs => "run the command as its owner, or remove it",
            Cause::TooLarge { .. } => "Skillful never writes so much there: remove it",
            Cause::Outside => "somebody else made or changed the file that names it",
            Cause::OtherDisk => "unmount what is mounted there",
            Cause::Moved => "try again when no other program works there",
            Cause::Io(_) => "check that the disk has space and that the folder belongs to you",
        }
        .into()
    }
}

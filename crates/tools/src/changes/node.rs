//! What a path can be, and what the file system says about it.

use basics::sha256::Sha256;
use rustix::fs::{FileType, Stat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path::LinkTarget;

/// The bits of a mode that say who may use a file. The others would make programs run as somebody else.
pub(super) const PERMISSIONS: u32 = 0o777;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// A file.
    File {
        /// How many bytes it has.
        size: u64,
        /// Who may use it.
        mode: u32,
        /// The hash of its content.
        sha256: Sha256,
    },
    /// A link.
    Link {
        /// What it points to.
        target: LinkTarget,
    },
    /// A folder.
    Folder {
        /// Who may use it.
        mode: u32,
    },
}

/// Of what kind something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A file.
    File,
    /// A link.
    Link,
    /// A folder.
    Folder,
    /// A device, a pipe or a socket.
    Other,
}

impl Node {
    /// Of what kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::File { .. } => Kind::File,
            Self::Link { .. } => Kind::Link,
            Self::Folder { .. } => Kind::Folder,
        }
    }

    /// Who may use it; a link has no mode.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Folder { mode } => Some(*mode),
            Self::Link { .. } => None,
        }
    }

    /// How many bytes a file has.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::File { size, .. } => Some(*size),
            _ => None,
        }
    }

    /// The hash of a file's content.
    pub fn sha256(&self) -> Option<Sha256> {
        match self {
            Self::File { sha256, .. } => Some(*sha256),
            _ => None,
        }
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind() == Kind::Folder
    }
}

/// A moment on the file system's clock.
pub(super) type Moment = (i64, u32);

/// What the file system says about something: as long as this is the same, nobody has changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) size: u64,
    pub(super) inode: u64,
    pub(super) modified: Moment,
    pub(super) changed: Moment,
}

impl Stamp {
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "their types differ from system to system"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            FileType::Directory => Kind::Folder,
            _ => Kind::Other,
        };
        Self {
            kind,
            mode: u32::from(stat.st_mode) & 0o7777,
            size: stat.st_size as u64,
            inode: stat.st_ino as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        }
    }

    /// Who may use it.
    pub(super) fn permissions(&self) -> u32 {
        self.mode & PERMISSIONS
    }

    /// Whether it is the same file, wherever it was moved to: that changes only the last moment.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        let facts = |stamp: &Self| (stamp.kind, stamp.size, stamp.inode, stamp.modified);
        facts(self) == facts(other)
    }
}

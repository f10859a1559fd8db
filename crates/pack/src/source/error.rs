//! Why a source cannot be used.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use basics::failure::{Exit, Explain};
use serde_json::Value;

use crate::material::ArchiveError;
use crate::refusal::{Flaw, Kind};

/// Why a source cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Nobody knows what it means.
    #[error("`{source_text}` is not a source: {reason}")]
    Unclear {
        /// What was given.
        source_text: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// It would be fetched in the clear, or by another program.
    #[error("`{source_text}` is refused: over a network, only https is allowed")]
    NotHttps {
        /// What was given.
        source_text: String,
    },
    /// There is no such file or folder.
    #[error("`{}` does not exist", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its content is refused.
    #[error(transparent)]
    Content(#[from] ArchiveError),
    /// The program `git` did not do its work.
    #[error("git failed: {message}")]
    Git {
        /// What it said.
        message: String,
    },
    /// The address did not answer as it should.
    #[error("cannot fetch `{url}`: {reason}")]
    Fetch {
        /// The address.
        url: String,
        /// Why.
        reason: String,
    },
    /// It led to an address that is not taken.
    #[error(
        "`{url}` leads to `{location}`, which is refused: over a network, only https is allowed"
    )]
    Redirect {
        /// The address.
        url: String,
        /// Where it led.
        location: String,
    },
    /// There is more than the limit.
    #[error("`{url}` has more than {limit} bytes")]
    TooLarge {
        /// The address.
        url: String,
        /// The number of bytes allowed.
        limit: u64,
    },
}

impl SourceError {
    /// What it says about the source.
    pub fn kind(&self) -> Kind {
        match self {
            Self::NotHttps { .. } | Self::Redirect { .. } | Self::TooLarge { .. } => Kind::Hostile,
            Self::Content(ArchiveError::Refused(refusal)) => refusal.flaw.kind(),
            _ => Kind::Damage,
        }
    }
}

impl Explain for SourceError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unclear { .. } => Exit::Usage,
            _ => self.kind().exit(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Unclear { .. } => "InvalidSource",
            Self::NotHttps { .. } => "NotHttps",
            Self::NotFound { .. } => "SourceNotFound",
            Self::Read { .. } | Self::Content(ArchiveError::Read(_)) => "IOError",
            Self::Content(ArchiveError::Refused(refusal)) => refusal.code(),
            Self::Git { .. } => "GitFailed",
            Self::Fetch { .. } => "FetchFailed",
            Self::Redirect { .. } => "RedirectRefused",
            Self::TooLarge { .. } => Flaw::TooLarge.code(),
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Unclear { .. } | Self::NotFound { .. } => {
                "use a zip file, a folder, a git repository (`REPOSITORY#REF//FOLDER`) or an https address"
            }
            Self::NotHttps { .. } | Self::Redirect { .. } => {
                "use an https:// address, or download it yourself and install the copy"
            }
            Self::Read { .. } | Self::Content(ArchiveError::Read(_)) => {
                "check permissions and free space"
            }
            Self::Content(ArchiveError::Refused(refusal)) => return refusal.hint(),
            Self::Git { .. } => "check the repository, the reference and that `git` is installed",
            Self::Fetch { .. } => "check the address and the network",
            Self::TooLarge { .. } => "if you trust it, raise `install.max_bytes`",
        }
        .into()
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Content(ArchiveError::Refused(refusal)) => refusal.details(),
            _ => None,
        }
    }
}

//! The token of a server: made for it, or given by the user.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use basics::failure::Explain;
use rustix::process::geteuid;
use serve::http::{Token, TokenError};

use crate::failure::Exit;

/// The variable that gives one.
pub(crate) const VARIABLE: &str = "SKILLFUL_MCP_TOKEN";

/// Bytes of the longest file that can be one.
const LONGEST: u64 = 4_096;

/// A token, and where it comes from.
#[derive(Debug)]
pub(super) enum Chosen {
    /// The user does not know it yet.
    Made(Token),
    /// The user gave it.
    Given(Token),
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChoiceError {
    #[error("cannot read the token in `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("others can read the token in `{}`", .0.display())]
    Shared(PathBuf),
    #[error("`{}` is not a token", path.display())]
    File { path: PathBuf, source: TokenError },
    #[error("{VARIABLE} is not a token")]
    Variable(#[source] TokenError),
    #[error("cannot make a token")]
    Random(#[source] io::Error),
}

impl Explain for ChoiceError {
    fn exit(&self) -> Exit {
        match self {
            Self::Random(_) => Exit::Failed,
            _ => Exit::Usage,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Random(_) => "IOError",
            _ => "Usage",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Read { .. } => "use a file that you can read",
            Self::Shared(_) => "run `chmod 600` on it, so that only you can read it",
            Self::File { source, .. } | Self::Variable(source) => return source.hint(),
            Self::Random(_) => "give a token with --token-file, or in SKILLFUL_MCP_TOKEN",
        }
        .into()
    }
}

impl Chosen {
    /// From the file, else from the variable, else one that nobody can guess.
    pub(super) fn new(file: Option<&Path>, variable: Option<&OsStr>) -> Result<Self, ChoiceError> {
        match (file, variable) {
            (Some(path), _) => in_file(path).map(Self::Given),
            (None, Some(text)) => Token::parse(text.to_string_lossy().trim())
                .map(Self::Given)
                .map_err(ChoiceError::Variable),
            (None, None) => random().map(Self::Made).map_err(ChoiceError::Random),
        }
    }

    pub(super) fn token(self) -> Token {
        let (Self::Made(token) | Self::Given(token)) = self;
        token
    }
}

fn in_file(path: &Path) -> Result<Token, ChoiceError> {
    let failed = |source: io::Error| ChoiceError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    let is_own = found.uid() == geteuid().as_raw() || found.uid() == 0;
    if !is_own || found.mode() & 0o077 != 0 {
        return Err(ChoiceError::Shared(path.to_owned()));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    Token::parse(text.trim()).map_err(|source| ChoiceError::File { path: path.to_owned(), source })
}

/// From the system's generator.
fn random() -> io::Result<Token> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits)?;
    Ok(Token::random(bits))
}

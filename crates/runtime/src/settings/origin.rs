//! Where a setting comes from.

use std::fmt;
use std::path::PathBuf;

/// Where a setting comes from, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The project's file.
    Project(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// A variable of the environment.
    Environment(String),
    /// Two places that add to each other.
    Both(Box<Self>, Box<Self>),
}

impl Origin {
    /// This place and another.
    pub fn and(self, other: Self) -> Self {
        Self::Both(Box::new(self), Box::new(other))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(path) | Self::User(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Both(one, other) => write!(f, "{one} and {other}"),
        }
    }
}

//! Paths into a JSON document: `$`, `.name`, `[0]`, and `.*` or `[*]` for every child, a subset of RFC 9535.

use std::borrow::Cow;

use basics::failure::Explain;
use thiserror::Error;

/// Why paths cannot be watched.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PathError {
    /// A path is misspelt.
    #[error("path `{path}` makes no sense at byte {offset}")]
    Syntax {
        /// The path.
        path: String,
        /// Bytes before the part that is wrong.
        offset: usize,
    },
    /// There are more paths than a parser can watch.
    #[error("{count} paths are too many to watch at once")]
    TooMany {
        /// How many there are.
        count: usize,
    },
}

impl Explain for PathError {
    fn code(&self) -> &'static str {
        "InvalidPath"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Syntax { .. } => "write `$`, then steps such as `.name`, `.*`, `[0]` or `[*]`",
            Self::TooMany { .. } => "watch at most 64 paths, or a value above several of them",
        }
        .into()
    }
}

/// One step down from an array or object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(Box<str>),
    Index(usize),
    Any,
}

impl Step {
    pub(super) fn takes_key(&self, key: &[u8]) -> bool {
        match self {
            Self::Key(wanted) => wanted.as_bytes() == key,
            Self::Index(_) => false,
            Self::Any => true,
        }
    }

    pub(super) fn takes_index(&self, index: usize) -> bool {
        match self {
            Self::Key(_) => false,
            Self::Index(wanted) => *wanted == index,
            Self::Any => true,
        }
    }
}

/// The steps from the root that a path spells.
pub(super) fn steps(path: &str) -> Result<Vec<Step>, PathError> {
    let wrong =
        |rest: &str| PathError::Syntax { path: path.to_owned(), offset: path.len() - rest.len() };
    let mut rest = path.strip_prefix('$').ok_or_else(|| wrong(path))?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = first_step(rest).ok_or_else(|| wrong(rest))?;
        steps.push(step);
        rest = after;
    }
    Ok(steps)
}

fn first_step(path: &str) -> Option<(Step, &str)> {
    if let Some(inside) = path.strip_prefix('[') {
        let (index, after) = inside.split_once(']')?;
        let all_digits = index.bytes().all(|byte| byte.is_ascii_digit());
        let step = if index == "*" {
            Step::Any
        } else {
            Step::Index(index.parse().ok().filter(|_| all_digits)?)
        };
        return Some((step, after));
    }
    let name = path.strip_prefix('.')?;
    let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
    match name {
        "" => None,
        "*" => Some((Step::Any, after)),
        name => Some((Step::Key(name.into()), after)),
    }
}

#[cfg(test)]
mod tests;

//! A path that cannot name anything outside the folder it is used in.

#[cfg(test)]
mod tests;

use std::path::Path;

/// A relative path without `..`, drive letters, backslashes or NUL.
///
/// It says nothing about links: what it names is opened beneath its folder, never by a path lookup of
/// its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InnerPath(String);

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not a path within the folder: {reason}", path = crate::text::for_terminal(path))]
pub struct NotInner {
    /// The path as it was given.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl InnerPath {
    /// Checks `path`; `./` in front and doubled slashes are tidied up.
    pub fn new(path: &str) -> Result<Self, NotInner> {
        let refuse = |reason| Err(NotInner { path: path.to_owned(), reason });
        if path.contains('\0') {
            return refuse("it holds a NUL character");
        }
        if path.contains('\\') {
            return refuse("it holds a backslash");
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let tidy = parts.join("/");
        if path.starts_with('/') || tidy.starts_with('~') {
            return refuse("it is absolute");
        }
        if matches!(tidy.as_bytes(), [b'a'..=b'z' | b'A'..=b'Z', b':', ..]) {
            return refuse("it names a drive");
        }
        if parts.contains(&"..") {
            return refuse("it leads upwards");
        }
        if parts.is_empty() {
            return refuse("it is empty");
        }
        Ok(Self(tidy))
    }

    /// The path with `/` between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for InnerPath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl std::fmt::Display for InnerPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

//! Paths inside a folder: plain names and nothing else.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use crate::error::Cause;

/// The names on a path; nothing on the way back, no beginning elsewhere.
pub(crate) fn names(path: &Path) -> Result<impl Iterator<Item = &OsStr> + Clone, Cause> {
    let is_name = |component: Component<'_>| match component {
        Component::Normal(name) => !name.as_bytes().contains(&0),
        _ => false,
    };
    match path.components().all(is_name) && path != Path::new("") {
        true => Ok(path.components().map(Component::as_os_str)),
        false => Err(Cause::Outside),
    }
}

/// The folder that something is in, nothing if that is the folder we are in; and its name there.
pub(crate) fn split(path: &Path) -> Result<(Option<&Path>, &OsStr), Cause> {
    let _ = names(path)?;
    let name = path.file_name().ok_or(Cause::Outside)?;
    Ok((path.parent().filter(|parent| *parent != Path::new("")), name))
}

/// A path as what the user chose and what is state in it: everything from the last `.agent` on.
pub(crate) fn chosen(path: &Path) -> (&Path, Option<&Path>) {
    let last = path.ancestors().find(|above| above.ends_with(crate::STATE));
    match last.and_then(Path::parent) {
        Some(base) => (
            if base == Path::new("") { Path::new(".") } else { base },
            path.strip_prefix(base).ok(),
        ),
        None => (path, None),
    }
}

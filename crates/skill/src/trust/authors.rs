//! Workspaces whose skills the user writes: which of the skills there are really theirs.
//!
//! A clone inside of such a workspace, and whatever a link leads to outside of it, is somebody else's.

use std::path::{Path, PathBuf};

use super::TrustStore;
use crate::entry::Entry;

impl TrustStore {
    /// The workspace that a folder of skills is part of, if the user writes its skills.
    pub(super) fn own_workspace(&self, root: &Path) -> Option<PathBuf> {
        if self.authors.is_empty() {
            return None;
        }
        let workspace = workspace_of(root)?;
        self.authors.contains_key(&*workspace.to_string_lossy()).then(|| workspace.to_owned())
    }
}

/// The repository that a folder of skills is part of; without one, the folder that has it as its
/// `.agent/skills`. The same as [`crate::roots::Surroundings::project`] finds from there.
fn workspace_of(root: &Path) -> Option<&Path> {
    let repository = |folder: &&Path| folder.join(".git").exists();
    root.ancestors().find(repository).or_else(|| root.parent()?.parent())
}

/// Whether a skill, and everything that links on the way to it lead to, is part of a workspace and of no clone
/// inside of it.
pub(super) fn is_own(entry: &Entry, root: &Path, workspace: &Path) -> bool {
    let inner = entry.path.strip_prefix(root).unwrap_or(Path::new(""));
    let folder = entry.root.join(inner);
    let linked = entry.links.iter().map(|link| link.target.as_path());
    std::iter::once(folder.as_path()).chain(linked).all(|place| is_part(place, workspace))
}

fn is_part(place: &Path, workspace: &Path) -> bool {
    let between = place.ancestors().take_while(|folder| *folder != workspace);
    place.starts_with(workspace) && between.into_iter().all(|folder| !folder.join(".git").exists())
}

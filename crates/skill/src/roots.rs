//! Which folders are searched for skills, and in which order.

#[cfg(test)]
mod tests;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basics::skill::Source;
use serde::Serialize;

/// A folder that is searched for skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Root {
    /// Where its skills come from.
    pub source: Source,
    /// The folder; for [`Source::Builtin`] a name that no folder has.
    pub path: PathBuf,
    /// 0 is the strongest.
    pub priority: usize,
}

impl Root {
    /// The folder itself, with links on the way to it resolved.
    pub(crate) fn real(&self) -> Arc<Path> {
        self.path.canonicalize().unwrap_or_else(|_| self.path.clone()).into()
    }

    /// A place below the root; the root itself for an empty path.
    pub(crate) fn join(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() { self.path.clone() } else { self.path.join(path) }
    }
}

/// What decides which folders are searched.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Folders the user named, the strongest first.
    pub explicit: Vec<PathBuf>,
    /// The working directory, absolute.
    pub working_directory: PathBuf,
    /// The user's home directory, absolute.
    pub home: Option<PathBuf>,
    /// Folders the project itself names, the strongest first.
    pub project_folders: Vec<PathBuf>,
    /// The order of sources, the strongest first; a source left out is not searched.
    pub precedence: Vec<Source>,
    /// Whether the folders of other clients count, too, such as `.claude` and `.codex`.
    pub compatibility_folders: bool,
}

impl Surroundings {
    /// The folders to search, the strongest first. Folders that do not exist are left out, except
    /// those the user named.
    pub fn roots(&self) -> Vec<Root> {
        let mut roots: Vec<Root> = Vec::new();
        let mut real_folders: Vec<(Source, Arc<Path>)> = Vec::new();
        let user = self.user_folders();
        for source in &self.precedence {
            let folders = match source {
                Source::Explicit => self.explicit.clone(),
                // Working in the home directory does not turn its skills into a project's.
                Source::Project => {
                    let own = self.project_folders.iter().cloned().chain(self.walk_up());
                    own.filter(|path| !user.contains(path)).collect()
                }
                Source::User => user.clone(),
                Source::Builtin => vec![PathBuf::from(crate::builtin::ROOT)],
            };
            for path in folders {
                let root = Root { source: *source, path, priority: roots.len() };
                // A project's link to a user's folder is not that folder: it must not decide whether
                // the user's skills are trusted.
                let real = (*source, root.real());
                if !real_folders.contains(&real) && !roots.iter().any(|r| r.path == root.path) {
                    real_folders.push(real);
                    roots.push(root);
                }
            }
        }
        roots
    }

    /// The folder that counts as the project: the repository's root, or the working directory.
    pub fn project(&self) -> &Path {
        let repository = |folder: &&Path| folder.join(".git").exists();
        self.working_directory.ancestors().find(repository).unwrap_or(&self.working_directory)
    }

    /// The skill folders of the working directory and its parents, the nearest first.
    fn walk_up(&self) -> Vec<PathBuf> {
        let project = self.project();
        let in_repository = project.join(".git").exists();
        self.working_directory
            .ancestors()
            .take_while(|folder| match in_repository {
                true => folder.starts_with(project),
                false => *folder == self.working_directory || self.is_searched_above(folder),
            })
            .flat_map(|folder| self.skill_folders(folder))
            .collect()
    }

    /// Whether a folder above the working directory is searched where there is no repository: below the home,
    /// or where not everybody can put something, as they can in `/tmp`.
    fn is_searched_above(&self, folder: &Path) -> bool {
        let holds_home = self.home.as_ref().is_some_and(|home| home.starts_with(folder));
        let is_shared = || folder.metadata().map_or(true, |found| found.mode() & 0o002 != 0);
        !holds_home && !is_shared()
    }

    fn user_folders(&self) -> Vec<PathBuf> {
        self.home.as_deref().map_or_else(Vec::new, |home| self.skill_folders(home))
    }

    fn skill_folders(&self, parent: &Path) -> Vec<PathBuf> {
        let hosts: &[&str] = if self.compatibility_folders {
            &[
                ".agent",
                ".agents",
                ".claude",
                ".codex",
                ".gemini",
                ".opencode",
                ".cursor",
                ".github",
            ]
        } else {
            &[".agent"]
        };
        hosts
            .iter()
            .map(|host| parent.join(host))
            .filter(|host| host.is_dir())
            .flat_map(|host| [host.join("skills"), host.join("skill")])
            .filter(|folder| folder.is_dir())
            .collect()
    }
}

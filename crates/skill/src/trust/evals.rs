//! Which files of eval cases may be run: those the user has looked at, with everything that their cases bring along.

use std::path::Path;

use super::{Trust, TrustStore, key};

/// What the user said about a file of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalsTrust {
    /// It may be run.
    Trusted,
    /// It is not what the user looked at any more.
    Changed,
    /// The user has not looked at it.
    Unknown,
}

impl Trust {
    /// Whether a file of cases of a project may be run; `sum` stands for it and all that it brings along, and is asked
    /// for only where it matters.
    pub fn evals<E>(
        &self,
        project: &Path,
        file: &Path,
        sum: impl FnOnce() -> Result<String, E>,
    ) -> Result<EvalsTrust, E> {
        match self {
            Self::Everything => Ok(EvalsTrust::Trusted),
            Self::Only(store) if store.writes(project, file) => Ok(EvalsTrust::Trusted),
            Self::Only(store) => match store.evals.get(&key(file)) {
                None => Ok(EvalsTrust::Unknown),
                Some(known) if *known == sum()? => Ok(EvalsTrust::Trusted),
                Some(_) => Ok(EvalsTrust::Changed),
            },
        }
    }
}

impl TrustStore {
    /// Whether the user writes the project, and the file is really part of it.
    pub(super) fn writes(&self, project: &Path, file: &Path) -> bool {
        let workspace = key(project);
        self.authors.contains_key(&workspace) && Path::new(&key(file)).starts_with(workspace)
    }

    /// Trusts a file of cases as it is now; `sum` stands for it and all that it brings along.
    pub fn trust_evals(&mut self, file: &Path, sum: String) {
        self.evals.insert(key(file), sum);
    }

    /// Takes trust back from every file of cases at or below `path`; the files are returned.
    pub(super) fn untrust_evals(&mut self, path: &Path) -> Vec<String> {
        let is_below = |file: &String| Path::new(file).starts_with(path);
        let gone = self.evals.keys().filter(|file| is_below(file)).cloned().collect();
        self.evals.retain(|file, _| !is_below(file));
        gone
    }
}

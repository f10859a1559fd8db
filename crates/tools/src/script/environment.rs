//! What a script gets of the environment: a short list, everything else is left out.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::sandbox;
use crate::workspace::git_setting;

/// The variables of ours that a script gets; the caller reads them, nothing here does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// `PATH`, of which a script gets the folders it can read.
    pub path: Option<OsString>,
    /// `LANG`.
    pub language: Option<OsString>,
    /// `TZ`.
    pub time_zone: Option<OsString>,
    /// In whose name Git commits, where no settings say so that it sees.
    pub author: Author,
    /// What the user answered in confidence, by the name of its variable.
    pub secrets: Vec<(OsString, OsString)>,
}

/// The name and the address that commits get.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Author {
    /// `user.name`.
    pub name: Option<String>,
    /// `user.email`.
    pub email: Option<String>,
}

impl Author {
    /// What the user's own settings say, but for what those of the repository in the workspace say themselves.
    pub fn find(home: &Path, workspace: &Path) -> Self {
        let own = [".gitconfig", ".config/git/config"].map(|name| home.join(name));
        let repository = [workspace.join(".git/config")];
        let find = |key| match git_setting(&repository, "user", key) {
            Some(_) => None,
            None => git_setting(&own, "user", key),
        };
        Self { name: find("name"), email: find("email") }
    }
}

/// The folders that a script is told of.
pub(super) struct Folders<'a> {
    pub(super) path: &'a [PathBuf],
    pub(super) home: &'a Path,
    pub(super) temporary: &'a Path,
    pub(super) skill: Option<&'a Path>,
    pub(super) workspace: &'a Path,
}

impl Environment {
    pub(super) fn variables(&self, folders: &Folders<'_>) -> Vec<(OsString, OsString)> {
        let path: Vec<_> = folders.path.iter().map(|folder| folder.as_os_str()).collect();
        let language = self.language.as_deref().unwrap_or(OsStr::new("C.UTF-8"));
        let set = [
            ("PATH", path.join(OsStr::new(":")).as_os_str()),
            ("HOME", folders.home.as_os_str()),
            ("TMPDIR", folders.temporary.as_os_str()),
            ("LANG", language),
            // `git status` would write to the repository, and that would be a change.
            ("GIT_OPTIONAL_LOCKS", OsStr::new("0")),
            // A run could write settings into its own home that make the next `git log` run something.
            ("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null")),
            ("GIT_CONFIG_SYSTEM", OsStr::new("/dev/null")),
            ("WORKSPACE_DIR", folders.workspace.as_os_str()),
        ]
        .map(|(name, value)| (name.into(), value.to_owned()));
        let time_zone = self.time_zone.iter().map(|zone| ("TZ".into(), zone.clone()));
        let author = [
            (["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"], &self.author.name),
            (["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"], &self.author.email),
        ];
        let author = author.into_iter().flat_map(|(names, value)| {
            let value = value.iter().map(OsString::from);
            value.flat_map(move |value| names.map(|name| (name.into(), value.clone())))
        });
        let skill = folders.skill.map(|skill| ("SKILL_DIR".into(), skill.into()));
        let set = set.into_iter().chain(author);
        set.chain(skill).chain(time_zone).chain(self.secrets.iter().cloned()).collect()
    }
}

/// The folders of a `PATH` whose programs a script can really run; the system's own if none is
/// left.
pub(crate) fn reachable(path: &Option<OsString>, readable: &[PathBuf]) -> Vec<PathBuf> {
    let within = |folder: &PathBuf| {
        folder.is_absolute()
            && folder.canonicalize().is_ok_and(|real| {
                sandbox::is_system_folder(&real)
                    || readable.iter().any(|root| real.starts_with(root))
            })
    };
    let folders: Vec<_> = path.iter().flat_map(std::env::split_paths).filter(within).collect();
    if folders.is_empty() {
        ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).into()
    } else {
        folders
    }
}

//! Where skills are installed, and which of these places a command means.

use std::path::Path;

use pack::install::{InstallError, Root};

use crate::failure::{Exit, Failure};
use crate::session::Session;

/// Where skills are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// For you, in ~/.agent/skills
    User,
    /// For this project, in .agent/skills
    Project,
    /// In the folder that `--root` names
    #[value(skip)]
    Root,
}

impl Scope {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Root => "explicit",
        }
    }
}

impl Session {
    /// The folder of skills of a scope.
    pub(crate) fn install_root(&self, scope: Scope) -> Result<Root, Failure> {
        let home = || {
            self.surroundings.home.as_deref().ok_or_else(|| {
                Failure::new(Exit::Usage, "NoHome", "you have no home directory to install into")
                    .hint("set HOME, or use --scope project")
            })
        };
        Ok(match scope {
            Scope::Project => Root::of_project(self.surroundings.project()),
            Scope::User => Root::new(home()?.join(".agent/skills")),
            Scope::Root => Root::new(self.named_root()?.ok_or_else(no_root)?),
        })
    }

    /// Where a new skill goes: to the scope that was named, or to the folder that `--root` names.
    pub(crate) fn target_scope(&self, given: Option<Scope>) -> Result<Scope, Failure> {
        match (given, self.named_root()?) {
            (Some(_), Some(_)) => Err(Failure::new(
                Exit::Usage,
                "Usage",
                "--scope and --root both set the place of the skill",
            )
            .hint("use only one of them")),
            (Some(scope), None) => Ok(scope),
            (None, None) => Ok(Scope::User),
            (None, Some(path)) => Ok(self.scope_at(path)),
        }
    }

    /// The places that skills are installed in.
    pub(crate) fn scopes(&self) -> Vec<Scope> {
        let named = self.named_root().ok().flatten().map(|path| self.scope_at(path));
        let named = named.filter(|scope| *scope == Scope::Root);
        Scope::ALL.into_iter().chain(named).collect()
    }

    /// The folder of a scope stays that scope's when it is named by its path: the same checks hold for it.
    fn scope_at(&self, path: &Path) -> Scope {
        let is_its = |scope: &Scope| {
            self.install_root(*scope).is_ok_and(|root| {
                let real = root.path().canonicalize();
                root.path() == path || real.is_ok_and(|real| real == path)
            })
        };
        Scope::ALL.into_iter().find(is_its).unwrap_or(Scope::Root)
    }

    /// The one folder that `--root` names.
    fn named_root(&self) -> Result<Option<&Path>, Failure> {
        match self.named_roots.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => {
                Err(Failure::new(Exit::Usage, "Usage", "you can install a skill in one place only")
                    .hint("give one folder with --root"))
            }
        }
    }

    /// Whether what lies in a scope's folder, its lockfile included, may have come with a clone.
    pub(crate) fn is_projects(&self, scope: Scope) -> bool {
        let project = self.surroundings.project();
        let is_inside =
            || self.install_root(scope).is_ok_and(|root| root.path().starts_with(project));
        match scope {
            Scope::User => false,
            Scope::Project => true,
            Scope::Root => is_inside(),
        }
    }

    /// Where a skill is installed: in the scope that was named, or in the only one that has it. Names of
    /// commands that change or read an installed skill enter here; a path is none.
    pub(crate) fn scope_of(&self, name: &str, given: Option<Scope>) -> Result<Scope, Failure> {
        if pack::check::check_name(name).is_err() {
            let root = self.install_root(given.unwrap_or(Scope::User))?.path().to_owned();
            return Err(InstallError::NotThere { name: name.to_owned(), root }.into());
        }
        if let Some(scope) = given {
            return Ok(scope);
        }
        let has = |scope: &Scope| {
            self.install_root(*scope).is_ok_and(|root| {
                root.has(name)
                    || root.list_kept(name).is_ok_and(|kept| !kept.is_empty())
                    || root.lockfile().is_ok_and(|lockfile| lockfile.get(name).is_some())
            })
        };
        let found: Vec<Scope> = self.scopes().into_iter().filter(has).collect();
        if found.contains(&Scope::Root) {
            return Ok(Scope::Root);
        }
        // A project can have a skill of that name, or say so, that the user did not install.
        let is_known = |scope: &Scope| {
            let lockfile = self.install_root(*scope).and_then(|root| Ok(root.lockfile()?));
            let locked = lockfile.ok().and_then(|lockfile| lockfile.get(name).cloned());
            locked.is_some_and(|locked| self.check_source(*scope, &locked).is_ok())
        };
        match found.as_slice() {
            [scope] => Ok(*scope),
            [] => Ok(Scope::User),
            [user, project] if !is_known(project) => Ok(*user),
            _ => Err(Failure::new(
                Exit::Usage,
                "ScopeNeeded",
                format!("`{name}` is installed both for you and for this project"),
            )
            .hint("choose one with --scope user or --scope project")),
        }
    }
}

fn no_root() -> Failure {
    Failure::new(Exit::Usage, "Usage", "there is no folder to install into")
        .hint("give one with --root")
}

//! Where a runtime works: the surroundings, the settings, and what the user's home says about them.
//!
//! Invariant: nothing here reads a variable of the environment; whoever opens a runtime hands them over.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Failure};
use basics::run_id::RunId;
use basics::skill::Source;
use permission::{
    CommandLine, Configuration, Effect, Engine, Grant, Permission, Reason, Rule, Rules, argument,
};
use skill::cache::Cache;
use skill::index::{Entry, Index, IndexOptions};
use skill::roots::{Root, Surroundings};
use skill::trust::{Trust, TrustStore};
use state::Folder;
use tools::grants::GrantFile;

use crate::journal::{self, JournalError, Owner, Redactor};
use crate::settings::{Apply, Layers, ProjectTrust, RuleSet, closest, expand};
use crate::spelling::plain;

/// What a runtime begins with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The folder to work in; the current one if not given.
    pub directory: Option<PathBuf>,
    /// Folders of skills that come before all others.
    pub roots: Vec<PathBuf>,
    /// Only skills from this source.
    pub source: Option<Source>,
    /// A file to read in place of the project's settings.
    pub project_config: Option<PathBuf>,
    /// Variables: `HOME`, settings, keys.
    pub environment: Vec<(OsString, OsString)>,
}

impl Start {
    /// In the current folder, with the environment of this process.
    pub fn here() -> Self {
        Self { environment: std::env::vars_os().collect(), ..Self::default() }
    }
}

/// Skills, settings and records of one folder for one user.
#[derive(Debug)]
pub struct Runtime {
    /// The settings, and where each comes from.
    pub layers: Layers,
    /// The folders that count.
    pub surroundings: Surroundings,
    /// The folders of skills that were named at the start.
    pub named_roots: Vec<PathBuf>,
    source: Option<Source>,
    cache: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
}

impl Runtime {
    /// Reads the settings, and finds out which folders count.
    pub fn open(start: Start) -> Result<Self, Failure> {
        let Start { directory, roots, source, project_config, environment } = start;
        let variable = |name: &str| {
            let found = environment.iter().find(|(key, value)| key == name && !value.is_empty());
            found.map(|(_, value)| value.clone())
        };
        let working_directory = working_directory(directory)?;
        let home = variable("HOME").map(PathBuf::from).filter(|home| can_be_home(home)).map(real);
        let named = roots.iter().map(|root| real(working_directory.join(root)));
        let named_roots: Vec<PathBuf> = named.collect();
        let mut surroundings = Surroundings {
            explicit: named_roots.clone(),
            working_directory,
            home,
            precedence: Vec::new(),
            project_folders: Vec::new(),
            compatibility_folders: true,
        };
        let given = project_config.as_deref();
        let home = surroundings.home.as_deref();
        let layers = Layers::read(surroundings.project(), given, home, &environment)?;
        if let Some(roots) = variable("SKILLFUL_ROOTS") {
            let base = surroundings.working_directory.clone();
            let home = surroundings.home.clone();
            let listed = std::env::split_paths(&roots).filter(|path| !path.as_os_str().is_empty());
            let expanded =
                listed.map(|path| expand(&path.to_string_lossy(), &base, home.as_deref()));
            surroundings.explicit.extend(expanded.map(real));
        }
        surroundings.explicit.extend(layers.user_roots.iter().cloned().map(real));
        surroundings.project_folders = layers.project_roots.iter().cloned().map(real).collect();
        surroundings.precedence.clone_from(&layers.config.registry.precedence);
        surroundings.compatibility_folders = layers.config.registry.compat;
        let cache = cache_folder(variable("XDG_CACHE_HOME"), surroundings.home.as_deref());
        Ok(Self { layers, surroundings, named_roots, source, cache, environment })
    }

    /// Builds the index of all skills.
    pub fn index(&self) -> Result<Index, Failure> {
        Ok(Index::build(&self.roots(), &self.index_options()?))
    }

    /// The folders that are searched, narrowed by `--source`.
    pub fn roots(&self) -> Vec<Root> {
        let mut roots = self.surroundings.roots();
        roots.retain(|root| self.source.is_none_or(|source| source == root.source));
        roots
    }

    /// How the index is built.
    pub fn index_options(&self) -> Result<IndexOptions, Failure> {
        let trust = match self.layers.config.trust.projects {
            ProjectTrust::All => Trust::Everything,
            ProjectTrust::Ask => Trust::Only(self.trust_store()?),
        };
        Ok(IndexOptions {
            discovery: self.layers.config.discovery_options(),
            cache: self.cache.clone().map(Cache::new),
            trust,
            search_bodies: self.layers.config.search.bodies,
            pins: self.pins(),
        })
    }

    /// The skills that the user pinned; paths are relative to the home, as those of `skill_roots` are.
    fn pins(&self) -> BTreeMap<String, PathBuf> {
        let Surroundings { home, working_directory, .. } = &self.surroundings;
        let base = home.as_ref().unwrap_or(working_directory);
        let pinned = self.layers.config.registry.pin.iter();
        pinned.map(|(name, path)| (name.clone(), expand(path, base, home.as_deref()))).collect()
    }

    /// What of projects the user trusts.
    pub fn trust_store(&self) -> Result<TrustStore, Failure> {
        Ok(match self.trust_file() {
            Some(file) => TrustStore::read(&file)?,
            None => TrustStore::default(),
        })
    }

    /// Where that is kept.
    pub fn trust_file(&self) -> Option<PathBuf> {
        self.surroundings.home.as_ref().map(|home| home.join(".agent/trust.json"))
    }

    /// Where things are kept that can be made again.
    pub fn cache_folder(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// What may be done here: rules of all files and the command line, and what was remembered.
    pub fn engine(
        &self,
        command_line: CommandLine,
        profile: Option<&str>,
    ) -> Result<Engine, Failure> {
        let Layers {
            user_rules: user, environment_rules: environment, project_rules: project, ..
        } = &self.layers;
        let mut own = user.clone();
        own.extend(environment.clone());
        let chosen = |rules: &RuleSet| profile.and_then(|name| rules.profiles.get(name)).cloned();
        let (own_profile, shared) = (chosen(&own), chosen(project));
        if let (Some(name), None, None) = (profile, &own_profile, &shared) {
            let names = own.profiles.keys().chain(project.profiles.keys()).map(String::as_str);
            let failure = Failure::new(
                Exit::Usage,
                "UnknownProfile",
                format!("there is no profile `{name}`"),
            );
            return Err(match closest(name, names) {
                Some(other) => failure.hint(format!("did you mean `{other}`?")),
                None => failure.hint("add it under `profiles` in your settings"),
            });
        }
        let configuration = Configuration {
            user: Rules(self.applying().chain(user.permissions.0.iter().cloned()).collect()),
            environment: environment.permissions.clone(),
            project: project.permissions.clone(),
            profile: own_profile.unwrap_or_default(),
            project_profile: shared.unwrap_or_default(),
            required_approval: self.layers.required_approval.clone(),
            command_line,
            mode: self.layers.config.mode,
        };
        let mut engine = Engine::new(self.project_name(), configuration);
        if let Some(grants) = self.grants() {
            let kept = grants.list()?;
            engine.remember(kept.into_iter().filter(Grant::is_bound));
        }
        Ok(engine)
    }

    /// What `changes.apply: auto` means in rules; what the user wrote comes after it. What is below `.git` still asks.
    fn applying(&self) -> impl Iterator<Item = Rule> {
        let rule = |pattern: &str, action| {
            Rule::new(Permission::ApplyChanges.name(), pattern.to_owned(), action)
        };
        let auto =
            [rule("*", Effect::Allow), rule(".git/*", Effect::Ask), rule("*/.git/*", Effect::Ask)];
        let is_auto = self.layers.config.changes.apply == Apply::Auto;
        auto.into_iter().filter(move |_| is_auto)
    }

    /// The rule that keeps the model from a skill, and where it is written.
    pub fn denying_rule(&self, engine: &Engine, skill: &Entry) -> Option<String> {
        let ruling = engine.ruling(Permission::Skill, &skill.rule_name());
        let Reason::Rule { rule, .. } = ruling.reason else { return None };
        let Rule { permission, pattern, action } = *rule;
        let place = self.layers.origins.get(&format!("permissions.{permission}.{pattern}"));
        let place = place.map_or(String::new(), |origin| format!(" of {origin}"));
        (action == Effect::Deny)
            .then(|| format!("the rule `{permission}: {pattern} = deny`{place}"))
    }

    /// The project by its path, which approvals are bound to.
    pub fn project_name(&self) -> String {
        self.surroundings.project().to_string_lossy().into_owned()
    }

    /// Approvals that were given for always.
    pub fn grants(&self) -> Option<GrantFile> {
        self.surroundings.home.as_ref().map(|home| GrantFile::new(home.join(".agent/grants.json")))
    }

    /// Who makes records here, if anybody has made one yet.
    pub fn owner(&self) -> Result<Option<Owner>, Failure> {
        let Some(agent) = self.agent_folder() else { return Ok(None) };
        let key = journal::read_key(&agent)?;
        Ok(key.map(|key| Owner::new(key, self.surroundings.project())))
    }

    /// The same for whoever wants to act on the record of a run: without an owner no run is anybody's.
    pub fn known_owner(&self, run_id: &str) -> Result<Owner, Failure> {
        let foreign = || Failure::of(&JournalError::Foreign { run_id: run_id.to_owned() });
        self.owner()?.ok_or_else(foreign)
    }

    /// The same, with a key that is made where there is none.
    pub fn new_owner(&self) -> Result<Owner, Failure> {
        let agent = self.agent_folder().ok_or_else(|| {
            Failure::new(Exit::Usage, "NoHome", "you have no home directory to keep a key in")
                .hint("set HOME to a folder that you can write to")
        })?;
        let key = journal::read_or_make_key(&agent)?;
        Ok(Owner::new(key, self.surroundings.project()))
    }

    /// The user's own folder of state.
    fn agent_folder(&self) -> Option<PathBuf> {
        self.surroundings.home.as_ref().map(|home| home.join(".agent"))
    }

    /// Where runs of this project are recorded.
    pub fn runs(&self) -> PathBuf {
        self.surroundings.project().join(".agent/runs")
    }

    /// The folder of a run, by its name, the beginning of it, or `last`.
    pub fn run_folder(&self, run: &str) -> Result<PathBuf, Failure> {
        let runs = self.runs();
        let missing = |hint: &str| {
            Failure::new(Exit::Failed, "RunNotFound", format!("there is no run `{run}`")).hint(hint)
        };
        if run == "last" {
            let newest = journal::newest(&runs, self.owner()?.as_ref());
            let newest = newest?;
            let newest = newest.ok_or_else(|| match runs.exists() {
                true => missing("`skillful runs list` shows runs that were not made here"),
                false => missing("`skillful run` starts one"),
            })?;
            return Ok(runs.join(newest.as_str()));
        }
        // A name, not a path: a run is looked for among the runs and nowhere else.
        let missing = || missing("`skillful runs list` shows them");
        if let Ok(name) = run.parse::<RunId>() {
            let folder = runs.join(name.as_str());
            match Folder::open(&folder) {
                Ok(_) => return Ok(folder),
                Err(error) if error.is_missing() => {}
                Err(error) => return Err(error.into()),
            }
        }
        match journal::beginning_with(&runs, run)?.as_slice() {
            [] => Err(missing()),
            [name] => Ok(runs.join(name.as_str())),
            several => {
                let message = format!("`{run}` is the beginning of {} runs", several.len());
                let names: Vec<&str> = several.iter().take(5).map(RunId::as_str).collect();
                Err(Failure::new(Exit::Usage, "AmbiguousRun", message)
                    .hint(format!("write more of its name: {}", names.join(", "))))
            }
        }
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment
            .iter()
            .find(|(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value)
    }

    /// Values of variables whose names say that they are secrets.
    pub fn secrets(&self) -> Vec<String> {
        let tells = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"];
        let secret = |name: &OsString| {
            let name = name.to_string_lossy().to_uppercase();
            // `PASS` alone is in other words, too.
            let is_pass = name.split('_').any(|word| word == "PASS");
            is_pass || tells.iter().any(|tell| name.contains(tell))
        };
        let values = self
            .environment
            .iter()
            .filter(|(name, _)| secret(name))
            .map(|(_, value)| value.to_string_lossy().into_owned());
        // Of a key with several lines each one tells: tools show files line by line.
        let lines = |value: String| {
            let lines: Vec<String> = value.lines().map(|line| line.trim().to_owned()).collect();
            lines.into_iter().filter(|line| line.len() >= 16).chain([value])
        };
        // Short values occur in ordinary text.
        values.filter(|value| value.len() >= 8).flat_map(lines).collect()
    }

    /// What takes secrets out of everything that is recorded: those of the environment, and `more`.
    pub fn redactor(&self, more: impl IntoIterator<Item = String>) -> Result<Redactor, Failure> {
        let mut secrets = self.secrets();
        secrets.extend(more);
        let patterns = self.layers.config.audit.redact.iter().map(String::as_str);
        Ok(Redactor::new(secrets.iter().map(String::as_str), patterns)?)
    }

    /// The environment for runs of a real model elsewhere: keys and proxies, but no folder of this one and no setting,
    /// which are handed on as settings.
    pub fn environment_of_models(&self) -> Vec<(OsString, OsString)> {
        let is_left_out = |name: &str| {
            matches!(name, "HOME" | "PWD")
                || name.starts_with("XDG_")
                || name.starts_with("SKILLFUL_")
        };
        let kept =
            self.environment.iter().filter(|(name, _)| !is_left_out(&name.to_string_lossy()));
        kept.cloned().collect()
    }

    /// The skill called `name` among those that `--source` leaves.
    pub fn find<'a>(&self, index: &'a Index, name: &str) -> Result<&'a Entry, Failure> {
        index.get(name, self.source).ok_or_else(|| not_found(index, name))
    }

    /// The skill that a person wants used, as [`Index::resolve`].
    pub fn resolve<'a>(&self, index: &'a Index, name: &str) -> Result<&'a Entry, Failure> {
        index.resolve(name, self.source).ok_or_else(|| not_found(index, name))
    }
}

fn working_directory(given: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::new(Exit::Usage, "Usage", format!("cannot work in `{}`: {error}", path.display()))
            .hint("give a folder that exists with -C")
    };
    let current = std::env::current_dir().map_err(|error| failed(Path::new("."), &error))?;
    let Some(given) = given else { return Ok(current) };
    let folder = current.join(given);
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(folder) => Err(failed(&folder, &std::io::ErrorKind::NotADirectory.into())),
        Err(error) => Err(failed(&folder, &error)),
    }
}

/// A skill that is not there, and what may be meant.
pub fn not_found(index: &Index, name: &str) -> Failure {
    let failure = Failure::new(Exit::Failed, "SkillNotFound", format!("Skill '{name}' not found."));
    let names = index.skills.iter().map(|entry| entry.name.as_str());
    let ignored = index.report.ignored.iter().find(|ignored| {
        Path::new(&ignored.path)
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|folder| folder == name)
    });
    match (ignored, closest(name, names)) {
        (Some(ignored), _) => failure
            .hint(format!("{} is left out: {}; {}", ignored.path, ignored.message, ignored.hint)),
        (None, Some(other)) => failure.hint(format!("did you mean `{}`?", argument(&other))),
        (None, None) => {
            failure.hint("`skillful list` shows every skill, `skillful search` finds one")
        }
    }
}

/// One folder, however it was spelled: it must not be searched twice under two names. One that is still to be made
/// is where its spelling leads.
fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| plain(&path))
}

/// A home directory may still have to be made, but nothing else can be in its place.
fn can_be_home(path: &Path) -> bool {
    path.is_absolute() && path.metadata().map_or(true, |found| found.is_dir())
}

fn cache_folder(cache_home: Option<OsString>, home: Option<&Path>) -> Option<PathBuf> {
    let cache_home = cache_home.map(PathBuf::from).filter(|path| path.is_absolute());
    Some(cache_home.or_else(|| home.map(|home| home.join(".cache")))?.join("skillful"))
}

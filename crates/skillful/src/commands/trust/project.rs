//! `skillful trust project`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::text::for_terminal;
use permission::argument;
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Entry, Index, IndexOptions};
use skill::load::{ContentHash, Files};
use skill::lock::Lockfile;
use skill::roots::Root;
use skill::trust::TrustStore;

use super::evals::{self, TrustedEvals};
use super::{no_home, project_roots};
use crate::failure::{Exit, Failure};
use crate::installing::times;
use crate::output::{Output, Palette};
use crate::session::Session;
use runtime::settings::closest;

/// Trust the skills and evals of this project
///
/// Look at them first: `skillful inspect NAME` shows a skill, `skillful scan` looks for dangerous content.
/// You trust every file of a skill. If a file changes, Skillful asks again for this skill. New skills ask,
/// too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful trust project --dry-run\n  skillful trust project deploy\n  skillful -C ~/work/app trust project\n  skillful trust project --author"
)]
pub(crate) struct TrustProject {
    /// Trust only these skills [default: all skills and eval cases]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// You write the skills of this project: keep trusting them when they change
    #[arg(long, conflicts_with = "names")]
    author: bool,
    /// Show what would be trusted, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Skills and files of eval cases that are trusted now.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Trusted {
    /// The workspace whose skills you write, where you said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// By their folder.
    trusted: Vec<TrustedFolder>,
    /// Skills that cannot be trusted, and why.
    refused: Vec<RefusedSkill>,
    /// Skills of the lockfile that are not there, and where `install --locked` would look for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<AbsentSkill>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) evals: Vec<TrustedEvals>,
    pub(super) written: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TrustedFolder {
    path: String,
    skills: Vec<TrustedSkill>,
}

/// A skill that is trusted as it is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TrustedSkill {
    name: String,
    path: String,
    /// Over everything that it holds; nothing where you write it.
    content: Option<ContentHash>,
    /// Where `update` would look for it, if it was installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed_from: Option<String>,
    state: State,
}

/// What a skill was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It was not trusted.
    New,
    /// It was trusted with other content.
    Changed,
    /// It was trusted as it is.
    Unchanged,
    /// You write it.
    Yours,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Unchanged => "as before",
            Self::Yours => "yours",
        }
    }
}

/// A skill that cannot be trusted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RefusedSkill {
    name: String,
    path: String,
    reason: String,
}

/// A skill that the lockfile has and the project has not.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AbsentSkill {
    name: String,
    source: String,
}

/// A skill of a root, and what it holds.
struct Seen {
    root: usize,
    entry: Entry,
    content: Result<ContentHash, String>,
}

impl TrustProject {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let file = session.trust_file().ok_or_else(no_home)?;
        if self.author {
            return self.trust_author(&file, session, output);
        }
        let roots = project_roots(session);
        let evals = match self.names.is_empty() {
            true => evals::of_project(session, output)?,
            false => Vec::new(),
        };
        let installed = Installed::of(session);
        if roots.is_empty() && evals.is_empty() && installed.skills.skills().is_empty() {
            let message = "this project has no skills or eval cases to trust";
            let failure = Failure::new(Exit::Failed, "NoProjectSkills", message);
            return Err(failure.hint("go to a project with .agent/skills, or use -C DIR"));
        }
        let seen = self.look(&roots, &session.index_options()?, &installed)?;
        let (_, now) = times();
        let mut report = report(&roots, &seen, &session.trust_store()?, &installed);
        if !self.dry_run {
            TrustStore::change(&file, |store| {
                trust(store, &roots, &seen, &now);
                installed.remember(store, &seen, &self.names);
                evals.iter().for_each(|one| one.add_to(store));
            })?;
        }
        report.sources = installed.absent(&seen, &self.names);
        report.evals = evals;
        report.written = !self.dry_run;
        print(&report, output)?;
        output.note(if self.dry_run {
            "Nothing was written."
        } else if seen.len() == report.refused.len()
            && report.evals.is_empty()
            && report.sources.is_empty()
        {
            "Nothing was trusted."
        } else {
            "Trusted as they are now. If a file changes or a skill is new, Skillful asks again."
        });
        Ok(if report.refused.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(Exit::Refused as u8)
        })
    }

    /// Reads everything that the chosen skills hold.
    fn look(
        &self,
        roots: &[Root],
        options: &IndexOptions,
        installed: &Installed,
    ) -> Result<Vec<Seen>, Failure> {
        let all: Vec<(usize, Entry)> = roots
            .iter()
            .enumerate()
            .flat_map(|(place, root)| entries(root, options).map(move |entry| (place, entry)))
            .collect();
        let names = || all.iter().map(|(_, entry)| entry.name.as_str());
        let is_known = |name: &&String| names().any(|known| known == *name) || installed.has(name);
        if let Some(name) = self.names.iter().find(|name| !is_known(name)) {
            let message = format!("this project has no skill `{name}`");
            let failure = Failure::new(Exit::Failed, "SkillNotFound", message);
            return Err(match closest(name, names()) {
                Some(other) => failure.hint(format!("did you mean `{}`?", argument(&other))),
                None => failure.hint("`skillful list --source project` shows them"),
            });
        }
        // Of several with one name, the one that `inspect` shows: nobody has looked at the others.
        let shown: Vec<PathBuf> = {
            let index = Index::build(roots, options);
            let shown = self.names.iter().filter_map(|name| index.get(name, None));
            shown.map(|entry| entry.path.clone()).collect()
        };
        let is_chosen = |entry: &Entry| self.names.is_empty() || shown.contains(&entry.path);
        let chosen = all.into_iter().filter(|(_, entry)| is_chosen(entry));
        Ok(chosen.map(|(root, entry)| Seen { root, content: content_of(&entry), entry }).collect())
    }

    fn trust_author(
        &self,
        file: &Path,
        session: &Session,
        output: &Output,
    ) -> Result<ExitCode, Failure> {
        let workspace = own_workspace(session)?;
        let (_, now) = times();
        let mut store = session.trust_store()?;
        store.trust_author(workspace, &now);
        let options =
            IndexOptions { trust: skill::trust::Trust::Only(store), ..session.index_options()? };
        let (mut trusted, mut refused) = (Vec::new(), Vec::new());
        for root in project_roots(session) {
            let (own, others): (Vec<Entry>, Vec<Entry>) =
                entries(&root, &options).partition(|entry| entry.trusted);
            let skills: Vec<_> =
                own.iter().map(|entry| describe(entry, None, None, State::Yours)).collect();
            if !skills.is_empty() {
                trusted.push(TrustedFolder { path: text(&root.path), skills });
            }
            refused.extend(others.iter().map(|entry| RefusedSkill {
                name: entry.name.clone(),
                path: text(&entry.path),
                reason: "it is not part of your workspace; `skillful trust project NAME` trusts it as it is now"
                    .to_owned(),
            }));
        }
        if !self.dry_run {
            TrustStore::change(file, |store| store.trust_author(workspace, &now))?;
        }
        let author = Some(text(workspace));
        let written = !self.dry_run;
        let report = Trusted { author, trusted, refused, written, ..Trusted::default() };
        print(&report, output)?;
        output.note(if self.dry_run {
            "Nothing was written."
        } else {
            "Skills in this workspace stay trusted when they change, also when you pull changes by others."
        });
        Ok(ExitCode::SUCCESS)
    }
}

/// The workspace that a user can write skills for.
pub(super) fn own_workspace(session: &Session) -> Result<&Path, Failure> {
    let workspace = session.surroundings.project();
    let home = session.surroundings.home.as_deref();
    if home.is_some_and(|home| home.starts_with(workspace)) {
        let message = format!("`{}` contains your whole home", workspace.display());
        return Err(Failure::new(Exit::Usage, "NoWorkspace", message)
            .hint("go to the folder with your skills, or use -C DIR"));
    }
    Ok(workspace)
}

/// Every skill below a root, in the order of their paths.
pub(super) fn entries(root: &Root, options: &IndexOptions) -> impl Iterator<Item = Entry> + use<> {
    let index = Index::build(std::slice::from_ref(root), options);
    let mut entries: Vec<Entry> = index.skills.into_iter().chain(index.shadowed).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries.into_iter()
}

/// What a skill holds as it is, or why nobody can say.
pub(super) fn content_of(entry: &Entry) -> Result<ContentHash, String> {
    let files = Files::open(entry).map_err(|error| error.to_string())?;
    files.content().hash().cloned().map_err(|gap| gap.to_string())
}

fn trust(store: &mut TrustStore, roots: &[Root], seen: &[Seen], now: &str) {
    for Seen { root, entry, content } in seen {
        if let Ok(content) = content {
            store.trust(&roots[*root].path, entry, content.clone(), now);
        }
    }
}

/// Skills that the project's lockfile has; none where it cannot be read, so that nothing is said of any.
struct Installed {
    root: PathBuf,
    lockfile: PathBuf,
    skills: Lockfile,
}

impl Installed {
    fn of(session: &Session) -> Self {
        let root = pack::install::Root::of_project(session.surroundings.project());
        Self {
            root: root.path().to_owned(),
            lockfile: root.lockfile_path(),
            skills: root.lockfile().unwrap_or_default(),
        }
    }

    /// Where a skill was installed from.
    fn source(&self, entry: &Entry) -> Option<&str> {
        let is_there =
            entry.path.strip_prefix(&self.root).is_ok_and(|inner| inner == Path::new(&entry.name));
        let locked = self.skills.get(&entry.name).filter(|_| is_there);
        locked.map(|locked| locked.source.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.skills.get(name).is_some()
    }

    fn remember(&self, store: &mut TrustStore, seen: &[Seen], names: &[String]) {
        for Seen { entry, .. } in seen.iter().filter(|seen| seen.content.is_ok()) {
            if let Some(source) = self.source(entry) {
                store.remember_source(&self.lockfile, &entry.name, source);
            }
        }
        for AbsentSkill { name, source } in self.absent(seen, names) {
            store.remember_source(&self.lockfile, &name, &source);
        }
    }

    /// What would have to be installed first.
    fn absent(&self, seen: &[Seen], names: &[String]) -> Vec<AbsentSkill> {
        let is_there = |name: &str| {
            self.root.join(name).exists() || seen.iter().any(|seen| seen.entry.name == name)
        };
        let wanted = |name: &String| names.is_empty() || names.contains(name);
        let absent = self.skills.skills().iter();
        let absent = absent.filter(|skill| wanted(&skill.name) && !is_there(&skill.name));
        absent
            .map(|skill| AbsentSkill { name: skill.name.clone(), source: skill.source.clone() })
            .collect()
    }
}

fn report(roots: &[Root], seen: &[Seen], store: &TrustStore, installed: &Installed) -> Trusted {
    let (mut trusted, mut refused) = (Vec::new(), Vec::new());
    for (place, root) in roots.iter().enumerate() {
        let mut skills = Vec::new();
        for Seen { entry, content, .. } in seen.iter().filter(|seen| seen.root == place) {
            match content {
                Ok(content) => {
                    let state = match store.skill(&root.path, entry) {
                        None => State::New,
                        Some(known) if known.content == *content => State::Unchanged,
                        Some(_) => State::Changed,
                    };
                    let source = installed.source(entry).map(str::to_owned);
                    skills.push(describe(entry, Some(content.clone()), source, state));
                }
                Err(reason) => refused.push(RefusedSkill {
                    name: entry.name.clone(),
                    path: text(&entry.path),
                    reason: reason.clone(),
                }),
            }
        }
        if !skills.is_empty() {
            trusted.push(TrustedFolder { path: text(&root.path), skills });
        }
    }
    Trusted { trusted, refused, ..Trusted::default() }
}

fn describe(
    entry: &Entry,
    content: Option<ContentHash>,
    installed_from: Option<String>,
    state: State,
) -> TrustedSkill {
    let (name, path) = (entry.name.clone(), text(&entry.path));
    TrustedSkill { name, path, content, installed_from, state }
}

fn print(report: &Trusted, output: &Output) -> Result<(), Failure> {
    output.result(report, |out, palette| {
        let Palette { bold, dim, warn, .. } = palette;
        for folder in &report.trusted {
            writeln!(out, "{bold}{}{bold:#}", for_terminal(&folder.path))?;
            for TrustedSkill { name, path, state, installed_from, .. } in &folder.skills {
                let from = installed_from.as_ref().map(|source| format!(", from {source}"));
                let place = elsewhere(&folder.path, name, path);
                let about = format!("{}{place}{}", state.word(), from.unwrap_or_default());
                writeln!(out, "  {}  {dim}{}{dim:#}", for_terminal(name), for_terminal(&about))?;
            }
        }
        for AbsentSkill { name, source } in &report.sources {
            let (name, source) = (for_terminal(name), for_terminal(source));
            writeln!(out, "  {name}  {dim}not installed, from {source}{dim:#}")?;
        }
        for RefusedSkill { name, reason, .. } in &report.refused {
            let (name, reason) = (for_terminal(name), for_terminal(reason));
            writeln!(out, "{warn}not trusted{warn:#}  {name}: {reason}")?;
        }
        evals::print(&report.evals, out, palette)
    })
}

/// Where a skill is, unless it is the folder that its name says.
fn elsewhere(root: &str, name: &str, path: &str) -> String {
    let (root, path) = (Path::new(root), Path::new(path));
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    match real.strip_prefix(&root) {
        Ok(inner) if inner == Path::new(name) => String::new(),
        Ok(inner) => format!(", in {}", inner.display()),
        Err(_) => format!(", in {}", real.display()),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

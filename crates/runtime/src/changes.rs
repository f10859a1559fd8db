//! What a run changed: its layer on disk, and the way from there to the workspace and back.
//!
//! Invariant: nothing here needs the run to be alive. What it takes to apply, to finish and to undo lies in the run's
//! folder.

mod kept;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use agent::changes::NotedChanges;
use agent::event::{Event, EventData};
use basics::sha256::Sha256;
use state::{Access, Folder};
use tools::changes::{
    self, Applied, Base, Change, ChangeKind, ChangeLine, ChangeSet, ChangesError, Diff, Disk,
    Hashes, Held, Kind, Layer, LayerPath, Line, Node, Phase, Plan, Recovered, Rules, Seal,
    Selection, Store,
};

pub use kept::{KeptRun, ProducedFile, rules};
pub(crate) use kept::{UNDER_WAY, UnderWay, number_of};

use crate::journal::Owner;

/// The folder of a run's layer.
pub const LAYER: &str = "layer";
/// Everything in a run's folder that belongs to its layer.
pub const OF_A_LAYER: [&str; 4] = [LAYER, "layer-base", "layer-texts", SINCE];
/// A file that is made anew when an action begins that may write.
pub(crate) const SINCE: &str = "layer-since";
/// The folder of what was applied.
pub const APPLIED: &str = "applied";
/// The list of what was applied at once, in a folder of its own there.
pub(crate) const PLAN: &str = "plan.json";
/// Where a copy is, which is made where there can be no overlay.
const COPY: &str = "copy";
const UPPER: &str = "upper";
/// Paths that are named in an event; the list has all.
const NAMED: usize = 20;
/// The folder that is put to people on its own.
const GIT: &str = ".git";

/// The layer of one run.
#[derive(Debug)]
pub struct Layered {
    workspace: PathBuf,
    /// The folder that programs wrote to.
    folder: PathBuf,
    is_copy: bool,
    rules: Rules,
    base: Base,
    hashes: Hashes,
}

impl Layered {
    /// The layer of a run; none where it never had one.
    pub fn open(
        run: &Folder,
        workspace: &Path,
        rules: Rules,
    ) -> Result<Option<Self>, ChangesError> {
        let layer = match run.folder(LAYER) {
            Err(error) if error.is_missing() => return Ok(None),
            opened => opened?,
        };
        let is_copy = layer.find(COPY)?.is_some();
        let name = if is_copy { COPY } else { UPPER };
        if layer.find(name)?.is_none() {
            return Ok(None);
        }
        let folder = layer.real_path()?.join(name);
        let (base, hashes) = (Base::load(run)?, Hashes::default());
        Ok(Some(Self { workspace: workspace.to_owned(), folder, is_copy, rules, base, hashes }))
    }

    /// Notes what a copy that was just made began with; one that was made before has its base.
    pub fn with_copy(mut self, run: &Folder, began: SystemTime) -> Result<Self, ChangesError> {
        if self.is_copy && self.base == Base::default() {
            self.base = Base::of_copy(&self.folder, &self.workspace, began)?;
            self.base.save(run)?;
        }
        Ok(self)
    }

    fn layer(&self) -> Layer<'_> {
        match self.is_copy {
            true => Layer::Copy { copy: &self.folder },
            false => Layer::Overlay { upper: &self.folder },
        }
    }

    /// The folder that programs wrote to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Notes what the workspace had where an action, begun at `since`, has changed something for the first time.
    pub fn note(&mut self, run: &Folder, since: SystemTime) -> Result<(), ChangesError> {
        let layer = match self.is_copy {
            true => Layer::Copy { copy: &self.folder },
            false => Layer::Overlay { upper: &self.folder },
        };
        self.base.note(&layer, &self.workspace, since, (&self.rules, run))?;
        self.base.save(run)
    }

    /// Everything that differs from the workspace now.
    pub fn collect(&mut self) -> Result<ChangeSet, ChangesError> {
        let layer = match self.is_copy {
            true => Layer::Copy { copy: &self.folder },
            false => Layer::Overlay { upper: &self.folder },
        };
        changes::collect(&layer, &self.workspace, (&self.base, &self.rules), &mut self.hashes)
    }

    /// Chooses from a set what is to be applied.
    pub fn plan(
        &self,
        run: &Folder,
        set: &ChangeSet,
        selection: &Selection<'_>,
    ) -> Result<Plan, ChangesError> {
        let places = (&self.layer(), self.workspace.as_path());
        Plan::new(set, selection, places, (&self.base, &self.rules, run))
    }

    /// Applies it: all or nothing.
    pub fn apply(
        &mut self,
        (run, owner): Signed<'_>,
        plan: &Plan,
    ) -> Result<NotedChanges, ChangesError> {
        let store = store((run, owner))?;
        let changes: Vec<Change> = plan.changes().cloned().collect();
        let places = (&self.layer(), self.workspace.as_path());
        let applied = changes::apply(plan, &store, places, &Disk::default())?;
        let name = plan_name(applied.number);
        let noted = noted(&changes, &[], name, applied.plan);
        // The files are there, and nothing that goes wrong from here on may hide that. Without it, a file that is
        // changed once more may count as changed by somebody else.
        let _ = self.settle(run, &applied.paths);
        Ok(noted)
    }

    /// Takes what was applied under a number in an earlier process for what the workspace has now.
    pub(crate) fn settle_number(
        &mut self,
        run: Signed<'_>,
        number: u32,
    ) -> Result<(), ChangesError> {
        self.settle(run.0, &paths(run, number)?)
    }

    /// Notes what the workspace has after this program itself has changed it.
    fn settle(&mut self, run: &Folder, paths: &[LayerPath]) -> Result<(), ChangesError> {
        self.base.settle(&self.workspace, paths)?;
        self.base.save(run)
    }

    /// The differences of a set for `git apply`.
    pub fn write_patch(&self, set: &ChangeSet, out: &mut impl Write) -> Result<(), ChangesError> {
        changes::patch(set, (&self.layer(), &self.workspace), &self.rules, out)
    }

    /// The differences of a set for people, up to so many bytes; ignored folders are one line.
    pub fn difference(&self, set: &ChangeSet, most: usize) -> Result<String, ChangesError> {
        let mut text = String::new();
        for line in changes::summary(set, &self.workspace)? {
            match line {
                Line::Folded(folded) => text += &format!("# {folded}\n"),
                Line::Change(line) => {
                    if let Some(change) = set.get(&line.path) {
                        text += &self.difference_of(change)?;
                    }
                }
            }
            if text.len() > most {
                text.truncate(text.floor_char_boundary(most));
                text += "\n… the rest is not shown here\n";
                break;
            }
        }
        Ok(text)
    }

    fn difference_of(&self, change: &Change) -> Result<String, ChangesError> {
        let path = &change.path;
        let name = |side: &str, node: &Option<Node>| match node {
            Some(_) => format!("{side}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let mut header =
            format!("--- {}\n+++ {}\n", name("a", &change.before), name("b", &change.after));
        let details = details(Some(change));
        if !details.is_empty() {
            header += &format!("#{}\n", &details[1..]);
        }
        Ok(match changes::diff(change, (&self.layer(), &self.workspace), &self.rules)? {
            Diff::Text(_) if matches!(change.after, Some(Node::Link { .. })) => header,
            Diff::Text(lines) => format!("{header}{lines}"),
            Diff::Binary => format!("{header}not a text\n"),
            Diff::TooLarge => format!("{header}too large to be shown\n"),
            Diff::Hidden => format!("{header}may hold secrets, so it is not shown\n"),
            Diff::Nothing if details.is_empty() => String::new(),
            Diff::Nothing => header,
        })
    }

    /// A set in lines for people: `+` is new, `~` is different, `-` is gone, `!` is never applied, `*` was changed by
    /// somebody else, too.
    pub fn listing(&self, set: &ChangeSet) -> Result<Vec<String>, ChangesError> {
        let summary = changes::summary(set, &self.workspace)?;
        let detailed = |one: &Line| match one {
            Line::Change(change) => line(one) + &details(set.get(&change.path)),
            Line::Folded(_) => line(one),
        };
        let mut lines: Vec<String> = summary.iter().map(detailed).collect();
        lines.extend(set.held.iter().map(|held| format!("! {}  {}", held.path, held.reason)));
        lines.extend(set.conflicts.iter().map(|conflict| {
            format!("* {}  somebody else changed it since the run first saw it", conflict.path)
        }));
        Ok(lines)
    }

    /// Puts what a plan has into another folder.
    pub fn export(&self, plan: &Plan, to: &Path) -> Result<Vec<LayerPath>, ChangesError> {
        changes::export(plan, &self.layer(), to)
    }

    /// A file that the run made.
    pub fn open_file(&self, path: &LayerPath) -> Result<File, ChangesError> {
        changes::open_file(&self.layer(), path)
    }
}

/// What a line says of a link, and of a mode that changes.
fn details(change: Option<&Change>) -> String {
    let Some(Change { before, after, .. }) = change else { return String::new() };
    if let Some(Node::Link { target }) = after {
        return format!("  link to {target}");
    }
    match (before.as_ref().and_then(Node::mode), after.as_ref().and_then(Node::mode)) {
        (Some(old), Some(new)) if old != new => format!("  mode {old:04o} becomes {new:04o}"),
        (None, Some(new)) if new & 0o111 != 0 && matches!(after, Some(Node::File { .. })) => {
            "  can be run".to_owned()
        }
        _ => String::new(),
    }
}

/// One line of a list.
pub fn line(line: &Line) -> String {
    match line {
        Line::Folded(folded) => format!("~ {folded}"),
        Line::Change(ChangeLine { path, change, kind, size, renamed_from, .. }) => {
            let mark = match change {
                ChangeKind::Added => "+",
                ChangeKind::Changed => "~",
                ChangeKind::Deleted => "-",
            };
            let end = if *kind == Kind::Folder { "/" } else { "" };
            let size = size.map(|bytes| format!("  {bytes} bytes")).unwrap_or_default();
            let from =
                renamed_from.as_ref().map(|from| format!("  was {from}")).unwrap_or_default();
            format!("{mark} {path}{end}{size}{from}")
        }
    }
}

/// Takes back what was applied under a number.
pub fn undo(
    run: Signed<'_>,
    number: u32,
    (workspace, rules): (&Path, &Rules),
) -> Result<Applied, ChangesError> {
    changes::undo(&store(run)?, number, (workspace, rules), &Disk::default())
}

/// Finishes what a kill left half applied or half undone.
pub fn recover(
    run: Signed<'_>,
    (workspace, rules): (&Path, &Rules),
) -> Result<Vec<Recovered>, ChangesError> {
    match run.0.find(APPLIED)? {
        None => Ok(Vec::new()),
        Some(_) => changes::recover(&store(run)?, (workspace, rules), &Disk::default()),
    }
}

/// A run's folder, and who stands behind what was applied from there; nobody where there is no key.
pub type Signed<'a> = (&'a Folder, Option<&'a Owner>);

/// Signs plans, for one run.
#[derive(Debug)]
struct OwnersSeal {
    owner: Owner,
    purpose: String,
}

impl Seal for OwnersSeal {
    fn sign(&self, number: u32, plan: &Sha256) -> String {
        self.owner.sign_text(&self.purpose, &format!("{number} {plan}"))
    }

    fn is_signed(&self, number: u32, plan: &Sha256, found: &str) -> bool {
        self.owner.signed_text(&self.purpose, &format!("{number} {plan}"), found)
    }
}

fn store((run, owner): Signed<'_>) -> Result<Store, ChangesError> {
    let store = Store::open(&run.create_folder(APPLIED, Access::Private)?)?;
    let Some(owner) = owner.cloned() else { return Ok(store) };
    let name = run.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let purpose = format!("applied changes of {name}");
    Ok(store.sealed(Arc::new(OwnersSeal { owner, purpose })))
}

/// The numbers of what was applied and not taken back.
fn applied_numbers(run: Signed<'_>) -> Result<Vec<u32>, ChangesError> {
    match run.0.find(APPLIED)? {
        None => Ok(Vec::new()),
        Some(_) => {
            let all = store(run)?.list()?.into_iter();
            Ok(all
                .filter(|(_, phase)| *phase == Phase::Applied)
                .map(|(number, _)| number)
                .collect())
        }
    }
}

/// What was applied and is noted nowhere: a kill came between. Which of the paths are new is not known any more.
pub(crate) fn unnoted(
    run: Signed<'_>,
    events: &[Event],
) -> Result<Vec<NotedChanges>, ChangesError> {
    let mut found = Vec::new();
    for number in applied_numbers(run)? {
        let name = plan_name(number);
        if events.iter().any(|event| names(event) == Some(&name)) {
            continue;
        }
        let paths = paths(run, number)?;
        found.push(NotedChanges {
            changed: paths.len() as u64,
            paths: paths.iter().take(NAMED).map(ToString::to_string).collect(),
            ..noted(&[], &[], name.clone(), hash_of(run.0, &name)?)
        });
    }
    Ok(found)
}

/// What an event says was applied or taken back.
fn names(event: &Event) -> Option<&String> {
    match &event.data {
        EventData::ChangesApplied(one) => Some(&one.changes.name),
        EventData::ChangesUndone(one) => Some(&one.changes.name),
        _ => None,
    }
}

/// The paths that were changed under a number.
fn paths(run: Signed<'_>, number: u32) -> Result<Vec<LayerPath>, ChangesError> {
    store(run)?.paths(number)
}

/// The list of what was applied under a number, relative to the run's folder.
pub fn plan_name(number: u32) -> String {
    format!("{APPLIED}/{number:04}/{PLAN}")
}

fn hash_of(run: &Folder, name: &str) -> Result<Sha256, ChangesError> {
    Ok(Sha256::of(&run.read(name, LARGEST)?))
}

/// A list beyond this is none.
const LARGEST: u64 = 1 << 30;

/// Whether a change is put to people on its own.
pub fn is_in_git(change: &Change) -> bool {
    change.path.as_path().components().any(|part| part.as_os_str() == GIT)
}

/// Only the part of a set that is below `.git`, or only the rest.
pub fn part(set: &ChangeSet, in_git: bool) -> ChangeSet {
    let mut part = set.clone();
    part.changes.retain(|change| is_in_git(change) == in_git);
    let kept: std::collections::BTreeSet<_> =
        part.changes.iter().map(|change| change.path.clone()).collect();
    part.conflicts.retain(|conflict| kept.contains(&conflict.path));
    part
}

/// Changes as the record has them.
pub fn noted(changes: &[Change], held: &[Held], name: String, sha256: Sha256) -> NotedChanges {
    let count =
        |wanted: fn(&Change) -> bool| changes.iter().filter(|change| wanted(change)).count() as u64;
    NotedChanges {
        added: count(|change| change.before.is_none()),
        changed: count(|change| change.before.is_some() && change.after.is_some()),
        deleted: count(|change| change.after.is_none()),
        bytes: changes.iter().filter_map(|change| change.after.as_ref()?.size()).sum(),
        in_git: count(is_in_git),
        held: held.len() as u64,
        held_back: held
            .iter()
            .take(NAMED)
            .map(|held| format!("{}: {}", held.path, held.reason))
            .collect(),
        paths: changes.iter().take(NAMED).map(|change| change.path.to_string()).collect(),
        name,
        sha256,
    }
}

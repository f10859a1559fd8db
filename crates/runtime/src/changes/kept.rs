//! The changes of a run that has ended: looked at, applied, taken back; and finishing what a kill left half done.
//!
//! Invariant: only a run of this user's own, or one that they adopted, comes to the workspace. What was applied or taken
//! back is in the run's record.

use std::fs::File;
use std::path::{Path, PathBuf};

use agent::changes::NotedChanges;
use agent::event::{ChangesApplied, ChangesMade, ChangesUndone, Event, EventData};
use basics::failure::{Exit, Failure};
use basics::run_id::RunId;
use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::Index;
use state::{Durability, Folder};
use tools::changes::{ChangeSet, ChangesError, LayerPath, Recovered, Rules, Selection};

use super::{
    APPLIED, Layered, OF_A_LAYER, PLAN, Signed, applied_numbers, hash_of, noted, recover, undo,
    unnoted,
};
use crate::conversation::read_setup;
use crate::journal::{Journal, JournalError, Origin, has_ended};
use crate::open::Runtime;
use crate::runner::check_workspace;
use crate::workbench::closed_folders;

/// What a run is called, among the runs, while changes of it are on their way.
pub(crate) const UNDER_WAY: &str = ".applying-";

/// A run that has ended, and what it changed.
pub struct KeptRun {
    journal: Journal,
    events: Vec<Event>,
    run: Folder,
    runs: PathBuf,
    workspace: PathBuf,
    rules: Rules,
    /// What is in its layer; none where it has none any more.
    pub layered: Option<Layered>,
}

/// What the changes of runs must not touch here.
pub fn rules(runtime: &Runtime, index: &Index) -> Rules {
    let config = &runtime.layers.config;
    let skills = index.skills.iter().map(|entry| entry.path.clone());
    let mut rules = Rules::default();
    let visible = config.security.visible_files.iter().map(String::as_str);
    rules.hidden = rules.hidden.except(visible);
    rules.closed = closed_folders(runtime, skills);
    rules.limits.files = config.execution.layer_files;
    rules.limits.bytes = config.execution.layer_bytes;
    rules
}

impl KeptRun {
    /// Opens a run for a `command` that applies or undoes; nobody else works on it meanwhile.
    pub fn open(
        runtime: &Runtime,
        index: &Index,
        run_id: &str,
        command: &str,
    ) -> Result<Self, Failure> {
        let folder = runtime.run_folder(run_id)?;
        let owner = runtime.known_owner(run_id)?;
        let (journal, events) = Journal::open(&folder, Durability::Sync, &owner)?;
        let setup = read_setup(&folder, &events)?;
        check_workspace(runtime, &setup, journal.origin(), command)?;
        if !has_ended(&events) {
            let message = format!("run `{}` has not ended", setup.run_id);
            let hint = format!("continue it first: skillful run --resume {}", setup.run_id);
            return Err(Failure::new(Exit::Usage, "NotFinished", message).hint(hint));
        }
        let run = Folder::open(&folder)?;
        let workspace = runtime.surroundings.working_directory.clone();
        let rules = rules(runtime, index);
        let layered = Layered::open(&run, &workspace, rules.clone())?;
        Ok(Self { journal, events, run, runs: runtime.runs(), workspace, rules, layered })
    }

    /// What differs from the workspace now; nothing where there is no layer any more.
    pub fn collect(&mut self) -> Result<ChangeSet, ChangesError> {
        self.layered.as_mut().map_or_else(|| Ok(ChangeSet::default()), Layered::collect)
    }

    /// Applies what is chosen of a set, and notes it.
    pub fn apply(
        &mut self,
        set: &ChangeSet,
        selection: &Selection<'_>,
    ) -> Result<Vec<String>, Failure> {
        let Some(layered) = &mut self.layered else {
            return Err(Failure::new(Exit::Failed, "NotFound", "the run has nothing to apply")
                .hint("`skillful runs files` shows what it made"));
        };
        let plan = layered.plan(&self.run, set, selection)?;
        let paths = plan.changes().map(|change| change.path.to_string()).collect();
        let under_way = UnderWay::begin(&self.runs, self.journal.run_id().as_str())?;
        let applied = layered.apply((&self.run, self.journal.owner()), &plan)?;
        // First of all, for what follows may fail.
        let applied = EventData::ChangesApplied(Box::new(ChangesApplied { changes: applied }));
        self.journal.add_epilogue(applied, jiff::Timestamp::now())?;
        let rest = layered.collect()?;
        let list = serde_json::to_string(&rest).unwrap_or_default();
        let name = self.journal.keep(list.as_bytes())?;
        let rest = noted(&rest.changes, &rest.held, name, Sha256::of(&list));
        let is_all = rest.is_empty() && rest.held == 0;
        self.note(EventData::ChangesMade(Box::new(ChangesMade { changes: rest })))?;
        under_way.end();
        if is_all {
            self.layered = None;
            for name in OF_A_LAYER {
                // What cannot be removed stays in the run's own folder and harms nobody.
                let _ = self.run.remove_tree(name);
            }
        }
        Ok(paths)
    }

    /// Puts what is chosen of a set into another folder.
    pub fn export(
        &self,
        set: &ChangeSet,
        selection: &Selection<'_>,
        to: &Path,
    ) -> Result<Vec<String>, Failure> {
        let Some(layered) = &self.layered else { return Ok(Vec::new()) };
        let plan = layered.plan(&self.run, set, selection)?;
        Ok(layered.export(&plan, to)?.iter().map(ToString::to_string).collect())
    }

    /// The files that the run made or changed: those in its layer, and those that were applied.
    pub fn files(&mut self) -> Result<Vec<ProducedFile>, Failure> {
        let set = self.collect()?;
        let kept = set.changes.iter().filter_map(|change| {
            let size = change.after.as_ref()?.size()?;
            Some(ProducedFile::new(change.path.to_string(), size, false))
        });
        let mut files: Vec<ProducedFile> = kept.collect();
        for applied in self.applied()? {
            for path in self.paths_of(&applied)? {
                let file = self.workspace.join(&path);
                let size = std::fs::symlink_metadata(&file).ok().filter(|found| found.is_file());
                if let Some(found) = size
                    && !files.iter().any(|other| other.path == path)
                {
                    files.push(ProducedFile::new(path, found.len(), true));
                }
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    /// A file that the run made: from its layer, or from the workspace once it is there.
    pub fn open_file(&mut self, path: &LayerPath) -> Result<File, Failure> {
        let missing = || {
            Failure::new(Exit::Failed, "NotFound", format!("the run made no file `{path}`"))
                .hint("`skillful runs files` shows what it made")
        };
        // A layer that is a copy holds more than the run made.
        let set = self.collect()?;
        let is_kept = set.changes.iter().any(|change| change.path == *path)
            || set.held.iter().any(|held| path.as_path().starts_with(held.path.as_path()));
        if let Some(layered) = &self.layered
            && is_kept
        {
            return layered.open_file(path).map_err(|_| missing());
        }
        let is_applied = self.applied()?.iter().any(|applied| {
            self.paths_of(applied).is_ok_and(|paths| paths.contains(&path.to_string()))
        });
        match is_applied {
            true => Folder::open(&self.workspace)?.open_file(path.as_path()).map_err(|_| missing()),
            false => Err(missing()),
        }
    }

    /// The paths that were changed under this name.
    pub fn paths_of(&self, applied: &NotedChanges) -> Result<Vec<String>, Failure> {
        let number = number_of(&applied.name)
            .ok_or_else(|| JournalError::Changed { name: applied.name.clone() })?;
        Ok(super::paths(self.signed(), number)?.iter().map(ToString::to_string).collect())
    }

    /// What was applied and not taken back, oldest first.
    pub fn applied(&self) -> Result<Vec<NotedChanges>, Failure> {
        let mut applied: Vec<NotedChanges> = Vec::new();
        for event in &self.events {
            match &event.data {
                EventData::ChangesApplied(one) => applied.push(one.changes.clone()),
                EventData::ChangesUndone(one) => {
                    applied.retain(|other| other.name != one.changes.name);
                }
                _ => {}
            }
        }
        if self.journal.origin() == Origin::Adopted {
            // What somebody else applied was dropped when their record was taken over.
            let left = applied_numbers(self.signed())?;
            applied.retain(|one| number_of(&one.name).is_some_and(|one| left.contains(&one)));
        }
        // A kill may have come between applying and noting it.
        applied.extend(unnoted(self.signed(), &self.events)?);
        Ok(applied)
    }

    /// Looks whether that could be taken back now; answers with the paths.
    pub fn check_undo(&self, applied: &NotedChanges) -> Result<Vec<String>, Failure> {
        let number = self.number(applied)?;
        let store = super::store(self.signed())?;
        let paths = tools::changes::check_undo(&store, number, (&self.workspace, &self.rules))?;
        Ok(paths.iter().map(ToString::to_string).collect())
    }

    /// The number that it was applied under, if its list is still the one that was noted.
    fn number(&self, applied: &NotedChanges) -> Result<u32, Failure> {
        let changed = || JournalError::Changed { name: applied.name.clone() };
        match hash_of(&self.run, &applied.name) {
            Ok(sha256) if sha256 == applied.sha256 => {}
            _ => return Err(changed().into()),
        }
        Ok(number_of(&applied.name).ok_or_else(changed)?)
    }

    /// Takes back what was applied under this name, and notes it.
    pub fn undo(&mut self, applied: &NotedChanges) -> Result<Vec<String>, Failure> {
        let number = self.number(applied)?;
        let under_way = UnderWay::begin(&self.runs, self.journal.run_id().as_str())?;
        let undone = undo(self.signed(), number, (&self.workspace, &self.rules))?;
        // First of all, for what follows may fail.
        self.note(EventData::ChangesUndone(Box::new(ChangesUndone { changes: applied.clone() })))?;
        if let Some(layered) = &mut self.layered {
            let _ = layered.settle(&self.run, &undone.paths);
        }
        under_way.end();
        Ok(undone.paths.iter().map(ToString::to_string).collect())
    }

    fn signed(&self) -> Signed<'_> {
        (&self.run, self.journal.owner())
    }

    fn note(&mut self, data: EventData) -> Result<(), JournalError> {
        self.journal.add_epilogue(data, jiff::Timestamp::now())
    }
}

/// A file that a run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProducedFile {
    /// Where it is in the workspace.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// What it is, by its name.
    pub media_type: String,
    /// Whether it is in the workspace, and not only in the run's layer.
    pub applied: bool,
}

impl ProducedFile {
    fn new(path: String, size: u64, applied: bool) -> Self {
        let media_type = media_type(&path).to_owned();
        Self { path, size, media_type, applied }
    }
}

/// What a file is, by the end of its name.
pub(crate) fn media_type(path: &str) -> &'static str {
    let extension =
        path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    match extension.unwrap_or_default().to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "zip" => "application/zip",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "py" | "rs" | "js" | "ts" | "sh" | "c" | "h" | "go" | "java" | "rb" | "css" | "toml"
        | "yaml" | "yml" | "xml" => "text/plain",
        _ => "application/octet-stream",
    }
}

/// `applied/0001/plan.json` is number 1.
pub(crate) fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix(APPLIED)?.strip_prefix('/')?;
    number.strip_suffix(PLAN)?.strip_suffix('/')?.parse().ok()
}

/// Says, where the next command looks, that changes of a run are on their way.
pub(crate) struct UnderWay {
    runs: Folder,
    name: String,
}

impl UnderWay {
    pub(crate) fn begin(runs: &Path, run_id: &str) -> Result<Self, state::StateError> {
        let (runs, name) = (Folder::open(runs)?, format!("{UNDER_WAY}{run_id}"));
        runs.replace_among_many(&name, b"", Durability::Sync)?;
        Ok(Self { runs, name })
    }

    /// They arrived, or nothing was done.
    pub(crate) fn end(self) {
        // Looked at once more, it finds nothing to do.
        let _ = self.runs.remove_file(&self.name);
    }
}

impl Runtime {
    /// Finishes what a kill left half applied or half undone, or takes it back; answers with what was done, in words.
    pub fn finish_interrupted_changes(&self) -> Vec<String> {
        let Ok(runs) = Folder::open(&self.runs()) else { return Vec::new() };
        let names = runs.names().unwrap_or_default();
        let names = names.iter().filter_map(|name| name.to_str());
        let under_way = names.filter_map(|name| name.strip_prefix(UNDER_WAY));
        // A kill may have left one that was only being written.
        let is_run = |name: &&str| name.parse::<RunId>().is_ok();
        let under_way: Vec<String> = under_way.filter(is_run).map(str::to_owned).collect();
        let mut told = Vec::new();
        for run_id in under_way {
            match self.finish_changes_of(&run_id) {
                // Somebody is at it.
                Ok(None) => {}
                Ok(Some(lines)) => {
                    told.extend(lines);
                    let _ = runs.remove_file(format!("{UNDER_WAY}{run_id}"));
                }
                Err(error) => told.push(format!("changes of run {run_id} are half done: {error}")),
            }
        }
        told
    }

    /// Nothing where another process works on the run.
    fn finish_changes_of(&self, run_id: &str) -> Result<Option<Vec<String>>, Failure> {
        let folder = self.run_folder(run_id)?;
        let owner = self.known_owner(run_id)?;
        let (journal, events) = match Journal::open(&folder, Durability::Sync, &owner) {
            Err(JournalError::Locked { .. }) => return Ok(None),
            opened => opened?,
        };
        let setup = read_setup(&folder, &events)?;
        let Some(workspace) = setup.facts.workspace.as_deref().map(PathBuf::from) else {
            return Ok(Some(Vec::new()));
        };
        if workspace != self.surroundings.working_directory {
            return Ok(None);
        }
        let rules = rules(self, &self.index()?);
        let recovered = recover((journal.state(), journal.owner()), (&workspace, &rules))?;
        Ok(Some(recovered.iter().map(|one| in_words(run_id, one)).collect()))
    }
}

fn in_words(run_id: &str, recovered: &Recovered) -> String {
    use tools::changes::Phase;
    let what = match recovered.phase {
        Some(Phase::Applied) => "were half applied; now they are applied",
        Some(Phase::Undone) => "were half undone; now they are undone",
        Some(Phase::HalfWay) => "are half applied, because somebody changed files meanwhile",
        _ => "were half applied; now nothing of them is",
    };
    format!("The changes of run {run_id} {what}.")
}

//! What a run changed, on its way to the workspace: noted after each action, put to a person, applied.

use std::time::SystemTime;

use agent::action::Action;
use agent::changes::NotedChanges;
use agent::observation::Observation;
use agent::request::{Refusal, Request};
use permission::{Approved, Engine, Permission, Risk};
use serde_json::{Value, json};
use tools::changes::{ChangeSet, LayerPath, Selection};

use super::{Workbench, io_error, keep};
use crate::changes::{UnderWay, is_in_git, noted, number_of, part, unnoted};
use crate::driver::Means;
use crate::journal::{Journal, Redactor};

/// Paths that rules are asked about by name; of more, the strictest.
const PATTERNS: usize = 500;
/// Lines of the list that a person sees, and bytes of the difference.
const LINES: usize = 200;
const DIFF: usize = 1 << 20;

impl Workbench<'_> {
    /// What the layer holds by now, where that is something else than was noted before. `since` is when the action began.
    pub(super) fn changed(
        &mut self,
        since: SystemTime,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Result<Option<Box<NotedChanges>>, Refusal> {
        let changed = self.look_at_layer(since, redactor, journal);
        self.unnoted = changed.as_ref().err().cloned();
        changed
    }

    fn look_at_layer(
        &mut self,
        since: SystemTime,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Result<Option<Box<NotedChanges>>, Refusal> {
        let Some(run) = &self.run else { return Ok(None) };
        let Some(layered) = self.seen.as_mut().and_then(|seen| seen.layered.as_mut()) else {
            return Ok(None);
        };
        layered.note(run, since)?;
        let set = layered.collect()?;
        let list = json!(set).to_string();
        let changed =
            noted(&set.changes, &set.held, String::new(), basics::sha256::Sha256::of(&list));
        if self.noted == Some(changed.sha256)
            || self.noted.is_none() && changed.is_empty() && changed.held == 0
        {
            return Ok(None);
        }
        self.noted = Some(changed.sha256);
        let clean = redactor.content(list.as_bytes());
        let sha256 = basics::sha256::Sha256::of(&clean);
        let name = keep(list.as_bytes(), redactor, journal)?;
        Ok(Some(Box::new(NotedChanges { name, sha256, ..changed })))
    }

    pub(super) fn prepare_apply(
        &mut self,
        action: &Action,
        paths: &[String],
        engine: &Engine,
    ) -> Result<Request, Refusal> {
        self.see_layer()?;
        let set = self.chosen(paths)?;
        if !set.conflicts.is_empty() {
            let files: Vec<String> =
                set.conflicts.iter().map(|conflict| format!("`{}`", conflict.path)).collect();
            return Err(Refusal::new(
                "Conflict",
                format!(
                    "nothing was applied: somebody else changed {} meanwhile",
                    files.join(", ")
                ),
                "the user decides: `skillful runs apply RUN --merge`, `--ours` or `--theirs`",
            ));
        }
        if set.is_empty() {
            return Err(Refusal::new("NotFound", "there is nothing to apply", "go on"));
        }
        let changed = noted(&set.changes, &set.held, String::new(), set.sha256());
        let mut names: Vec<String> =
            set.changes.iter().map(|change| change.path.to_string()).collect();
        // The strictest first: they decide.
        names.sort_by_key(|name| std::cmp::Reverse(engine.action(Permission::ApplyChanges, name)));
        names.truncate(PATTERNS);
        let layered = self.seen.as_ref().and_then(|seen| seen.layered.as_ref());
        let (mut files, diff) = match layered {
            Some(layered) => (layered.listing(&set)?, layered.difference(&set, DIFF)?),
            None => (Vec::new(), String::new()),
        };
        if files.len() > LINES {
            let more = files.len() - LINES;
            files.truncate(LINES);
            files.push(format!("  … and {more} more"));
        }
        let effect = effect(&changed);
        self.prepared = Some(set);
        Ok(Request {
            patterns: names,
            risk: Risk::High,
            effect,
            params: json!({"files": files, "diff": diff, "sha256": changed.sha256}),
            read_only: false,
            ..Request::new(action.clone(), Permission::ApplyChanges)
        })
    }

    /// The changes that an action means.
    fn chosen(&mut self, paths: &[String]) -> Result<ChangeSet, Refusal> {
        let Some(layered) = self.seen.as_mut().and_then(|seen| seen.layered.as_mut()) else {
            return Ok(ChangeSet::default());
        };
        let set = layered.collect()?;
        if paths.is_empty() {
            return Ok(part(&set, false));
        }
        if paths == [agent::run::GIT] {
            return Ok(part(&set, true));
        }
        let paths: Vec<LayerPath> = paths
            .iter()
            .map(|path| LayerPath::new(path.trim_end_matches('/').as_bytes()))
            .collect::<Result<_, _>>()
            .map_err(|error| {
                Refusal::new("InvalidAction", error.to_string(), "name paths in the workspace")
            })?;
        let mut chosen = set;
        chosen.changes.retain(|change| paths.iter().any(|path| change.path.is_within(path)));
        if chosen.changes.iter().any(is_in_git) && !chosen.changes.iter().all(is_in_git) {
            chosen = part(&chosen, false);
        }
        let kept: std::collections::BTreeSet<_> =
            chosen.changes.iter().map(|change| change.path.clone()).collect();
        chosen.conflicts.retain(|conflict| kept.contains(&conflict.path));
        Ok(chosen)
    }

    /// Applies exactly what was shown.
    pub(super) fn apply(
        &mut self,
        request: &Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let shown = request.params["sha256"].as_str().unwrap_or_default();
        let Action::ApplyChanges { paths, .. } = &request.action else {
            return Err(Refusal::new("InvalidAction", "not about changes", ""));
        };
        let set = match self.prepared.take() {
            Some(set) => set,
            // Whoever prepared it is not there any more.
            None => {
                self.see_layer()?;
                self.chosen(paths)?
            }
        };
        let set = Some(set).filter(|set| set.sha256().to_string() == shown);
        let (Some(set), Some(run)) = (set, &self.run) else {
            return Err(Refusal::new(
                "FileChanged",
                "not applied: these are not the changes that were shown",
                "the user is asked again",
            ));
        };
        let Some(layered) = self.seen.as_mut().and_then(|seen| seen.layered.as_mut()) else {
            return Err(Refusal::new("NotFound", "there is nothing to apply", "go on"));
        };
        let plan = layered.plan(run, &set, &Selection::default())?;
        let runs = run.path().parent().map(std::path::Path::to_owned).unwrap_or_default();
        let name = run.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let under_way = UnderWay::begin(&runs, &name)?;
        let applied = layered.apply((run, journal.owner()), &plan)?;
        under_way.end();
        let text = format!("Applied to the workspace: {}", counts(&applied));
        let done = Observation { applied: Some(Box::new(applied)), ..Observation::of(text) };
        // Whatever is the matter with the rest, this was applied.
        let rest = self.rest(SystemTime::now(), means.redactor, journal);
        Ok(with_changes(done, rest.map(Some)))
    }

    /// What was applied before a kill came, if anything was and nobody noted it; the layer knows it from now on.
    pub(super) fn applied_unnoted(
        &mut self,
        journal: &Journal,
    ) -> Result<Option<NotedChanges>, Refusal> {
        let events = journal.events().map_err(|error| io_error(&error))?;
        let signed = (self.run()?, journal.owner());
        let Some(applied) = unnoted(signed, &events)?.pop() else { return Ok(None) };
        self.see_layer()?;
        let layered = self.seen.as_mut().and_then(|seen| seen.layered.as_mut());
        if let (Some(layered), Some(run), Some(number)) =
            (layered, &self.run, number_of(&applied.name))
        {
            layered.settle_number((run, journal.owner()), number)?;
        }
        Ok(Some(applied))
    }

    /// What is left in the layer, also where that is nothing.
    pub(super) fn rest(
        &mut self,
        since: SystemTime,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Result<Box<NotedChanges>, Refusal> {
        self.noted = None;
        if let Some(changed) = self.changed(since, redactor, journal)? {
            return Ok(changed);
        }
        let name = keep(b"[]", redactor, journal)?;
        let nothing = noted(&[], &[], name, basics::sha256::Sha256::of("[]"));
        self.noted = Some(nothing.sha256);
        Ok(Box::new(nothing))
    }
}

fn effect(changes: &NotedChanges) -> String {
    let place = match changes.in_git {
        0 => "your files",
        _ => "the Git repository itself, below `.git`",
    };
    let held = match changes.held {
        0 => String::new(),
        held => format!("; {held} more are never applied"),
    };
    format!("changes {place}: {}{held}", counts(changes))
}

fn counts(changes: &NotedChanges) -> String {
    let parts =
        [(changes.added, "added"), (changes.changed, "changed"), (changes.deleted, "deleted")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    format!("{} ({} bytes)", parts.join(", "), changes.bytes)
}

/// Adds to an observation what could not be said about the layer.
pub(super) fn with_changes(
    mut observation: Observation,
    changes: Result<Option<Box<NotedChanges>>, Refusal>,
) -> Observation {
    match changes {
        Ok(changes) => {
            if let Some(changes) = &changes
                && let Ok(Value::Object(mut result)) = serde_json::from_str(&observation.text)
            {
                let NotedChanges { added, changed, deleted, paths, .. } = &**changes;
                let written =
                    json!({"added": added, "changed": changed, "deleted": deleted, "paths": paths});
                if !changes.held_back.is_empty() {
                    result.insert("never_applied".to_owned(), json!(changes.held_back));
                }
                result.insert("changed_so_far".to_owned(), written);
                observation.text = Value::Object(result).to_string();
            }
            observation.changes = changes;
        }
        Err(refusal) => {
            observation.text +=
                &format!("\n{}: {}\nHint: {}", refusal.code, refusal.message, refusal.hint);
            observation.code = Some(refusal.code);
        }
    }
    observation
}

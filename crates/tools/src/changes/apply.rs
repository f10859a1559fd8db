//! Applying changes, taking them back, and finishing what a kill left half done.
//!
//! Invariants: before the first phase is written, nothing in the workspace has changed; after it, everything that is
//! needed to go on or back is on the device. Whatever fails is taken back.

use std::collections::HashMap;
use std::path::Path;

use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::Serialize;

use super::carry::{Carrier, Stop};
use super::conflict::Conflict;
use super::disk::Disk;
use super::error::ChangesError;
use super::layer::Layer;
use super::node::Stamp;
use super::path::LayerPath;
use super::plan::{Plan, Step, changes_of, steps};
use super::rules::Rules;
use super::stage::stage;
use super::store::{Kept, Phase, Record, Store};
use super::tree::Tree;
use super::verify::{check_slots, check_waiting, verify};
use super::walk::Trees;

/// What was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Applied {
    /// By which it can be taken back.
    pub number: u32,
    /// The paths that were changed.
    pub paths: Vec<LayerPath>,
    /// The SHA-256 of the list of steps.
    pub plan: Sha256,
}

/// What became of changes that a kill left half done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Recovered {
    /// Which.
    pub number: u32,
    /// What they are now; nothing where they were not begun.
    pub phase: Option<Phase>,
    /// Files that somebody else changed meanwhile and that were left alone.
    pub left: Vec<LayerPath>,
}

/// Applies changes: all of them, or none.
pub fn apply(
    plan: &Plan,
    store: &Store,
    (layer, workspace): (&Layer<'_>, &Path),
    disk: &Disk,
) -> Result<Applied, ChangesError> {
    let trees = Trees::open(layer, workspace)?;
    let steps = steps(&plan.parts);
    let kept = store.begin(disk)?;
    let (sha256, states) = prepare(plan, &steps, &trees, &kept, disk).inspect_err(|_| {
        // What went wrong matters more than a leftover.
        let _ = kept.discard(disk);
    })?;
    let mut carrier = Carrier::new(&trees.workspace, &kept, disk);
    let mut go = || -> Result<(), Stop> {
        kept.set_phase(Phase::Apply, disk)?;
        carrier.all(&steps, &states)?;
        Ok(kept.set_phase(Phase::Applied, disk)?)
    };
    match go() {
        Ok(()) => {
            let paths = plan.changes().map(|change| change.path.clone()).collect();
            Ok(Applied { number: kept.number(), paths, plan: sha256 })
        }
        Err(stop) => {
            let left = roll_back(&steps, &trees.workspace, &kept, disk)?;
            Err(reason(stop, left, &kept))
        }
    }
}

/// Writes down everything that is to come.
fn prepare(
    plan: &Plan,
    steps: &[Step],
    trees: &Trees,
    kept: &Kept,
    disk: &Disk,
) -> Result<(Sha256, Vec<Option<Stamp>>), ChangesError> {
    stage((&plan.parts, steps), &trees.layer, kept, disk)?;
    let seen: HashMap<&LayerPath, Stamp> =
        plan.changes().filter_map(|change| Some((&change.path, change.seen?))).collect();
    let states = verify(steps, |path| seen.get(path).copied(), (&trees.workspace, kept))?;
    let states = states.map_err(conflicts)?;
    let sha256 = kept.write_record(&Record { set: plan.set, steps: steps.to_vec() }, disk)?;
    Ok((sha256, states))
}

/// Looks whether applied changes could be taken back; answers with their paths.
pub fn check_undo(
    store: &Store,
    number: u32,
    (workspace, rules): (&Path, &Rules),
) -> Result<Vec<LayerPath>, ChangesError> {
    let kept = store.kept(number)?;
    let workspace = Tree::open(workspace)?;
    let (_, steps) = recorded(&kept, &workspace, rules)?;
    verify(&inverse(&steps), |_| None, (&workspace, &kept))?.map_err(conflicts)?;
    Ok(paths(&steps))
}

/// Takes applied changes back: all of them, or none.
pub fn undo(
    store: &Store,
    number: u32,
    (workspace, rules): (&Path, &Rules),
    disk: &Disk,
) -> Result<Applied, ChangesError> {
    let kept = store.kept(number)?;
    if kept.phase()? != Some(Phase::Applied) {
        return Err(ChangesError::NotApplied { number });
    }
    let workspace = Tree::open(workspace)?;
    let (plan, steps) = recorded(&kept, &workspace, rules)?;
    let back = inverse(&steps);
    let states = verify(&back, |_| None, (&workspace, &kept))?.map_err(conflicts)?;
    check_slots(&back, &kept)?;
    let mut carrier = Carrier::new(&workspace, &kept, disk);
    let mut go = || -> Result<(), Stop> {
        kept.set_phase(Phase::Undo, disk)?;
        carrier.all(&back, &states)?;
        Ok(kept.set_phase(Phase::Undone, disk)?)
    };
    match go() {
        Ok(()) => Ok(Applied { number, paths: paths(&steps), plan }),
        Err(stop) => {
            let left = redo(&steps, &workspace, &kept, disk)?;
            Err(reason(stop, left, &kept))
        }
    }
}

/// Finishes what a kill left half done, or takes it back where somebody changed a file meanwhile.
pub fn recover(
    store: &Store,
    (workspace, rules): (&Path, &Rules),
    disk: &Disk,
) -> Result<Vec<Recovered>, ChangesError> {
    let workspace = Tree::open(workspace)?;
    let mut recovered = Vec::new();
    for number in store.numbers()? {
        if !store.has_phase(number)? {
            // A list alone is what is left of a record that was taken over.
            if !store.has_slots(number)? {
                continue;
            }
            store.sweep(number, disk)?;
            recovered.push(Recovered { number, phase: None, left: Vec::new() });
            continue;
        }
        let kept = store.kept(number)?;
        let Some(phase @ (Phase::Apply | Phase::Rollback | Phase::Undo | Phase::Redo)) =
            kept.phase()?
        else {
            continue;
        };
        let (_, steps) = recorded(&kept, &workspace, rules)?;
        let (phase, left) = go_on(phase, &steps, &workspace, &kept, disk)?;
        recovered.push(Recovered { number, phase, left });
    }
    Ok(recovered)
}

fn go_on(
    phase: Phase,
    steps: &[Step],
    workspace: &Tree,
    kept: &Kept,
    disk: &Disk,
) -> Result<(Option<Phase>, Vec<LayerPath>), ChangesError> {
    let mut carrier = Carrier::new(workspace, kept, disk);
    let mut rest = |steps: &[Step]| -> Result<Result<(), Stop>, ChangesError> {
        check_waiting(steps, kept)?;
        Ok(carrier.rest(steps))
    };
    let (goal, done) = match phase {
        Phase::Apply => (Phase::Applied, rest(steps)?),
        Phase::Undo => (Phase::Undone, rest(&inverse(steps))?),
        Phase::Rollback => {
            let left = roll_back(steps, workspace, kept, disk)?;
            return Ok(((!left.is_empty()).then_some(Phase::HalfWay), left));
        }
        _ => {
            let left = redo(steps, workspace, kept, disk)?;
            let phase = if left.is_empty() { Phase::Applied } else { Phase::HalfWay };
            return Ok((Some(phase), left));
        }
    };
    match done {
        Ok(()) => {
            kept.set_phase(goal, disk)?;
            Ok((Some(goal), Vec::new()))
        }
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Foreign(path)) => {
            let back = if phase == Phase::Apply { Phase::Rollback } else { Phase::Redo };
            let (phase, mut left) = go_on(back, steps, workspace, kept, disk)?;
            if !left.contains(&path) {
                left.push(path);
            }
            Ok((phase, left))
        }
    }
}

/// Takes back what was done of an application that was not possible.
fn roll_back(
    steps: &[Step],
    workspace: &Tree,
    kept: &Kept,
    disk: &Disk,
) -> Result<Vec<LayerPath>, ChangesError> {
    kept.set_phase(Phase::Rollback, disk)?;
    let left = Carrier::new(workspace, kept, disk).what_can_be(&inverse(steps))?;
    match left.is_empty() {
        true => kept.discard(disk)?,
        false => kept.set_phase(Phase::HalfWay, disk)?,
    }
    Ok(left)
}

/// Does again what was taken back by an undo that was not possible.
fn redo(
    steps: &[Step],
    workspace: &Tree,
    kept: &Kept,
    disk: &Disk,
) -> Result<Vec<LayerPath>, ChangesError> {
    kept.set_phase(Phase::Redo, disk)?;
    let left = Carrier::new(workspace, kept, disk).what_can_be(steps)?;
    let phase = if left.is_empty() { Phase::Applied } else { Phase::HalfWay };
    kept.set_phase(phase, disk)?;
    Ok(left)
}

fn inverse(steps: &[Step]) -> Vec<Step> {
    steps.iter().rev().map(Step::inverse).collect()
}

fn paths(steps: &[Step]) -> Vec<LayerPath> {
    let mut paths: Vec<LayerPath> = steps.iter().map(|step| step.path.clone()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The steps of a plan on disk. What is never applied is not applied because a plan says so.
fn recorded(
    kept: &Kept,
    workspace: &Tree,
    rules: &Rules,
) -> Result<(Sha256, Vec<Step>), ChangesError> {
    let (plan, Record { steps, .. }) = kept.record()?;
    match rules.first_held(&changes_of(&steps), workspace) {
        Some(held) => Err(ChangesError::Held { path: held.path, reason: held.reason }),
        None => Ok((plan, steps)),
    }
}

fn reason(stop: Stop, left: Vec<LayerPath>, kept: &Kept) -> ChangesError {
    match (stop, left.is_empty()) {
        (_, false) => ChangesError::HalfWay { paths: left, kept: kept.path.clone() },
        (Stop::Error(error), true) => error,
        (Stop::Foreign(path), true) => conflicts(vec![path]),
    }
}

fn conflicts(paths: Vec<LayerPath>) -> ChangesError {
    let conflict = |path| Conflict { path, base: None, ours: None, theirs: None };
    ChangesError::Conflict { conflicts: paths.into_iter().map(conflict).collect() }
}

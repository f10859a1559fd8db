//! Which conversation to go on with.

use std::io::{BufRead, Write};

use basics::text::{for_terminal, one_line, prefix};
use runtime::journal::{self, ListedRun};

use crate::commands::run::approver::is_attended;
use crate::failure::{Exit, Failure};
use crate::output::{Output, count};
use crate::session::Session;

/// Conversations that are shown.
const SHOWN: usize = 10;

/// The conversation that the user picks from a list, by its last run; without a terminal the newest.
pub(super) fn conversation(session: &Session, output: &Output) -> Result<String, Failure> {
    if !is_attended() {
        return Ok("last".to_owned());
    }
    let owner = session.owner()?;
    let (runs, _) = journal::list(&session.runs(), Some(SHOWN), owner.as_ref())?;
    let is_continued = |run: &&ListedRun| {
        let name = Some(run.summary.run_id.as_str());
        runs.iter().any(|other| other.summary.continues.as_deref() == name)
    };
    let ends: Vec<&ListedRun> =
        runs.iter().filter(|run| run.origin.is_own() && !is_continued(run)).collect();
    let Some(newest) = ends.first() else {
        return Err(Failure::new(Exit::Failed, "RunNotFound", "there is no conversation yet")
            .hint("`skillful chat` begins one"));
    };
    for (number, ListedRun { summary, .. }) in (1..).zip(&ends) {
        let state = summary.stop_reason.map_or("unfinished", |reason| reason.name());
        let request = for_terminal(prefix(&one_line(&summary.request), 60)).into_owned();
        let turns = count(summary.turns as usize, "turn");
        let time = summary.started.get(..16).unwrap_or_default().replace('T', " ");
        output.note(&format!("{number:>2} {request}  ({}, {turns}, {state})", for_terminal(&time)));
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "Which one? [1] ").and_then(|()| stderr.flush());
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let wanted = match line.trim() {
        "" => Some(newest),
        number => number.parse::<usize>().ok().and_then(|number| ends.get(number.checked_sub(1)?)),
    };
    let unknown = || {
        Failure::new(Exit::Usage, "Usage", "that is none of them")
            .hint("type the number of a conversation")
    };
    Ok(wanted.ok_or_else(unknown)?.summary.run_id.clone())
}

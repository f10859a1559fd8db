//! `skillful why`

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use basics::text::for_terminal;
use permission::{CommandLine, Engine, Permission, argument};
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Entry, IgnoredPath, Index, Loser};
use skill::load::check_trusted;

use crate::commands::origin::Provenance;
use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::{Session, describe_roots};
use runtime::open::not_found;

/// Explain why a skill is visible or hidden, and what it costs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful why csv-report\n  skillful why csv-report --json | jq .losers"
)]
pub(crate) struct Why {
    /// The skill's name
    name: String,
}

/// Why a skill is there, or is not.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Reasons<'a> {
    name: &'a str,
    /// The copy that counts.
    winner: Option<&'a Entry>,
    /// The folder of the copy that the model is offered.
    offered: Option<&'a Path>,
    /// Copies that do not, and why.
    losers: Vec<Loser>,
    /// What keeps the model from seeing it.
    hidden_by: Vec<Hiding>,
    /// Where the winner was installed from, and whether it is still the same.
    installed: Option<Provenance>,
    /// Characters it takes in the catalog.
    catalog_chars: Option<usize>,
    /// Copies that could not be read.
    ignored: Vec<&'a IgnoredPath>,
}

/// Something that keeps the model from seeing a skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hiding {
    reason: String,
    hint: String,
}

impl Why {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        let index = session.index()?;
        let engine = session.engine(CommandLine::default(), None)?;
        let winner = index.get(&self.name, None).map(Entry::looked_at);
        let reasons = Reasons::of(&index, &self.name, winner.as_ref(), session, &engine);
        if reasons.winner.is_none() && reasons.ignored.is_empty() {
            return Err(not_found(&index, &self.name));
        }
        output.result(&reasons, |out, palette| reasons.write(out, palette))?;
        describe_roots(&index, output);
        Ok(ExitCode::SUCCESS)
    }
}

impl<'a> Reasons<'a> {
    fn of(
        index: &'a Index,
        name: &'a str,
        winner: Option<&'a Entry>,
        session: &Session,
        engine: &Engine,
    ) -> Self {
        let conflict = index.report.conflicts.iter().find(|conflict| conflict.name == name);
        let named = |ignored: &&IgnoredPath| {
            let path = Path::new(&ignored.path);
            [Some(path), path.parent()].into_iter().flatten().any(|path| path.ends_with(name))
        };
        let denied = engine.denials(Permission::Skill);
        let offer = index.offer(|entry| !denied(&entry.rule_name()));
        Self {
            name,
            winner,
            offered: offer
                .get(name, None)
                .filter(|entry| check_trusted(entry).is_ok())
                .map(|entry| entry.path.as_path()),
            losers: conflict.map_or_else(Vec::new, |conflict| conflict.losers.clone()),
            hidden_by: winner.map_or_else(Vec::new, |entry| hidings(entry, session, engine)),
            installed: winner.and_then(|entry| Provenance::of(entry, session)),
            catalog_chars: winner.map(|entry| {
                skill::offer::catalog_cost(session.layers.config.catalog.format, entry)
            }),
            ignored: index.report.ignored.iter().filter(named).collect(),
        }
    }

    fn write(
        &self,
        out: &mut dyn Write,
        Palette { bold, dim, warn, .. }: Palette,
    ) -> std::io::Result<()> {
        match self.winner {
            Some(entry) => writeln!(
                out,
                "{bold}{}{bold:#} is {}",
                for_terminal(self.name),
                for_terminal(&entry.path.to_string_lossy())
            )?,
            None => {
                writeln!(out, "{bold}{}{bold:#} is not among your skills", for_terminal(self.name))?
            }
        }
        for (label, value) in self.installed.iter().flat_map(Provenance::facts) {
            writeln!(out, "  {label} {}", for_terminal(&value))?;
        }
        for hiding in &self.hidden_by {
            writeln!(
                out,
                "  {warn}hidden from the model{warn:#}: {}",
                for_terminal(&hiding.reason)
            )?;
            writeln!(out, "    {dim}{}{dim:#}", for_terminal(&hiding.hint))?;
        }
        if let Some(path) = self.offered.filter(|_| !self.hidden_by.is_empty()) {
            let path = path.to_string_lossy();
            writeln!(out, "  the model sees {} instead", for_terminal(&path))?;
        }
        for loser in &self.losers {
            writeln!(out, "  not {}", for_terminal(&loser.path))?;
            writeln!(out, "    {dim}{}{dim:#}", loser.reason)?;
        }
        for ignored in &self.ignored {
            let message = for_terminal(&ignored.message);
            writeln!(out, "  {warn}left out{warn:#} {}", for_terminal(&ignored.path))?;
            writeln!(out, "    {message}\n    {dim}{}{dim:#}", ignored.hint)?;
        }
        if let Some(chars) = self.catalog_chars {
            let verb = if self.hidden_by.is_empty() { "costs" } else { "would cost" };
            let tokens = chars.div_ceil(4);
            writeln!(out, "  {verb} {chars} characters of the catalog (about {tokens} tokens)")?;
        }
        Ok(())
    }
}

fn hidings(entry: &Entry, session: &Session, engine: &Engine) -> Vec<Hiding> {
    let mut found = Vec::new();
    if let Some(waiting) = entry.waiting {
        let hint =
            format!("look first, then run `skillful trust project {}`", argument(&entry.name));
        found.push(Hiding { reason: waiting.reason().to_owned(), hint });
    }
    if entry.controls.disable_model_invocation {
        let hint = format!("you can still use it yourself with /{}", entry.name);
        found.push(Hiding { reason: "it says `disable-model-invocation`".to_owned(), hint });
    }
    if let Some(reason) = session.denying_rule(engine, entry) {
        let hint = "change the rule; `skillful config show --origin` shows all".to_owned();
        found.push(Hiding { reason, hint });
    }
    found
}

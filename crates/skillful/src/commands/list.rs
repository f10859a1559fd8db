//! `skillful list`

use std::io::Write;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Entry, Index, Report};
use skill::text::for_terminal;

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// List the skills that can be reached
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful list\n  skillful list --source project\n  skillful list --json | jq -r '.skills[].name'"
)]
pub(crate) struct List {}

/// The skills, and how they were found.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing<'a> {
    pub(crate) skills: &'a [Entry],
    pub(crate) report: FullReport<'a>,
}

/// A report with what takes time to find out.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FullReport<'a> {
    #[serde(flatten)]
    pub(crate) report: &'a Report,
    /// `sha256:` over the canonical JSON of the skills.
    pub(crate) index_hash: String,
}

impl<'a> Listing<'a> {
    pub(crate) fn of(index: &'a Index) -> Self {
        Self {
            skills: &index.skills,
            report: FullReport { report: &index.report, index_hash: index.hash() },
        }
    }
}

impl List {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        if output.json {
            output.result(&Listing::of(&index), |_, _| Ok(()))?;
            return Ok(ExitCode::SUCCESS);
        }
        output.result(&(), |out, palette| table(&index.skills, output.width(), out, palette))?;
        summary(&index, output);
        Ok(ExitCode::SUCCESS)
    }
}

fn table(
    skills: &[Entry],
    width: Option<usize>,
    out: &mut dyn Write,
    Palette { bold, dim, warn, .. }: Palette,
) -> std::io::Result<()> {
    let longest = skills.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0).min(40);
    let mut ordered: Vec<&Entry> = skills.iter().collect();
    ordered.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in ordered {
        let name = for_terminal(&entry.name);
        let mark = match (entry.trusted, entry.controls.disable_model_invocation) {
            (false, _) => "untrusted ",
            (true, true) => "hidden ",
            (true, false) => "",
        };
        let description = skill::text::one_line(&entry.description);
        let room = width.map(|width| width.saturating_sub(longest + mark.len() + 12).max(20));
        let description = shortened(&description, room);
        writeln!(
            out,
            "{bold}{name:longest$}{bold:#}  {dim}{:8}{dim:#}  {warn}{mark}{warn:#}{description}",
            entry.source
        )?;
    }
    Ok(())
}

/// `text` in `room` characters; all of it where there is no terminal.
pub(crate) fn shortened(text: &str, room: Option<usize>) -> std::borrow::Cow<'_, str> {
    match room {
        Some(room) if text.chars().count() > room => {
            format!("{}…", skill::text::prefix(text, room.saturating_sub(1)).trim_end()).into()
        }
        _ => text.into(),
    }
}

fn summary(index: &Index, output: &Output) {
    if output.verbose {
        for root in &index.report.roots {
            output.note(&format!(
                "{} ({}): {} skills in {:.1} ms",
                root.path, root.source, root.valid, root.milliseconds
            ));
        }
    }
    if index.skills.is_empty() {
        output.note("No skills found. `skillful new NAME` makes one.");
    }
    let untrusted = index.skills.iter().filter(|entry| !entry.trusted).count();
    if untrusted > 0 {
        output.note(&format!(
            "{untrusted} of this project's skills are untrusted and hidden from the model; look at them, then `skillful trust project`."
        ));
    }
    let ignored = index.report.ignored.len();
    if ignored > 0 {
        output.note(&format!("{ignored} left out; `skillful doctor` says why and how to mend it."));
    }
}

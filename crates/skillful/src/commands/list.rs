//! `skillful list`

use std::io::Write;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use basics::failure::Explain;
use basics::text::for_terminal;
use schemars::JsonSchema;
use serde::Serialize;
use skill::discover::Problem;
use skill::index::{Entry, IgnoredPath, Index, Report};
use skill::metadata::Controls;
use skill::trust::Waiting;

use crate::commands::origin::{Origin, installed};
use crate::commands::trust::hidden;
use crate::failure::Failure;
use crate::output::fit::{clip, columns, missing};
use crate::output::{Output, Paint, Palette};
use crate::session::{Session, describe_roots};

/// List your skills
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
    /// Where skills were installed from; `inspect` says whether they are still the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) installed: Vec<InstalledFrom>,
}

/// Where a skill was installed from.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InstalledFrom {
    name: String,
    /// `user` or `project`.
    source: &'static str,
    #[serde(flatten)]
    origin: Origin,
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
    pub(crate) fn of(index: &'a Index, session: &Session) -> Self {
        let installed = installed(session).into_iter();
        Self {
            installed: installed
                .map(|(name, source, origin)| InstalledFrom { name, source, origin })
                .collect(),
            skills: &index.skills,
            report: FullReport { report: &index.report, index_hash: index.hash() },
        }
    }
}

impl List {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        // The process ends with this command: nothing is gained by freeing every skill before.
        session.finish_interrupted_installs();
        let index = ManuallyDrop::new(session.index()?);
        if output.json {
            output.result(&Listing::of(&index, session), |_, _| Ok(()))?;
            return Ok(ExitCode::SUCCESS);
        }
        output.result(&(), |out, palette| table(&index.skills, output.width(), out, palette))?;
        summary(&index, output);
        for (name, source, origin) in installed(session).iter().filter(|_| output.verbose) {
            output.note(&format!("{name} ({source}) is from {}", origin.describe()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A name longer than this, or than a third of the terminal, does not move all others to the right.
const NAME_COLUMNS: usize = 40;
const SOURCE_COLUMNS: usize = 8;

fn table(
    skills: &[Entry],
    width: Option<usize>,
    out: &mut dyn Write,
    Palette { bold, dim, warn, .. }: Palette,
) -> std::io::Result<()> {
    let limit = width.map_or(NAME_COLUMNS, |width| NAME_COLUMNS.min(width / 3));
    let longest = skills.iter().map(|entry| columns(&entry.name)).max().unwrap_or(0).min(limit);
    let mut ordered: Vec<&Entry> = skills.iter().collect();
    // Each root is in the order of its paths, which is nearly that of the names: a sort that merges.
    ordered.sort_by(|a, b| a.name.cmp(&b.name));
    // One line is put together at a time: formatting machinery costs more than finding the skill did.
    let [bold, dim, warn] = [bold, dim, warn].map(Paint::new);
    let mut line = String::new();
    for entry in ordered {
        line.clear();
        let name = for_terminal(&entry.name);
        let name = clip(&name, width);
        bold.add(&name, &mut line);
        let gap = match width {
            Some(_) if columns(&name) > longest => {
                line.push('\n');
                longest
            }
            _ => missing(&name, longest),
        };
        line.extend(std::iter::repeat_n(' ', gap + 2));
        let source = entry.source.as_str();
        dim.add(source, &mut line);
        line.extend(std::iter::repeat_n(' ', missing(source, SOURCE_COLUMNS) + 2));
        let mark = mark(entry);
        warn.add(mark, &mut line);
        let taken = longest + SOURCE_COLUMNS + 4 + mark.len();
        let description = basics::text::one_line(&entry.description);
        line.push_str(&clip(&description, width.map(|width| width.saturating_sub(taken))));
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// What keeps a skill from the model, or from being a command, in a word.
pub(crate) fn mark(entry: &Entry) -> &'static str {
    let Controls { disable_model_invocation, user_invocable, .. } = entry.controls;
    match (entry.waiting, disable_model_invocation, user_invocable) {
        (Some(Waiting::Changed), ..) => "changed ",
        (Some(_), ..) => "untrusted ",
        (None, true, true) => "hidden ",
        (None, true, false) => "unusable ",
        (None, false, false) => "model-only ",
        (None, false, true) => "",
    }
}

fn summary(index: &Index, output: &Output) {
    describe_roots(index, output);
    let is_root = |path: &str| index.report.roots.iter().any(|root| root.path == path);
    let missing = |ignored: &&IgnoredPath| {
        ignored.code == Problem::NoRoot.code()
            || ignored.code == "unreadable" && is_root(&ignored.path)
    };
    for root in index.report.ignored.iter().filter(missing) {
        output.warn(&format!("{}: {}; {}", root.path, root.message, root.hint));
    }
    warn_of_chance(index, output);
    if index.skills.is_empty() {
        output.note("No skills found. `skillful new NAME` creates one.");
    }
    if let Some(hidden) = hidden(index) {
        output.note(&format!(
            "Hidden from the model: {hidden}. Look first, then run `skillful trust project NAME`."
        ));
    }
    let ignored = index.report.ignored.iter().filter(|ignored| !missing(ignored)).count();
    if ignored > 0 {
        output
            .note(&format!("Left out: {ignored}. `skillful doctor` shows why, and how to fix it."));
    }
}

/// Which skill of a name counts should not hang on who checked it out when.
fn warn_of_chance(index: &Index, output: &Output) {
    const NAMED: usize = 5;
    let conflicts = index.report.conflicts.iter().filter(|conflict| conflict.by_chance);
    let names: Vec<&str> = conflicts.map(|conflict| conflict.name.as_str()).collect();
    let (who, more) = match names.len() {
        0 => return,
        1 => ("one skill has copies in its root".to_owned(), String::new()),
        n if n <= NAMED => (format!("{n} skills have copies in their root"), String::new()),
        n => (format!("{n} skills have copies in their root"), format!(" and {} more", n - NAMED)),
    };
    let named = names[..names.len().min(NAMED)].join(", ");
    output.warn(&format!(
        "{who} with nearly the same time, so another checkout can change which copy is used: {named}{more}. \
         `skillful why NAME` shows them; `registry.pin` chooses one."
    ));
}

//! `skillful inspect`

use std::io::Write;
use std::process::ExitCode;

use basics::text::{for_terminal, for_terminal_block};
use permission::{CommandLine, argument};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use skill::chunks::Chunk;
use skill::index::Entry;
use skill::load::{Files, Limits, SkillFile, VerifyOnLoad, load_body, load_frontmatter};

use crate::commands::origin::Provenance;
use crate::failure::Failure;
use crate::output::fit::wrap;
use crate::output::{Output, Palette};
use crate::session::{Session, describe_roots};

/// Show a skill: its fields, files and text
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful inspect csv-report\n  skillful inspect csv-report --show-body\n  skillful inspect csv-report --json | jq .files"
)]
pub(crate) struct Inspect {
    /// The skill's name
    name: String,
    /// Show the text that a model would see
    #[arg(long)]
    show_body: bool,
}

/// A skill in the index, with its files, chunks and frontmatter.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Inspection<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    files: Vec<SkillFile>,
    /// Folders whose files are not listed, although they are part of the skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unlisted: Vec<String>,
    /// Whether there are more files than are listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_more: bool,
    chunks: Vec<Chunk>,
    /// The frontmatter as it was written.
    frontmatter: Value,
    /// Where an installed skill came from, and whether it is still the same.
    installed: Option<Provenance>,
    /// The rule that keeps the model from choosing it.
    denied_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl Inspect {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        let index = session.index()?;
        // A skill that was changed can still be looked at; what differs is said.
        let entry = &session.find(&index, &self.name)?.looked_at();
        let config = &session.layers.config;
        let limits = Limits { verify: VerifyOnLoad::Off, ..config.load_limits() };
        let body = load_body(entry, &config.read_options(), &limits)?;
        let engine = session.engine(CommandLine::default(), None)?;
        let files = Files::open(entry)?;
        let (unlisted, has_more) = files.unlisted();
        let inspection = Inspection {
            denied_by: session.denying_rule(&engine, entry),
            entry,
            files: files.list(),
            unlisted,
            has_more,
            frontmatter: load_frontmatter(entry, &config.read_options())?.to_json(),
            installed: Provenance::of(entry, session),
            body: self.show_body.then(|| body.render(&[])),
            chunks: body.chunks,
        };
        output
            .result(&inspection, |out, palette| inspection.write(output.width(), out, palette))?;
        describe_roots(&index, output);
        Ok(ExitCode::SUCCESS)
    }
}

impl Inspection<'_> {
    fn offered(&self) -> String {
        match &self.denied_by {
            Some(rule) => format!("no; {rule}"),
            None => yes_no(self.entry.is_offered()),
        }
    }

    fn write(
        &self,
        width: Option<usize>,
        out: &mut dyn Write,
        Palette { bold, dim, warn, .. }: Palette,
    ) -> std::io::Result<()> {
        let entry = self.entry;
        writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{}{dim:#}",
            for_terminal(&entry.name),
            for_terminal(&entry.id())
        )?;
        let description = basics::text::one_line(&entry.description);
        writeln!(out, "{}\n", wrap(&description, width, 0))?;
        let tools = entry
            .controls
            .allowed_tools
            .as_ref()
            .map_or("not limited".to_owned(), |tools| tools.join(", "));
        let mut facts = vec![
            ("path", entry.path.display().to_string()),
            (
                "trusted",
                entry.waiting.map_or("yes".to_owned(), |waiting| {
                    let (reason, name) = (waiting.reason(), argument(&entry.name));
                    format!("no, {reason}; to trust it, run `skillful trust project {name}`")
                }),
            ),
            ("tools", tools),
            ("model may choose it", self.offered()),
            ("user may invoke it", yes_no(entry.controls.user_invocable)),
        ];
        let optional = [
            ("version", &entry.meta.version),
            ("author", &entry.meta.author),
            ("license", &entry.meta.license),
            ("needs", &entry.meta.compatibility),
        ];
        facts.extend(
            optional.into_iter().filter_map(|(label, value)| Some((label, value.clone()?))),
        );
        facts.extend(self.installed.iter().flat_map(Provenance::facts));
        let mut fact = |label: &str, value: &str| {
            let (label, value) = (for_terminal(label), for_terminal(value));
            writeln!(out, "{dim}{label:>20}{dim:#}  {}", wrap(&value, width, 22))
        };
        facts.iter().try_for_each(|(label, value)| fact(label, value))?;
        self.other_fields().try_for_each(|(label, value)| fact(label, &value))?;
        for link in &entry.links {
            writeln!(
                out,
                "{dim}{:>20}{dim:#}  {} leads to {}",
                "link",
                for_terminal(&link.path.to_string_lossy()),
                for_terminal(&link.target.to_string_lossy())
            )?;
        }
        for diagnostic in &entry.diagnostics {
            writeln!(
                out,
                "{warn}{:>20}{warn:#}  {}",
                diagnostic.code,
                for_terminal(&diagnostic.message)
            )?;
        }
        if !self.chunks.is_empty() {
            writeln!(out, "\n{bold}Chunks{bold:#}")?;
        }
        for chunk in &self.chunks {
            writeln!(
                out,
                "  {}  {dim}{}{dim:#}",
                for_terminal(&chunk.id),
                for_terminal(&chunk.description)
            )?;
        }
        writeln!(out, "\n{bold}Files{bold:#}  {dim}with their size in bytes{dim:#}")?;
        for file in &self.files {
            writeln!(out, "  {:>9}  {}", file.size, for_terminal(&file.path))?;
        }
        for folder in &self.unlisted {
            let folder = for_terminal(folder);
            writeln!(out, "  {:>9}  {folder}  {warn}not listed, and part of it{warn:#}", "")?;
        }
        if self.has_more {
            writeln!(out, "  {:>9}  {warn}and more{warn:#}", "")?;
        }
        if let Some(body) = &self.body {
            writeln!(out, "\n{bold}Body{bold:#}\n{}", for_terminal_block(body))?;
        }
        Ok(())
    }
}

/// Fields that are shown in words of their own.
const SHOWN: [&str; 10] = [
    "allowed-tools",
    "author",
    "compatibility",
    "description",
    "disable-model-invocation",
    "license",
    "name",
    "user-invocable",
    "user-invokable",
    "version",
];

impl Inspection<'_> {
    /// Whatever else the frontmatter says, as it was written.
    fn other_fields(&self) -> impl Iterator<Item = (&str, String)> {
        let fields = self.frontmatter.as_object().into_iter().flatten();
        let others = fields.filter(|(field, _)| !SHOWN.contains(&field.as_str()));
        others.map(|(field, value)| match value.as_str() {
            Some(text) => (field.as_str(), text.trim().to_owned()),
            None => (field.as_str(), value.to_string()),
        })
    }
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

//! `skillful validate`

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::failure::Explain;
use basics::skill::Source;
use basics::text::for_terminal;
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Entry, Index};
use skill::load::load_body;
use skill::roots::Root;
use skill::standard;

use crate::failure::{Exit, Failure};
use crate::output::fit::wrap;
use crate::output::{Output, Palette, count};
use crate::session::{Session, describe_roots};

/// Check skills for mistakes
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful validate\n  skillful validate ./my-skill\n  skillful validate --standard skills/"
)]
pub(crate) struct Validate {
    /// Skills, or folders that contain skills [default: this project's and your own]
    paths: Vec<PathBuf>,
    /// Check only the rules of the open standard
    #[arg(long)]
    standard: bool,
}

/// Whether skills are as they should be.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Validation {
    valid: bool,
    skills: Vec<Checked>,
}

/// What was found in one skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Checked {
    path: String,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl Validate {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = Index::build(&self.roots(session)?, &session.index_options()?);
        let skills = self.judge(&index, session);
        if skills.is_empty() {
            let place = if self.paths.is_empty() { "here" } else { "there" };
            return Err(Failure::new(
                Exit::Failed,
                "SkillNotFound",
                format!("there is no skill {place}"),
            )
            .hint("give a folder that contains a SKILL.md, or create a skill with `skillful new NAME`"));
        }
        let invalid = skills.iter().filter(|skill| !skill.errors.is_empty()).count();
        let validation = Validation { valid: invalid == 0, skills };
        output.result(&validation, |out, palette| {
            let width = output.width();
            validation.skills.iter().try_for_each(|skill| skill.write(width, out, palette))
        })?;
        describe_roots(&index, output);
        if validation.skills.len() > 1 {
            output.note(&format!(
                "{} checked, {invalid} invalid.",
                count(validation.skills.len(), "skill")
            ));
        }
        Ok(if validation.valid { ExitCode::SUCCESS } else { ExitCode::from(Exit::Failed as u8) })
    }

    fn roots(&self, session: &Session) -> Result<Vec<Root>, Failure> {
        if self.paths.is_empty() {
            let mut roots = session.roots();
            roots.retain(|root| root.source != Source::Builtin);
            return Ok(roots);
        }
        let base = &session.surroundings.working_directory;
        self.paths
            .iter()
            .enumerate()
            .map(|(priority, path)| {
                let path = folder_of(&base.join(path))?;
                Ok(Root { source: Source::Explicit, path, priority })
            })
            .collect()
    }

    /// The standard's text says `SKILL.md`, its validator is more generous.
    fn accepted_by_reference(&self, path: &str) -> Option<String> {
        let is_accepted = self.standard && path.ends_with("/skill.md");
        is_accepted.then(|| "the reference validator accepts `skill.md`".to_owned())
    }

    /// Every place that was taken for a skill, by its path.
    fn judge(&self, index: &Index, session: &Session) -> Vec<Checked> {
        let config = &session.layers.config;
        let refused = index.report.ignored.iter().map(|ignored| match self.standard {
            true if is_manifest(Path::new(&ignored.path)) => by_standard(Path::new(&ignored.path)),
            _ => Checked {
                path: ignored.path.clone(),
                errors: vec![format!("{} ({}): {}", ignored.message, ignored.code, ignored.hint)],
                warnings: self.accepted_by_reference(&ignored.path).into_iter().collect(),
            },
        });
        let read = index.skills.iter().chain(&index.shadowed).map(|entry| match self.standard {
            true => by_standard(&entry.path.join(MANIFEST)),
            false => by_own_rules(entry, &config.read_options(), &config.load_limits()),
        });
        let mut checked: Vec<Checked> = refused.chain(read).collect();
        checked.sort_by(|a, b| a.path.cmp(&b.path));
        checked
    }
}

impl Checked {
    fn write(
        &self,
        width: Option<usize>,
        out: &mut dyn Write,
        Palette { bad, dim, good, warn, .. }: Palette,
    ) -> std::io::Result<()> {
        let path = for_terminal(&self.path);
        match self.errors.is_empty() {
            true => writeln!(out, "{good}valid{good:#}    {path}")?,
            false => writeln!(out, "{bad}invalid{bad:#}  {path}")?,
        }
        for error in &self.errors {
            let error = wrap(&for_terminal(error), width, 11);
            writeln!(out, "  {bad}error{bad:#}    {error}")?;
        }
        for warning in &self.warnings {
            let warning = wrap(&for_terminal(warning), width, 11);
            writeln!(out, "  {warn}warning{warn:#}  {dim}{warning}{dim:#}")?;
        }
        Ok(())
    }
}

const MANIFEST: &str = "SKILL.md";
/// No skill is this large, but a stranger's file may be larger than the memory.
const LARGEST: u64 = 64_000_000;

fn is_manifest(path: &Path) -> bool {
    path.ends_with(MANIFEST) && path.is_file()
}

fn by_standard(manifest: &Path) -> Checked {
    let folder = manifest.parent().and_then(Path::file_name).unwrap_or_default();
    let content = match manifest.metadata() {
        Ok(found) if found.len() > LARGEST => Err(std::io::ErrorKind::FileTooLarge.into()),
        Ok(_) => fs::read(manifest),
        Err(error) => Err(error),
    };
    let verdict = match content {
        Ok(content) => standard::check(&content, &folder.to_string_lossy()),
        Err(error) => standard::Verdict { errors: vec![error.to_string()], ..Default::default() },
    };
    Checked {
        path: manifest.to_string_lossy().into_owned(),
        errors: verdict.errors,
        warnings: verdict.warnings,
    }
}

fn by_own_rules(
    entry: &Entry,
    read: &skill::metadata::ReadOptions,
    limits: &skill::load::Limits,
) -> Checked {
    let mut warnings: Vec<String> = entry.diagnostics.iter().map(|d| d.message.clone()).collect();
    let mut errors = Vec::new();
    match load_body(&entry.looked_at(), read, limits) {
        Ok(body) => {
            warnings.extend(body.core.report.diagnostics.iter().map(|d| d.message.clone()));
            if body.core.report.truncated {
                warnings.push(
                    "the body is too long, so a model sees only parts of it; move details to references/"
                        .to_owned(),
                );
            }
        }
        Err(error) => errors.push(format!("{error}: {}", error.hint())),
    }
    Checked { path: entry.path.join(MANIFEST).to_string_lossy().into_owned(), errors, warnings }
}

/// A skill may be named by its folder or by its `SKILL.md`.
fn folder_of(path: &Path) -> Result<PathBuf, Failure> {
    let missing =
        || Failure::new(Exit::Failed, "SkillNotFound", format!("there is no `{}`", path.display()));
    let path = path.canonicalize().map_err(|_| missing().hint("check the path"))?;
    match (path.is_dir(), path.parent()) {
        (false, Some(folder)) if path.ends_with(MANIFEST) => Ok(folder.to_owned()),
        (true, _) => Ok(path),
        _ => Err(Failure::new(
            Exit::Failed,
            "SkillNotFound",
            format!("`{}` is not a skill", path.display()),
        )
        .hint("give a folder or a SKILL.md")),
    }
}

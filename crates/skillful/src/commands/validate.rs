//! `skillful validate`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Entry, Index};
use skill::load::load_body;
use skill::roots::{Root, Source};
use skill::standard;
use skill::text::for_terminal;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Check skills before others use them
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful validate\n  skillful validate ./my-skill\n  skillful validate --standard skills/"
)]
pub(crate) struct Validate {
    /// Skills, or folders that hold skills [default: the project's and the user's skills]
    paths: Vec<PathBuf>,
    /// Judge by the open standard's rules alone
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
        let skills =
            if self.standard { self.by_standard(session)? } else { self.by_own_rules(session)? };
        if skills.is_empty() {
            let place = if self.paths.is_empty() { "here" } else { "there" };
            return Err(Failure::new(
                Exit::Failed,
                "SkillNotFound",
                format!("there is no skill {place}"),
            )
            .hint("name a folder that holds a SKILL.md, or make one with `skillful new NAME`"));
        }
        let validation =
            Validation { valid: skills.iter().all(|skill| skill.errors.is_empty()), skills };
        output.result(&validation, |out, Palette { bad, dim, good, warn, .. }| {
            for skill in &validation.skills {
                let path = for_terminal(&skill.path);
                match skill.errors.is_empty() {
                    true => writeln!(out, "{good}valid{good:#}    {path}")?,
                    false => writeln!(out, "{bad}invalid{bad:#}  {path}")?,
                }
                for error in &skill.errors {
                    writeln!(out, "  {bad}error{bad:#}  {}", for_terminal(error))?;
                }
                for warning in &skill.warnings {
                    writeln!(
                        out,
                        "  {warn}warning{warn:#}  {dim}{}{dim:#}",
                        for_terminal(warning)
                    )?;
                }
            }
            Ok(())
        })?;
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

    fn by_own_rules(&self, session: &Session) -> Result<Vec<Checked>, Failure> {
        let index = Index::build(&self.roots(session)?, &session.index_options()?);
        let config = &session.layers.config;
        let mut checked: Vec<Checked> = index
            .report
            .ignored
            .iter()
            .map(|ignored| Checked {
                path: ignored.path.clone(),
                errors: vec![format!("{} ({}): {}", ignored.message, ignored.code, ignored.hint)],
                warnings: Vec::new(),
            })
            .collect();
        for entry in index.skills.iter().chain(&index.shadowed) {
            checked.push(check(entry, &config.read_options(), &config.load_limits()));
        }
        checked.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(checked)
    }

    fn by_standard(&self, session: &Session) -> Result<Vec<Checked>, Failure> {
        let mut checked = Vec::new();
        for root in self.roots(session)? {
            for manifest in manifests(&root.path, session.layers.config.registry.max_depth) {
                let folder = manifest
                    .parent()
                    .and_then(Path::file_name)
                    .unwrap_or_default()
                    .to_string_lossy();
                let verdict = match fs::read(&manifest) {
                    Ok(content) => standard::check(&content, &folder),
                    Err(error) => {
                        standard::Verdict { errors: vec![error.to_string()], warnings: Vec::new() }
                    }
                };
                checked.push(Checked {
                    path: manifest.to_string_lossy().into_owned(),
                    errors: verdict.errors,
                    warnings: verdict.warnings,
                });
            }
        }
        Ok(checked)
    }
}

fn check(
    entry: &Entry,
    read: &skill::metadata::ReadOptions,
    limits: &skill::load::Limits,
) -> Checked {
    let mut warnings: Vec<String> = entry.diagnostics.iter().map(|d| d.message.clone()).collect();
    let mut errors = Vec::new();
    match load_body(entry, read, limits) {
        Ok(body) => {
            warnings.extend(body.core.report.diagnostics.iter().map(|d| d.message.clone()));
            if body.core.report.truncated {
                warnings.push(
                    "the body is over the limit and will be trimmed; move details to references/"
                        .to_owned(),
                );
            }
        }
        Err(error) => errors.push(format!("{error}: {}", error.hint())),
    }
    Checked { path: entry.path.join("SKILL.md").to_string_lossy().into_owned(), errors, warnings }
}

/// A skill may be named by its folder or by its `SKILL.md`.
fn folder_of(path: &Path) -> Result<PathBuf, Failure> {
    let missing =
        || Failure::new(Exit::Failed, "SkillNotFound", format!("there is no `{}`", path.display()));
    let path = path.canonicalize().map_err(|_| missing().hint("check the path"))?;
    match (path.is_dir(), path.parent()) {
        (false, Some(folder)) if path.ends_with("SKILL.md") => Ok(folder.to_owned()),
        (true, _) => Ok(path),
        _ => Err(missing().hint("name a folder or a SKILL.md")),
    }
}

/// Every `SKILL.md` below `folder`, whether or not it can be indexed.
fn manifests(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let manifest = folder.join("SKILL.md");
    if manifest.is_file() {
        return vec![manifest];
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.retain(|path| {
        !path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.') || name == "node_modules")
    });
    folders.sort_unstable();
    match depth.checked_sub(1) {
        Some(depth) => folders.iter().flat_map(|folder| manifests(folder, depth)).collect(),
        None => Vec::new(),
    }
}

//! `skillful new`

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::failure::Explain;
use basics::text::for_terminal;
use pack::install::Root;
use schemars::JsonSchema;
use serde::Serialize;
use skill::metadata::Metadata;

use crate::failure::{Exit, Failure, cannot_write};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Create a skill from a template
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful new weekly-report\n  skillful new weekly-report --scope user\n  skillful new weekly-report --description \"Write the weekly report\" --script"
)]
pub(crate) struct New {
    /// The skill's name: lowercase letters, digits and hyphens
    name: String,
    /// Create it for this project or for you
    #[arg(long, value_enum, default_value_t, conflicts_with = "path")]
    scope: Scope,
    /// Create it in this folder
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// What the skill does and when to use it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Add an example script
    #[arg(long)]
    script: bool,
    /// Show what would be written, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Where a new skill belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Scope {
    /// In .agent/skills of this project
    #[default]
    Project,
    /// In ~/.agent/skills
    User,
}

/// The files of a new skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Created {
    name: String,
    path: String,
    files: Vec<String>,
    written: bool,
}

impl New {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        self.check_name()?;
        self.check_description(session, output)?;
        let folder = self.folder(session)?.join(&self.name);
        if folder.symlink_metadata().is_ok() {
            return Err(Failure::new(
                Exit::Failed,
                "AlreadyExists",
                format!("`{}` already exists", folder.display()),
            )
            .hint("choose another name, or edit the existing skill"));
        }
        let files = self.files();
        if !self.dry_run {
            for (path, content, mode) in &files {
                let file = folder.join(path);
                write(&file, content, *mode).map_err(|error| cannot_write(&file, &error))?;
            }
        }
        let created = Created {
            name: self.name.clone(),
            path: folder.to_string_lossy().into_owned(),
            files: files.iter().map(|(path, ..)| (*path).to_owned()).collect(),
            written: !self.dry_run,
        };
        output.result(&created, |out, Palette { bold, .. }| {
            let manifest = folder.join("SKILL.md");
            writeln!(out, "{bold}{}{bold:#}", for_terminal(&manifest.to_string_lossy()))
        })?;
        let in_project = self.path.is_none() && self.scope == Scope::Project;
        if in_project && !self.dry_run {
            session.offer_authorship(&folder, output)?;
        }
        output.note(&if self.dry_run {
            "Nothing was written.".to_owned()
        } else if in_project && !is_trusted(&folder, session)? {
            let name = &self.name;
            format!("Edit it, then run `skillful validate` and `skillful trust project {name}`.")
        } else {
            "Edit it, then run `skillful validate`.".to_owned()
        });
        Ok(ExitCode::SUCCESS)
    }

    fn check_name(&self) -> Result<(), Failure> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let good = (1..=64).contains(&self.name.len())
            && self.name.chars().all(plain)
            && !self.name.starts_with('-')
            && !self.name.ends_with('-')
            && !self.name.contains("--");
        if good {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Usage,
            "InvalidName",
            format!("a skill cannot have the name `{}`", self.name),
        )
        .hint("use at most 64 lowercase letters, digits and single hyphens, as in `weekly-report`"))
    }

    /// A skill that its own program would refuse is not worth writing.
    fn check_description(&self, session: &Session, output: &Output) -> Result<(), Failure> {
        let Some(description) = &self.description else { return Ok(()) };
        let yaml = format!("name: {}\ndescription: {}\n", self.name, quoted(description));
        match Metadata::read(&yaml, &self.name, &session.layers.config.read_options()) {
            Ok(metadata) => {
                metadata.diagnostics.iter().for_each(|found| output.warn(&found.message));
                Ok(())
            }
            Err(error) => {
                Err(Failure::from_error(Exit::Usage, "InvalidDescription", &error)
                    .hint(error.hint()))
            }
        }
    }

    fn folder(&self, session: &Session) -> Result<PathBuf, Failure> {
        let surroundings = &session.surroundings;
        match (&self.path, self.scope) {
            (Some(path), _) => Ok(surroundings.working_directory.join(path)),
            (None, Scope::Project) => {
                let root = Root::of_project(surroundings.project());
                root.check_project()?;
                Ok(root.path().to_owned())
            }
            (None, Scope::User) => match &surroundings.home {
                Some(home) => Ok(home.join(".agent/skills")),
                None => Err(Failure::new(Exit::Usage, "NoHome", "you have no home directory")
                    .hint("set HOME, or use --path")),
            },
        }
    }

    fn files(&self) -> Vec<(&'static str, String, u32)> {
        let description = self.description.clone().unwrap_or_else(|| {
            "Say what this skill does and when to use it, in the words of a user.".to_owned()
        });
        let resources = if self.script {
            "\n## Scripts\n\n- `scripts/run.sh FILE` — say what it prints\n"
        } else {
            ""
        };
        let manifest = MANIFEST
            .replace("{name}", &self.name)
            .replace("{description}", &quoted(&description))
            .replace("{title}", &self.name.replace('-', " "))
            .replace("{scripts}", resources);
        let mut files = vec![("SKILL.md", manifest, 0o644)];
        if self.script {
            files.push(("scripts/run.sh", SCRIPT.to_owned(), 0o755));
        }
        files
    }
}

/// Whether whatever the skill in this folder becomes is trusted.
fn is_trusted(folder: &Path, session: &Session) -> Result<bool, Failure> {
    session.finish_interrupted_installs();
    let index = session.index()?;
    let mut all = index.skills.iter().chain(&index.shadowed);
    Ok(all.any(|entry| entry.path == folder && entry.trusted))
}

fn write(file: &Path, content: &str, mode: u32) -> std::io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    fs::write(file, content)?;
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
}

/// What JSON calls a string, YAML does, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

const MANIFEST: &str = "---
name: {name}
description: {description}
license: Apache-2.0
metadata:
  version: \"0.1.0\"
---

# {title}

## Goal

One sentence: the result of this skill.

## Inputs and outputs

- Input: what the skill needs
- Output: what it gives back, and in which format

## Steps

1. Do the first thing.
2. Do the next thing.
{scripts}
## Failures

- What can go wrong, how to notice it, and what to do

## Checks

- [ ] How to check that the result is right
";

const SCRIPT: &str = "#!/bin/sh
# Usage: scripts/run.sh FILE
set -eu
file=${1:?usage: run.sh FILE}
[ -e \"$file\" ] || file=${WORKSPACE_DIR:-.}/$file
wc -l < \"$file\"
";

//! `skillful doctor`

use std::path::PathBuf;
use std::process::ExitCode;

use agent::budget::Usage;
use basics::failure::Explain;
use basics::skill::Source;
use basics::text::for_terminal;
use permission::argument;
use runtime::models::{Choice, Wish};
use runtime::settings::{Sandbox, variable_names};
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Entry, Index};
use skill::load::check_trusted;
use state::Folder;
use tools::sandbox::{Availability, Feature, Kernel};
use tools::view::probe;

use crate::commands::trust::{LOOK_FIRST, hidden};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::fit::wrap;
use crate::output::{Output, Palette, count};
use crate::session::{Session, describe_root};

/// Find problems and show how to fix them
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful doctor\n  skillful doctor --online\n  skillful doctor --json | jq '.checks[] | select(.status != \"ok\")'"
)]
pub(crate) struct Doctor {
    /// Ask the model for one word, to see whether it answers
    #[arg(long)]
    online: bool,
}

/// The state of everything this program depends on.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Diagnosis {
    ok: bool,
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Check {
    name: &'static str,
    status: Status,
    message: String,
    hint: Option<String>,
}

/// How one thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Ok,
    Warning,
    Error,
}

impl Doctor {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<ExitCode, Failure> {
        let checks = match self.examine(global, output) {
            Ok(checks) => checks,
            // A configuration that cannot be read is a finding, too.
            Err(failure) => {
                vec![Check {
                    name: "configuration",
                    status: Status::Error,
                    message: failure.message,
                    hint: failure.hint,
                }]
            }
        };
        let diagnosis =
            Diagnosis { ok: checks.iter().all(|check| check.status != Status::Error), checks };
        let width = output.width();
        output.result(&diagnosis, |out, Palette { bad, dim, good, warn, .. }| {
            for check in &diagnosis.checks {
                let (style, word) = match check.status {
                    Status::Ok => (good, "ok"),
                    Status::Warning => (warn, "warning"),
                    Status::Error => (bad, "error"),
                };
                let message = format!("{}: {}", check.name, for_terminal(&check.message));
                writeln!(out, "{style}{word:7}{style:#}  {}", wrap(&message, width, 9))?;
                if let Some(hint) = &check.hint {
                    let hint = wrap(&for_terminal(hint), width, 9);
                    writeln!(out, "         {dim}{hint}{dim:#}")?;
                }
            }
            Ok(())
        })?;
        Ok(if diagnosis.ok { ExitCode::SUCCESS } else { ExitCode::from(Exit::Failed as u8) })
    }

    fn examine(&self, global: &Global, output: &Output) -> Result<Vec<Check>, Failure> {
        let session = Session::start(global, output)?;
        session.finish_interrupted_installs();
        let index = session.index()?;
        let mut checks = vec![ok("version", env!("CARGO_PKG_VERSION").to_owned())];
        checks.extend(configuration(&session));
        checks.extend(model(&session, self.online));
        checks.push(cache(&session));
        checks.extend(sandbox(&session));
        checks.extend(roots(&index));
        checks.extend(state(&session));
        checks.extend(skills(&index));
        Ok(checks)
    }
}

fn ok(name: &'static str, message: String) -> Check {
    Check { name, status: Status::Ok, message, hint: None }
}

fn warning(name: &'static str, message: String, hint: impl Into<String>) -> Check {
    Check { name, status: Status::Warning, message, hint: Some(hint.into()) }
}

fn configuration(session: &Session) -> Vec<Check> {
    let given = match session.layers.origins.len() {
        0 => "every setting has its default".to_owned(),
        number => format!("you set {}; the others have their defaults", count(number, "setting")),
    };
    let mut checks = vec![ok("configuration", given)];
    let known: Vec<String> = variable_names().into_iter().map(|(_, name)| name).collect();
    let unknown =
        std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).filter(|name| {
            name.starts_with("SKILLFUL_")
                && name != "SKILLFUL_ROOTS"
                && name != super::sign::PASSWORD
                && name != super::mcp::TOKEN_VARIABLE
                && !known.contains(name)
        });
    checks.extend(unknown.map(|name| {
        warning(
            "environment",
            format!("{name} is not a setting"),
            "`skillful config show` lists the settings; SKILLFUL_SECTION_KEY sets one",
        )
    }));
    checks
}

/// Which model would decide, and why; with `online`, whether it answers.
fn model(session: &Session, online: bool) -> Vec<Check> {
    let wrong = |Failure { message, hint, .. }| {
        vec![Check { name: "model", status: Status::Error, message, hint }]
    };
    let choice = match Choice::new(session, Wish::default()) {
        Ok(choice) => choice,
        Err(failure) => return wrong(failure),
    };
    let details = choice.details().map(|details| format!(", {details}"));
    let Choice { name, why, .. } = &choice;
    let mut checks = vec![ok("model", format!("{name} ({why}){}", details.unwrap_or_default()))];
    if online {
        checks.extend(match choice.with_key() {
            Ok(choice) => vec![answers(session, &choice)],
            Err(failure) => wrong(failure),
        });
    }
    checks
}

/// What came of asking the model for one word.
fn answers(session: &Session, choice: &Choice) -> Check {
    const NAME: &str = "model online";
    let name = &choice.name;
    let Some(tried) = choice.try_out() else {
        return ok(NAME, format!("{name} needs no server"));
    };
    match tried.answer {
        Ok(Usage { input_tokens, output_tokens, cost_usd, .. }) => {
            let tokens = count(usize::try_from(input_tokens + output_tokens).unwrap_or(0), "token");
            let cost = cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
            ok(
                NAME,
                format!("{name} answered in {:.1} s ({tokens}{cost})", tried.took.as_secs_f32()),
            )
        }
        Err(error) => {
            let server = choice.server().unwrap_or_default();
            let message = format!("{}: `{server}` {error}", error.summary());
            // A server may repeat what it was sent.
            let message = match session.redactor(choice.secrets()) {
                Ok(redactor) => redactor.text(&message).into_owned(),
                Err(_) => error.summary().to_owned(),
            };
            Check {
                name: NAME,
                status: Status::Error,
                message,
                hint: Some(error.hint().into_owned()),
            }
        }
    }
}

fn cache(session: &Session) -> Check {
    match session.cache_folder() {
        None => warning(
            "cache",
            "you have no home directory, so nothing is cached between starts".to_owned(),
            "set HOME or XDG_CACHE_HOME",
        ),
        Some(folder) => {
            match std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder)) {
                Ok(_) => ok("cache", folder.display().to_string()),
                Err(error) => warning(
                    "cache",
                    format!("{}: {error}", folder.display()),
                    "make the folder writable; until then, every start reads all skills again",
                ),
            }
        }
    }
}

/// What this kernel can contain scripts with, found out by trying.
fn sandbox(session: &Session) -> Vec<Check> {
    let kernel = Kernel::detect();
    let mode = session.layers.config.execution.sandbox;
    let view = probe(&kernel, &trial_folder(session));
    let mut checks: Vec<Check> = kernel
        .features()
        .iter()
        .map(|feature| {
            let name = serde_json::to_value(feature.feature).unwrap_or_default();
            let message = format!("{}: {}", name.as_str().unwrap_or_default(), feature.detail);
            match feature.available {
                true => ok("sandbox", message),
                false => warning(
                    "sandbox",
                    message,
                    "`execution.sandbox` decides whether scripts run without it",
                ),
            }
        })
        .collect();
    checks.extend(view.iter().map(layer));
    let confinement = session.layers.config.confinement();
    if let Err(error) = tools::sandbox::applied(&kernel, &confinement) {
        checks.push(warning("sandbox", format!("scripts do not run: {error}"), error.hint()));
    }
    if mode != Sandbox::Required {
        let message =
            format!("`execution.sandbox` is {}", serde_json::to_value(mode).unwrap_or_default());
        checks.push(warning(
            "sandbox",
            message,
            "scripts may run without a sandbox; the default is `required`",
        ));
    }
    checks
}

/// How a run would see the workspace.
fn layer(found: &Availability) -> Check {
    let name = serde_json::to_value(found.feature).unwrap_or_default();
    let message = format!("{}: {}", name.as_str().unwrap_or_default(), found.detail);
    match (found.available, found.feature) {
        (true, _) => ok("layer", message),
        (false, Feature::Overlay) => {
            warning("layer", message, "runs work in a private copy, up to `execution.copy_bytes`")
        }
        (false, _) => warning("layer", message, "commands cannot reach each other over loopback"),
    }
}

/// A folder on the file system that runs are recorded on, where there is one already.
fn trial_folder(session: &Session) -> PathBuf {
    let runs = session.runs();
    if runs.is_dir() { runs } else { std::env::temp_dir() }
}

fn roots(index: &Index) -> Vec<Check> {
    index.report.roots.iter().map(|root| ok("root", describe_root(root))).collect()
}

/// What the project keeps for this program, where it cannot be used.
fn state(session: &Session) -> Vec<Check> {
    let agent = session.surroundings.project().join(".agent");
    let folders = ["runs", "evals", "eval-runs"].map(|name| agent.join(name));
    let unfit = folders.iter().filter_map(|folder| match Folder::open(folder) {
        Err(error) if !error.is_missing() => Some(Failure::from(error)),
        _ => None,
    });
    let lockfiles = session.scopes().into_iter().filter_map(|scope| {
        let root = session.install_root(scope).ok()?;
        root.lockfile().err().map(Failure::from)
    });
    let found = unfit.chain(lockfiles);
    found
        .map(|Failure { message, hint, .. }| Check {
            name: "state",
            status: Status::Error,
            message,
            hint,
        })
        .collect()
}

fn skills(index: &Index) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(message) = hidden(index) {
        checks.push(warning("trust", format!("{message}, hidden from the model"), LOOK_FIRST));
    }
    let is_projects = |entry: &&Entry| entry.source == Source::Project && entry.trusted;
    for entry in index.skills.iter().filter(is_projects) {
        if let Err(error) = check_trusted(entry) {
            let hint =
                format!("look at it, then `skillful trust project {}`", argument(&entry.name));
            checks.push(warning("trust", error.to_string(), hint));
        }
    }
    for ignored in &index.report.ignored {
        checks.push(warning(
            "left out",
            format!("{}: {} ({})", ignored.path, ignored.message, ignored.code),
            ignored.hint.clone(),
        ));
    }
    // A skill that waits for trust hides no other.
    let waits = |path: &str| {
        let is_it = |entry: &Entry| entry.path.to_string_lossy() == path && entry.waiting.is_some();
        index.skills.iter().any(is_it)
    };
    for conflict in index.report.conflicts.iter().filter(|conflict| !waits(&conflict.winner)) {
        let hint = match conflict.by_chance {
            true => "rename one of them, or choose one with `registry.pin`",
            false => "rename one of them, or choose a source with --source",
        };
        for loser in &conflict.losers {
            let message = format!("{} hides {}: {}", conflict.winner, loser.path, loser.reason);
            checks.push(warning("same name", message, hint));
        }
    }
    for entry in index.skills.iter().filter(|entry| !entry.diagnostics.is_empty()) {
        for diagnostic in &entry.diagnostics {
            let hint = format!("`skillful validate {}`", argument(&entry.path.to_string_lossy()));
            checks.push(warning(
                "skill",
                format!("{}: {} ({})", entry.name, diagnostic.message, diagnostic.code),
                hint,
            ));
        }
    }
    checks
}

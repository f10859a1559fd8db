//! The key of a model's server: from a variable or a command, never from a file of the project.

use std::fmt;
use std::process::{Command, Stdio};

use model::secret::Secret;

use crate::open::Runtime;
use crate::settings::ModelSettings;
use basics::failure::{Exit, Failure};

/// Where a key comes from.
#[derive(Debug, Clone)]
pub(super) enum Key {
    Variable {
        name: String,
        secret: Secret,
    },
    /// It is run when the key is needed: it may ask the user.
    Command {
        words: Vec<String>,
        secret: Option<Secret>,
    },
}

impl Key {
    /// Runs the command.
    pub(super) fn fetch(&mut self) -> Result<(), Failure> {
        if let Self::Command { words, secret } = self {
            *secret = Some(printed(words)?);
        }
        Ok(())
    }

    pub(super) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Variable { secret, .. } => Some(secret),
            Self::Command { secret, .. } => secret.as_ref(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variable { name, .. } => name,
            Self::Command { .. } => "`model.api_key_command`",
        })
    }
}

/// The key that the settings name, or else the one of the usual variables, where they may be used.
pub(super) fn find(
    runtime: &Runtime,
    settings: &ModelSettings,
    usual: &[&str],
) -> Result<Option<Key>, Failure> {
    if let Some(words) = &settings.api_key_command {
        return Ok(Some(Key::Command { words: words.clone(), secret: None }));
    }
    let value = |name: &str| {
        let value = runtime.variable(name)?.to_string_lossy().trim().to_owned();
        Some(Key::Variable { name: name.to_owned(), secret: Secret::new(value) })
    };
    match &settings.api_key_env {
        None => Ok(usual.iter().find_map(|name| value(name))),
        Some(name) => value(name).map(Some).ok_or_else(|| {
            Failure::new(Exit::Usage, "NoKey", format!("the variable `{name}` is not set"))
                .hint("set it, or change `model.api_key_env`")
        }),
    }
}

/// What a command prints; it may ask the user on the way.
fn printed(command: &[String]) -> Result<Secret, Failure> {
    let failed = |reason: String| {
        let message = format!("`model.api_key_command` returned no key: {reason}");
        Failure::new(Exit::Usage, "NoKey", message).hint(
            "set it to a command that prints the key, as a list: [\"pass\", \"show\", \"openai\"]",
        )
    };
    let (program, words) = command.split_first().ok_or_else(|| failed("it is empty".to_owned()))?;
    let output = Command::new(program)
        .args(words)
        .stderr(Stdio::inherit())
        .stdin(Stdio::inherit())
        .output()
        .map_err(|error| failed(format!("cannot start `{program}`: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("`{program}` ended with {}", output.status)));
    }
    let key = String::from_utf8(output.stdout).unwrap_or_default();
    match key.trim() {
        "" => Err(failed(format!("`{program}` printed nothing"))),
        key => Ok(Secret::new(key)),
    }
}

//! `skillful completions`

use std::process::ExitCode;

use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful completions bash > ~/.local/share/bash-completion/completions/skillful\n  skillful completions zsh > ~/.zfunc/_skillful"
)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// What a shell needs to complete commands.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Script {
    shell: String,
    script: String,
}

impl Completions {
    pub(crate) fn run(
        &self,
        program: &mut clap::Command,
        output: &Output,
    ) -> Result<ExitCode, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, program, "skillful", &mut script);
        let document = Script {
            shell: self.shell.to_string(),
            script: String::from_utf8_lossy(&script).into_owned(),
        };
        output.result(&document, |out, _| out.write_all(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}

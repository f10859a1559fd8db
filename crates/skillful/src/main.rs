//! The `skillful` command.

mod cli;
mod commands;
mod failure;
mod installing;
mod output;
mod session;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

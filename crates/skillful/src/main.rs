//! The `skillful` command.

mod cli;
mod commands;
mod failure;
mod global;
mod installing;
mod output;
mod platform;
mod session;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

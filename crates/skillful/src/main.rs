//! The `skillful` command.

mod cli;
mod commands;
mod config;
mod failure;
mod installing;
mod models;
mod output;
mod platform;
mod session;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

//! The options that every command has.

use std::path::PathBuf;

use basics::skill::Source;
use clap::ValueEnum;

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Print the result as one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Run as if you started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Look for skills in PATH first (repeatable)
    #[arg(long = "root", value_name = "PATH", global = true)]
    pub(crate) roots: Vec<PathBuf>,
    /// Use only skills from SOURCE: explicit, project, user or builtin
    #[arg(long, value_name = "SOURCE", global = true, value_parser = parse_source)]
    pub(crate) source: Option<Source>,
    /// Read FILE in place of the project's settings; an eval case's are handed over so
    #[arg(long, value_name = "FILE", global = true, hide = true)]
    pub(crate) project_config: Option<PathBuf>,
    /// Print less
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    pub(crate) color: Color,
}

fn parse_source(text: &str) -> Result<Source, String> {
    let all = Source::ALL;
    let found = all.into_iter().find(|source| source.as_str() == text);
    found.ok_or_else(|| format!("use one of {}", all.map(Source::as_str).join(", ")))
}

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    // Without words of their own, so that help stays short.
    #[default]
    Auto,
    Always,
    Never,
}

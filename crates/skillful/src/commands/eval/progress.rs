//! How far a suite is, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Output;

/// A bar on stderr; nothing where no person looks.
pub(super) fn bar(jobs: usize, output: &Output) -> ProgressBar {
    if output.quiet || output.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}");
    ProgressBar::new(jobs as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

//! What leaves the process: results on stdout, words for people on stderr.
//!
//! Invariant: with `--json` stdout holds one JSON document and nothing else. Text from skills is
//! escaped by whoever prints it, through `skill::text`.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde::Serialize;
use skill::text::for_terminal_block;

use crate::cli::Global;
use crate::failure::Failure;

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How words are set off from each other; without colours, not at all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    pub(crate) bold: Style,
    pub(crate) dim: Style,
    pub(crate) good: Style,
    pub(crate) warn: Style,
    pub(crate) bad: Style,
}

impl Palette {
    fn for_stream(stream: &impl anstream::stream::RawStream) -> Self {
        if anstream::AutoStream::choice(stream) == anstream::ColorChoice::Never {
            return Self::default();
        }
        Self {
            bold: Style::new().bold(),
            dim: Style::new().dimmed(),
            good: AnsiColor::Green.on_default(),
            warn: AnsiColor::Yellow.on_default(),
            bad: AnsiColor::Red.on_default().bold(),
        }
    }
}

/// Where a command's words go.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    quiet: bool,
    pub(crate) verbose: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        match global.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        Self { json: global.json, quiet: global.quiet, verbose: global.verbose }
    }

    pub(crate) fn json_only() -> Self {
        Self { json: true, quiet: true, verbose: false }
    }

    /// Prints a result as JSON, or as `text` writes it for people.
    pub(crate) fn result<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&mut dyn Write, Palette) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let palette = Palette::for_stream(&std::io::stdout());
        let mut out = BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
        let written = if self.json {
            serde_json::to_writer(&mut out, value)
                .map_err(std::io::Error::from)
                .and_then(|()| out.write_all(b"\n"))
                .and_then(|()| out.flush())
        } else {
            text(&mut out, palette).and_then(|()| out.flush())
        };
        match written {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }

    /// Words for people beside the result.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            // There is nobody to tell when stderr is closed.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    pub(crate) fn warn(&self, text: &str) {
        let Palette { warn, .. } = Palette::for_stream(&std::io::stderr());
        self.note(&format!("{warn}warning:{warn:#} {}", for_terminal_block(text)));
    }

    /// Says what went wrong and what to do next.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if self.json {
            let _ = self.result(&failure.to_json(), |_, _| Ok(()));
        } else {
            let Palette { bad, dim, .. } = Palette::for_stream(&std::io::stderr());
            let message = for_terminal_block(&failure.message);
            let _ = writeln!(std::io::stderr(), "{bad}error:{bad:#} {message}");
            if let Some(hint) = &failure.hint {
                let _ =
                    writeln!(std::io::stderr(), "{dim}hint:{dim:#} {}", for_terminal_block(hint));
            }
        }
        ExitCode::from(failure.exit as u8)
    }

    /// Columns of the terminal, if there is one.
    pub(crate) fn width(&self) -> Option<usize> {
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
    }
}

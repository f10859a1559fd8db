//! What leaves the process: results on stdout, words for people on stderr.
//!
//! Invariant: with `--json` stdout holds one JSON document and nothing else. JSON and everything on
//! stderr is escaped here; text from skills on stdout by whoever prints it, through `basics::text`.

pub(crate) mod fit;
mod hidden;
mod json;
pub(crate) mod markdown;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use basics::text::for_terminal;
use serde::Serialize;

use crate::failure::{ErrorDocument, Failure};
use crate::global::{Color, Global};
pub(crate) use hidden::{ask_hidden, unseen};

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
    pub(crate) fn for_stream(stream: &impl anstream::stream::RawStream) -> Self {
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

/// A style spelled out once, for many words.
#[derive(Debug)]
pub(crate) struct Paint {
    before: String,
    after: String,
}

impl Paint {
    pub(crate) fn new(style: Style) -> Self {
        Self { before: style.render().to_string(), after: style.render_reset().to_string() }
    }

    /// Adds `text` in this style to `line`; no text needs no style.
    pub(crate) fn add(&self, text: &str, line: &mut String) {
        if !text.is_empty() {
            line.push_str(&self.before);
            line.push_str(text);
            line.push_str(&self.after);
        }
    }
}

/// Where a command's words go.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
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
        let written =
            if self.json { json::write(value, &mut out) } else { text(&mut out, palette) };
        match written.and_then(|()| out.flush()) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }

    /// Words for people beside the result.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say("", Style::new(), text);
        }
    }

    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            say("warning: ", Palette::for_stream(&std::io::stderr()).warn, text);
        }
    }

    /// Says what went wrong and what to do next.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        // Where no JSON can be written, there may still be somebody who reads.
        let told = self.json && self.result(&ErrorDocument::from(failure), |_, _| Ok(())).is_ok();
        if !told {
            let Palette { bad, dim, .. } = Palette::for_stream(&std::io::stderr());
            say("error: ", bad, &failure.message);
            failure.hint.iter().for_each(|hint| say("hint: ", dim, hint));
        }
        ExitCode::from(failure.exit as u8)
    }

    /// Columns of the terminal, if there is one.
    pub(crate) fn width(&self) -> Option<usize> {
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
    }
}

/// `1 skill`, `2 skills`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Words on stderr.
fn say(label: &str, style: Style, text: &str) {
    let width = terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0.into());
    let text = fit::wrap(&for_terminal(text), width, label.len());
    // There is nobody to tell when stderr is closed.
    let _ = writeln!(std::io::stderr(), "{style}{label}{style:#}{text}");
}

//! `skillful runs export`

use std::io::{self, Write};
use std::process::ExitCode;

use agent::action::ActionKind;
use agent::event::{Event, EventData};
use basics::text::{for_terminal_block, one_line};
use pulldown_cmark::{Event as Part, Options, Parser, html};
use runtime::conversation::earlier;
use runtime::journal::{self, RunSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::tell_origin;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;

/// Write a whole conversation as one document
///
/// It has every request, what was done, and every answer, from the first run to the one you name. Secrets are not
/// in it: Skillful takes them out before it records anything.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs export last > conversation.md\n  skillful runs export last --format html > conversation.html"
)]
pub(super) struct Export {
    /// The last run of the conversation, or `last`
    run: String,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Md)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Markdown
    Md,
    /// JSON
    Json,
    /// One page for a browser
    Html,
}

/// A conversation, the first run first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Exported {
    runs: Vec<ExportedRun>,
}

/// One run of a conversation.
#[derive(Serialize, JsonSchema)]
struct ExportedRun {
    /// What it did, in short.
    #[serde(flatten)]
    summary: RunSummary,
    /// What was done, in its order.
    actions: Vec<ExportedAction>,
    /// The answer; nothing where there is none.
    answer: Option<String>,
}

/// Something that was done.
#[derive(Serialize, JsonSchema)]
struct ExportedAction {
    /// In which turn.
    turn: u32,
    /// What, in one line.
    action: String,
    /// The error's code, if it failed.
    code: Option<String>,
}

impl Export {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        tell_origin(&self.run, &folder, session, output)?;
        let events = journal::read(&folder)?;
        let link = match events.first().map(|event| &event.data) {
            Some(EventData::RunStarted(started)) => started.setup.continues.clone(),
            _ => {
                let message = format!("run `{}` has no beginning", self.run);
                return Err(Failure::new(Exit::Refused, "RecordDamaged", message)
                    .hint("`skillful runs verify` shows more"));
            }
        };
        let before = link.map(|link| earlier(&session.runs(), &link)).transpose()?;
        let before = before.unwrap_or_default();
        let runs = before.iter().map(|run| run.events.as_slice()).chain([events.as_slice()]);
        let exported = Exported { runs: runs.map(exported).collect() };
        let json = Output::json_only();
        let output = if self.format == Format::Json { &json } else { output };
        output.result(&exported, |out, _| {
            let markdown = for_terminal_block(&markdown(&exported)).into_owned();
            match self.format {
                Format::Html => write_page(out, &markdown),
                Format::Md | Format::Json => out.write_all(markdown.as_bytes()),
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn exported(events: &[Event]) -> ExportedRun {
    let mut actions: Vec<ExportedAction> = Vec::new();
    let mut answer = None;
    for event in events {
        match &event.data {
            EventData::ActionPlanned(planned)
                if planned.action.kind() != ActionKind::FinalAnswer =>
            {
                let action = planned.action.summary();
                actions.push(ExportedAction { turn: event.turn, action, code: None });
            }
            EventData::ObservationRecorded(recorded) => {
                if let Some(last) = actions.last_mut() {
                    last.code.clone_from(&recorded.code);
                }
            }
            EventData::RunFinished(finished) => answer = Some(finished.answer.clone()),
            _ => {}
        }
    }
    ExportedRun { summary: journal::summary(events), actions, answer }
}

fn markdown(exported: &Exported) -> String {
    let mut text = String::new();
    for ExportedRun { summary, actions, answer } in &exported.runs {
        let model = summary.model.as_deref().unwrap_or("unknown model");
        text += &format!("## {}\n\n", quoted(&one_line(&summary.request)));
        text += &format!("{} · {} · {}\n\n", summary.run_id, summary.started, quoted(model));
        for ExportedAction { action, code, .. } in actions {
            let failed = code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
            text += &format!("- `{}`{failed}\n", action.replace('`', "'"));
        }
        if !actions.is_empty() {
            text.push('\n');
        }
        text += answer.as_deref().unwrap_or("*There is no answer.*").trim_end();
        text += "\n\n";
    }
    text
}

/// Words that Markdown takes for nothing but words.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ':' | '-' | '/' | '?' | '\'') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// A page without anything that could run or be fetched: what is HTML in an answer is shown as text, and so are
/// addresses.
fn write_page(out: &mut dyn Write, markdown: &str) -> io::Result<()> {
    let parts = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let harmless = parts.map(|part| match part {
        Part::Html(text) | Part::InlineHtml(text) => Part::Text(text),
        part => part,
    });
    let harmless = harmless.filter(|part| {
        use pulldown_cmark::{Tag, TagEnd};
        !matches!(
            part,
            Part::Start(Tag::Image { .. } | Tag::Link { .. })
                | Part::End(TagEnd::Image | TagEnd::Link)
        )
    });
    let mut body = String::new();
    html::push_html(&mut body, harmless);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Conversation</title>\n<style>{STYLE}</style>\n\
         <main>\n{body}</main>\n</html>\n"
    )
}

const STYLE: &str = "\
:root{color-scheme:light dark}\
main{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\
h2{border-top:1px solid #8885;padding-top:1.5rem}\
pre{overflow-x:auto;padding:.75rem;border:1px solid #8885;border-radius:6px}\
code{font-size:.9em}table{border-collapse:collapse}td,th{border:1px solid #8885;padding:.25rem .5rem}";

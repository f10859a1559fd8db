//! What is drawn at the bottom of the terminal, below what has scrolled by: what the run does now, a question, the line
//! that is typed.
//!
//! Invariant: what is laid out fits the terminal, and the question and the typed line are what gives way last.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use basics::text::{for_terminal, one_line};

use super::editor::{Editor, Rows};
use crate::output::markdown::{Look, Markdown};
use crate::output::{Palette, fit};

/// Rows of a program's output that are seen while it runs.
const OUTPUT: usize = 6;
/// Rows of a question's details that are seen without asking for all.
const DETAILS: usize = 12;
/// Rows that a typed text may take.
const TYPED: usize = 10;
/// Of a line that a program never ends, this many bytes are kept.
const LONGEST_LINE: usize = 1_000;

/// How to stop it.
const STOP: &str = " · Ctrl-C stops";

/// What is drawn.
pub(crate) struct Panel {
    pub(crate) palette: Palette,
    /// The answer, as far as it is not complete.
    pub(crate) answer: Markdown,
    pub(crate) output: Tail,
    /// The steps of the plan.
    pub(crate) plan: Vec<String>,
    pub(crate) status: Option<Status>,
    pub(crate) question: Option<Asked>,
    /// Requests that wait.
    pub(crate) queued: VecDeque<String>,
    pub(crate) prompt: Option<Editor>,
    /// A word about the last key.
    pub(crate) hint: Option<&'static str>,
}

/// What happens now.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) what: String,
    pub(crate) since: Instant,
    /// What was used so far.
    pub(crate) used: String,
}

/// A question that waits for an answer.
#[derive(Default)]
pub(crate) struct Asked {
    /// What kind of question it is.
    pub(crate) title: String,
    /// What it is about, in a sentence.
    pub(crate) sentence: String,
    /// What would be done, in lines that may have styles; of more than a few rows, the beginning is shown.
    pub(crate) details: Vec<String>,
    /// What can be answered; the answer is typed after it.
    pub(crate) choices: String,
    /// Whether the answer must not be seen.
    pub(crate) is_secret: bool,
    pub(crate) answer: Editor,
}

/// Rows for the terminal, and where its cursor belongs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawing {
    pub(crate) rows: Vec<String>,
    pub(crate) cursor: Option<(usize, usize)>,
}

impl Panel {
    pub(crate) fn new(palette: Palette, look: Look) -> Self {
        Self {
            palette,
            answer: Markdown::new(look),
            output: Tail::default(),
            plan: Vec::new(),
            status: None,
            question: None,
            queued: VecDeque::new(),
            prompt: None,
            hint: None,
        }
    }

    /// Lays it out for a terminal of this size.
    pub(crate) fn draw(&self, width: usize, height: usize, now: Instant) -> Drawing {
        // The last column stays free: a terminal may go to the next row when it is full.
        let width = width.saturating_sub(1).max(1);
        let height = height.saturating_sub(1).max(1);
        let typed = self.typed(width, height);
        let cursor = typed.as_ref().map(|rows| rows.cursor);
        let typed = typed.map(|typed| typed.rows).unwrap_or_default();
        let typed_rows = typed.len();
        let mut parts = vec![typed];
        let room = |parts: &[Vec<String>]| height.saturating_sub(parts.iter().map(Vec::len).sum());
        let add = |parts: &mut Vec<Vec<String>>, rows: Vec<String>, most: usize| {
            let most = most.min(room(parts));
            parts.push(rows[rows.len().saturating_sub(most)..].to_vec());
        };
        match &self.question {
            Some(question) => {
                let rows = question.rows(width, room(&parts), self.palette);
                add(&mut parts, rows, height);
            }
            None => {
                add(&mut parts, self.queue(width), height);
                let status = self.status.iter().map(|status| status.row(width, now, self.palette));
                add(&mut parts, status.collect(), height);
            }
        }
        add(&mut parts, clipped(&self.plan, width), height);
        add(&mut parts, self.output.rows(width, self.palette), height);
        // The whole screen would flicker with each word.
        add(&mut parts, clipped(&self.answer.pending(width), width), height / 2);
        let rows: Vec<String> = parts.into_iter().rev().flatten().collect();
        let above = rows.len() - typed_rows.min(rows.len());
        Drawing { cursor: cursor.map(|(row, column)| (above + row, column)), rows }
    }

    /// The line that is typed now.
    fn typed(&self, width: usize, height: usize) -> Option<Rows> {
        let height = height.min(TYPED);
        if let Some(question) = &self.question {
            let Asked { choices, answer, .. } = question;
            // Where the choices take a row of their own, the answer does, too.
            let is_wide = fit::columns(choices) + 8 > width;
            let prompt = if is_wide { "> " } else { choices.as_str() };
            return Some(match question.is_secret {
                true => answer.hidden_rows(prompt, width),
                false => answer.rows(prompt, width, height, self.palette),
            });
        }
        let mut rows = self.prompt.as_ref()?.rows("> ", width, height, self.palette);
        if let Some(hint) = self.hint {
            let dim = self.palette.dim;
            rows.rows.push(format!("{dim}{}{dim:#}", fit::clip(hint, Some(width))));
        }
        Some(rows)
    }

    fn queue(&self, width: usize) -> Vec<String> {
        let dim = self.palette.dim;
        let row = |request: &String| {
            let text = format!("queued: {}", for_terminal(&one_line(request)));
            format!("{dim}{}{dim:#}", fit::clip(&text, Some(width)))
        };
        self.queued.iter().map(row).collect()
    }
}

impl Status {
    fn row(&self, width: usize, now: Instant, palette: Palette) -> String {
        let dim = palette.dim;
        let what = for_terminal(&one_line(&self.what)).into_owned();
        let time = format!(", {}", seconds(now.saturating_duration_since(self.since)));
        let needed = fit::columns(&time) + fit::columns(STOP);
        let room = width.saturating_sub(needed).max(8);
        let mut row = format!("{}{time}", fit::clip(&what, Some(room)));
        let used = format!(" · {}", self.used);
        let left = width.saturating_sub(fit::columns(&row) + fit::columns(STOP));
        if !self.used.is_empty() && fit::columns(&used) <= left {
            row += &used;
        }
        if fit::columns(&row) + fit::columns(STOP) <= width {
            row += STOP;
        }
        format!("{dim}{row}{dim:#}")
    }
}

impl Asked {
    fn rows(&self, width: usize, room: usize, palette: Palette) -> Vec<String> {
        let dim = palette.dim;
        let mut rows = self.head(Some(width), palette);
        let choices = match fit::columns(&self.choices) + 8 > width {
            true => wrapped(&self.choices, width),
            false => Vec::new(),
        };
        let room = room.saturating_sub(rows.len() + choices.len()).clamp(1, DETAILS);
        let details: Vec<String> =
            self.details.iter().flat_map(|line| fit::break_styled(line, width, 9)).collect();
        match details.len() > room {
            true => {
                rows.extend_from_slice(&details[..room - 1]);
                let text = format!("  … {} more lines; v shows all", details.len() - (room - 1));
                rows.push(format!("{dim}{}{dim:#}", fit::clip(&text, Some(width))));
            }
            false => rows.extend(details),
        }
        rows.extend(choices);
        rows
    }

    /// The title and the sentence.
    pub(crate) fn head(&self, width: Option<usize>, palette: Palette) -> Vec<String> {
        let warn = palette.warn;
        let text = fit::wrap(&format!("{} {}", self.title, self.sentence), width, 0);
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        if let Some(rest) = rows.first().and_then(|row| row.strip_prefix(&self.title)) {
            rows[0] = format!("{warn}{}{warn:#}{rest}", self.title);
        }
        rows
    }
}

/// The end of what a program wrote.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    lines: VecDeque<String>,
    /// Whether the last line goes on.
    is_open: bool,
    /// How many lines there were.
    pub(crate) count: usize,
}

impl Tail {
    pub(crate) fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let (line, ends) = match piece.strip_suffix('\n') {
                Some(line) => (line, true),
                None => (piece, false),
            };
            // What a carriage return takes back is not shown.
            let line = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
            match self.lines.back_mut().filter(|_| self.is_open) {
                Some(last) if last.len() < LONGEST_LINE => last.push_str(line),
                Some(_) => {}
                None => {
                    self.count += 1;
                    self.lines.push_back(basics::text::prefix(line, LONGEST_LINE).to_owned());
                }
            }
            self.is_open = !ends;
            if self.lines.len() > OUTPUT {
                self.lines.pop_front();
            }
        }
    }

    /// The last lines, at most `most` of them.
    pub(crate) fn last(&self, most: usize) -> impl Iterator<Item = &str> {
        self.lines.iter().skip(self.lines.len().saturating_sub(most)).map(String::as_str)
    }

    fn rows(&self, width: usize, palette: Palette) -> Vec<String> {
        let dim = palette.dim;
        let row = |line: &str| {
            let line = line.replace('\t', "    ");
            let line = format!("  {}", for_terminal(&line));
            format!("{dim}{}{dim:#}", fit::clip(&line, Some(width)))
        };
        self.last(OUTPUT).map(row).collect()
    }
}

/// Lines that may have styles, each cut to the width.
fn clipped(lines: &[String], width: usize) -> Vec<String> {
    lines.iter().map(|line| fit::clip_styled(line, width)).collect()
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    fit::wrap(text.trim_end(), Some(width), 0).lines().map(str::to_owned).collect()
}

/// `4 s`, `2 min 5 s`.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

//! Markdown as lines for a terminal, while it is written.
//!
//! Text comes in pieces, split anywhere. What is complete leaves as finished lines and is never touched again; the rest
//! can be looked at, as far as it is known. All text may come from strangers, so hidden characters are spelled out.

mod block;
mod code;
mod flow;
mod table;
#[cfg(test)]
mod tests;

use anstream::stream::RawStream;
use anstyle::{AnsiColor, Style};

/// How parts of a document are set off; without colours, some keep their marks instead.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look {
    heading: Style,
    strong: Style,
    emphasis: Style,
    struck: Style,
    code: Style,
    link: Style,
    quiet: Style,
    keyword: Style,
    string: Style,
    /// Whether there are styles at all.
    is_styled: bool,
}

impl Look {
    pub(crate) fn for_stream(stream: &impl RawStream) -> Self {
        match anstream::AutoStream::choice(stream) {
            anstream::ColorChoice::Never => Self::default(),
            _ => Self::styled(),
        }
    }

    fn styled() -> Self {
        Self {
            heading: AnsiColor::Cyan.on_default().bold(),
            strong: Style::new().bold(),
            emphasis: Style::new().italic(),
            struck: Style::new().strikethrough(),
            code: AnsiColor::Cyan.on_default(),
            link: Style::new().underline(),
            quiet: Style::new().dimmed(),
            keyword: AnsiColor::Magenta.on_default(),
            string: AnsiColor::Green.on_default(),
            is_styled: true,
        }
    }
}

/// Bytes of an unfinished block that are looked at: of a longer one, its end.
const PREVIEW: usize = 8 * 1024;

/// A document that is being written.
#[derive(Debug)]
pub(crate) struct Markdown {
    look: Look,
    /// The block that is not complete yet.
    text: String,
    /// How much of it was looked through, up to the beginning of a line.
    seen: usize,
    /// The fence that is open there, and where its line begins.
    fence: Option<(Fence, usize)>,
    /// Whether a blank line came before.
    after_blank: bool,
    /// Whether something was handed out: blocks are a line apart.
    has_begun: bool,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
}

impl Markdown {
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            text: String::new(),
            seen: 0,
            fence: None,
            after_blank: false,
            has_begun: false,
        }
    }

    /// Takes the next piece; what became complete by it, in lines of at most `width` columns where words allow it.
    pub(crate) fn push(&mut self, piece: &str, width: usize) -> Vec<String> {
        self.text.push_str(piece);
        let mut lines = Vec::new();
        while let Some(end) = self.boundary() {
            let block: String = self.text.drain(..end).collect();
            (self.seen, self.fence, self.after_blank) = (0, None, false);
            self.render(&block, width, &mut lines);
        }
        lines
    }

    /// What is left, now that nothing follows.
    pub(crate) fn finish(&mut self, width: usize) -> Vec<String> {
        let block = std::mem::take(&mut self.text);
        let mut lines = Vec::new();
        self.render(&block, width, &mut lines);
        *self = Self::new(self.look);
        lines
    }

    /// What is not complete yet, as it would look if nothing followed.
    pub(crate) fn pending(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut text = self.text.as_str();
        let mut opening = "";
        if text.len() > PREVIEW {
            let from = text.char_indices().rev().map(|(place, _)| place);
            let from = from.take_while(|place| text.len() - place <= PREVIEW).last().unwrap_or(0);
            let cut = from + text[from..].find('\n').map_or(0, |place| place + 1);
            if let Some((_, start)) = self.fence.filter(|(_, start)| *start < cut) {
                opening = text[start..].split_inclusive('\n').next().unwrap_or_default();
            }
            text = &text[cut..];
        }
        block::render(&format!("{opening}{text}"), self.look, width, &mut lines);
        if self.has_begun && !lines.is_empty() {
            lines.insert(0, String::new());
        }
        lines
    }

    fn render(&mut self, block: &str, width: usize, lines: &mut Vec<String>) {
        let before = lines.len();
        block::render(block, self.look, width, lines);
        if lines.len() > before {
            if self.has_begun {
                lines.insert(before, String::new());
            }
            self.has_begun = true;
        }
    }

    /// Where the first complete block ends, if there is one.
    fn boundary(&mut self) -> Option<usize> {
        while self.seen < self.text.len() {
            let start = self.seen;
            let rest = &self.text[start..];
            let line_end = rest.find('\n').map(|length| start + length + 1);
            let line = rest.split('\n').next().unwrap_or_default();
            let is_blank = line.trim().is_empty();
            // A block goes on after a blank line only where the text is indented.
            let begins = !is_blank && !line.starts_with([' ', '\t']);
            if self.fence.is_none() && self.after_blank && begins {
                return Some(start);
            }
            let end = line_end?;
            self.seen = end;
            match self.fence {
                Some((open, _)) => {
                    if open.is_closed_by(line) {
                        self.fence = None;
                        if begins {
                            return Some(end);
                        }
                    }
                }
                None => {
                    self.after_blank = is_blank && start > 0;
                    self.fence = Fence::opened_by(line).map(|fence| (fence, start));
                    if begins && is_heading(line) {
                        return Some(end);
                    }
                }
            }
        }
        None
    }
}

fn is_heading(line: &str) -> bool {
    let marks = line.len() - line.trim_start_matches('#').len();
    (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t'])
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = *line.as_bytes().first().filter(|mark| b"`~".contains(mark))?;
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let is_inline = mark == b'`' && line[length..].contains('`');
        (length >= 3 && !is_inline).then_some(Self { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.bytes().all(|byte| byte == self.mark)
    }
}

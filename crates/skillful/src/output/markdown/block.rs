//! One block, from its events to its lines.

use anstyle::Style;
use basics::text::for_terminal;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::flow::{self, Span};
use super::table::Table;
use super::{Look, code};
use crate::output::fit;

/// Adds the lines of `text`, blocks a line apart.
pub(super) fn render(text: &str, look: Look, width: usize, lines: &mut Vec<String>) {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page {
        look,
        width: width.max(8),
        lines,
        begun: false,
        edges: Vec::new(),
        lists: Vec::new(),
        spans: Vec::new(),
        styles: Vec::new(),
        links: Vec::new(),
        code: None,
        table: None,
    };
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.end_paragraph();
}

/// What stands to the left of each line of a quote or an item.
struct Edge {
    first: Option<String>,
    rest: String,
    style: Style,
}

struct List {
    number: Option<u64>,
    /// Whether an item of it was there already: items are not a line apart.
    is_tight: bool,
}

struct Page<'a> {
    look: Look,
    width: usize,
    lines: &'a mut Vec<String>,
    /// Whether this block has lines already.
    begun: bool,
    edges: Vec<Edge>,
    lists: Vec<List>,
    spans: Vec<Span>,
    styles: Vec<Style>,
    links: Vec<String>,
    code: Option<(String, String)>,
    table: Option<Table>,
}

impl Page<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => match self.look.is_styled {
                true => self.styled(self.look.code, &text),
                false => self.text(&format!("`{text}`")),
            },
            // What a program printed comes here, too: its lines stay lines.
            Event::SoftBreak | Event::HardBreak => {
                flow::add(&mut self.spans, Style::new(), "\n");
            }
            Event::Rule => {
                self.separate();
                let line = "─".repeat(self.room().min(40));
                self.line(&[Span { style: self.look.quiet, text: line }]);
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::Html(text) | Event::InlineHtml(text) => self.text(text.trim_end_matches('\n')),
            Event::FootnoteReference(text) => self.text(&format!("[{text}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.separate();
                self.styles.push(self.look.heading);
                if !self.look.is_styled {
                    self.text(&format!("{} ", "#".repeat(depth(level))));
                }
            }
            Tag::Paragraph | Tag::HtmlBlock => self.separate(),
            Tag::BlockQuote(_) => {
                self.end_paragraph();
                self.separate();
                let bar = "│ ".to_owned();
                let edge = Edge { first: Some(bar.clone()), rest: bar, style: self.look.quiet };
                self.edges.push(edge);
                self.begun = false;
            }
            Tag::CodeBlock(kind) => {
                self.end_paragraph();
                self.separate();
                let language = match &kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(number) => {
                self.end_paragraph();
                if self.lists.is_empty() {
                    self.separate();
                }
                self.lists.push(List { number, is_tight: true });
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.separate();
                self.table = Some(Table::new(&alignments));
            }
            Tag::Emphasis => self.styles.push(self.look.emphasis),
            Tag::Strong => self.styles.push(self.look.strong),
            Tag::Strikethrough => self.styles.push(self.look.struck),
            Tag::Link { dest_url, .. } => {
                self.styles.push(self.look.link);
                self.links.push(dest_url.to_string());
            }
            Tag::Image { dest_url, .. } => {
                self.styles.push(self.look.link);
                self.links.push(dest_url.to_string());
                self.text("picture: ");
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_paragraph();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_paragraph(),
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                self.edges.pop();
                self.begun = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.end_paragraph();
                self.lists.pop();
                self.begun = true;
            }
            TagEnd::Item => {
                self.end_paragraph();
                // An empty item has its mark and nothing more.
                if self.edges.last().is_some_and(|edge| edge.first.is_some()) {
                    self.line(&[]);
                }
                self.edges.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                self.table.iter_mut().for_each(|table| table.cell(cell.clone()));
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                self.table.iter_mut().for_each(Table::end_row);
            }
            TagEnd::Table => {
                let Some(table) = self.table.take() else { return };
                let rows = table.lines(self.room(), self.look.strong, self.look.quiet);
                rows.iter().for_each(|row| self.line(row));
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.end_paragraph();
        let mark = match self.lists.last_mut() {
            Some(List { number: Some(number), .. }) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "• ".to_owned(),
        };
        let rest = " ".repeat(fit::columns(&mark));
        self.edges.push(Edge { first: Some(mark), rest, style: self.look.quiet });
        self.begun = false;
    }

    /// Where a link leads, unless its text says so.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some(address) = self.links.pop() else { return };
        let is_said = self.spans.last().is_some_and(|span| span.text.ends_with(&address));
        if !is_said && !address.is_empty() && !address.starts_with('#') {
            self.styled(self.look.quiet, &format!(" ({address})"));
        }
    }

    fn end_code(&mut self) {
        let Some((language, text)) = self.code.take() else { return };
        for line in text.lines() {
            let mut spans = vec![Span { style: Style::new(), text: "  ".to_owned() }];
            spans.extend(code::spans(
                &for_terminal(&line.replace('\t', "    ")),
                &language,
                self.look,
            ));
            self.line(&spans);
        }
    }

    fn end_paragraph(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if spans.iter().all(|span| span.text.trim().is_empty()) {
            return;
        }
        for line in flow::wrap(&spans, self.room(), false) {
            self.line(&line);
        }
    }

    /// An empty line between two blocks; items of a list are no blocks of their own.
    fn separate(&mut self) {
        self.end_paragraph();
        if self.begun && self.lists.last().is_none_or(|list| !list.is_tight) {
            self.line(&[]);
        }
    }

    fn line(&mut self, spans: &[Span]) {
        let mut line = String::new();
        for edge in &mut self.edges {
            let text = edge.first.take().unwrap_or_else(|| edge.rest.clone());
            line += &flow::spelled(&[Span { style: edge.style, text }]);
        }
        line += &flow::spelled(spans);
        self.lines.push(match spans.iter().all(|span| span.text.trim().is_empty()) {
            true => line.trim_end().to_owned(),
            false => line,
        });
        self.begun = true;
    }

    fn room(&self) -> usize {
        let taken: usize = self.edges.iter().map(|edge| fit::columns(&edge.rest)).sum();
        self.width.saturating_sub(taken).max(8)
    }

    fn text(&mut self, text: &str) {
        let style = self.styles.last().copied().unwrap_or_default();
        self.styled(style, text);
    }

    fn styled(&mut self, style: Style, text: &str) {
        flow::add(&mut self.spans, style, &for_terminal(text));
    }
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}

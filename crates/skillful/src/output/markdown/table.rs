//! A table that fits: columns give way, the widest first, and cells are wrapped.

use anstyle::Style;
use pulldown_cmark::Alignment;

use super::flow::{self, Span};

/// The narrowest that a column becomes.
const NARROW: usize = 4;
const BETWEEN: &str = " │ ";

pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<Span>>>,
    row: Vec<Vec<Span>>,
}

impl Table {
    pub(super) fn new(alignments: &[Alignment]) -> Self {
        Self { alignments: alignments.to_vec(), rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, cell: Vec<Span>) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The first row is the head.
    pub(super) fn lines(mut self, room: usize, head: Style, quiet: Style) -> Vec<Vec<Span>> {
        for span in self.rows.first_mut().into_iter().flatten().flatten() {
            span.style = head;
        }
        let widths = self.widths(room);
        let mut lines = Vec::new();
        for (row, index) in self.rows.iter().zip(0..) {
            lines.extend(self.row(row, &widths, quiet));
            if index == 0 {
                let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(vec![Span { style: quiet, text: rule.join("─┼─") }]);
            }
        }
        lines
    }

    fn widths(&self, room: usize) -> Vec<usize> {
        let count = self.alignments.len();
        let natural = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| flow::columns(cell)).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..count).map(natural).collect();
        let between = BETWEEN.chars().count() * count.saturating_sub(1);
        while widths.iter().sum::<usize>() + between > room {
            match widths.iter_mut().max() {
                Some(widest) if *widest > NARROW => *widest -= 1,
                _ => break,
            }
        }
        widths
    }

    fn row(&self, row: &[Vec<Span>], widths: &[usize], quiet: Style) -> Vec<Vec<Span>> {
        let empty = Vec::new();
        let cells: Vec<Vec<Vec<Span>>> = widths
            .iter()
            .zip(0..)
            .map(|(width, column)| flow::wrap(row.get(column).unwrap_or(&empty), *width, true))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| {
                let mut spans = Vec::new();
                for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                    if column > 0 {
                        flow::add(&mut spans, quiet, BETWEEN);
                    }
                    let content = cell.get(line).cloned().unwrap_or_default();
                    let missing = width.saturating_sub(flow::columns(&content));
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => missing,
                        Some(Alignment::Center) => missing / 2,
                        _ => 0,
                    };
                    flow::add(&mut spans, Style::new(), &" ".repeat(before));
                    content.iter().for_each(|span| flow::add(&mut spans, span.style, &span.text));
                    if column + 1 < widths.len() {
                        flow::add(&mut spans, Style::new(), &" ".repeat(missing - before));
                    }
                }
                spans
            })
            .collect()
    }
}

//! Cutting a document down to a budget without losing what a model needs to act.

#[cfg(test)]
mod tests;

use super::{Heading, headings, hints};

/// Words in headings that say what to do, with what, and how to know it worked. Chinese beside
/// English, since many skills are written in it.
const ESSENTIAL: &[&str] = &[
    "trigger",
    "when",
    "use",
    "input",
    "output",
    "contract",
    "parameter",
    "argument",
    "step",
    "workflow",
    "process",
    "procedure",
    "instruction",
    "quick start",
    "how to",
    "fail",
    "error",
    "troubleshoot",
    "pitfall",
    "check",
    "verif",
    "valid",
    "accept",
    "test",
    "resource",
    "reference",
    "script",
    "file",
    "触发",
    "何时",
    "使用",
    "适用",
    "输入",
    "输出",
    "参数",
    "步骤",
    "流程",
    "方法",
    "失败",
    "错误",
    "异常",
    "检查",
    "验收",
    "自检",
    "校验",
    "资源",
    "参考",
    "脚本",
];

/// What is left of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trimmed {
    pub(crate) text: String,
    /// What was left out, as hints that lead there.
    pub(crate) dropped: Vec<String>,
}

/// A budget that text is taken from.
struct Budget {
    lines: usize,
    chars: usize,
}

impl Budget {
    fn take(&mut self, text: &str) -> bool {
        let (lines, chars) = (text.lines().count(), text.chars().count());
        let fits = lines <= self.lines && chars <= self.chars;
        if fits {
            self.lines -= lines;
            self.chars -= chars;
        }
        fits
    }
}

/// Keeps the opening, then essential sections, then others while they fit, all in document order.
pub(crate) fn trim(text: &str, lines: usize, chars: usize) -> Trimmed {
    let headings = headings(text);
    let mut budget = Budget { lines, chars };
    let opening_end = opening_end(text, &headings);
    let opening = beginning(&text[..opening_end], lines, chars);
    budget.take(opening);
    // A cut may fall into a code block, which would swallow any section behind it.
    if opening.len() < opening_end {
        budget.lines = 0;
    }
    let sections: Vec<(usize, &str)> = headings
        .iter()
        .enumerate()
        .filter(|(_, heading)| heading.start >= opening_end)
        .map(|(at, heading)| {
            let end = headings.get(at + 1).map_or(text.len(), |next| next.start);
            (at, &text[heading.start..end])
        })
        .collect();
    let essential = essential(&headings);
    let mut kept = vec![false; headings.len()];
    for wanted in [true, false] {
        for (at, section) in sections.iter().filter(|(at, _)| essential[*at] == wanted) {
            kept[*at] = budget.take(section);
        }
    }
    let hints = hints(&headings);
    let mut left = opening.to_owned();
    let mut dropped = Vec::new();
    for (at, section) in sections {
        if kept[at] { left.push_str(section) } else { dropped.push(hints[at].clone()) }
    }
    Trimmed { text: left, dropped }
}

/// The opening goes up to the first section: a title and its introduction belong to it.
fn opening_end(text: &str, headings: &[Heading]) -> usize {
    let first_section = match headings {
        [title, rest @ ..] if title.level == 1 && text[..title.start].trim().is_empty() => {
            rest.first()
        }
        all => all.first(),
    };
    first_section.map_or(text.len(), |heading| heading.start)
}

/// Whole lines from the start, as many as fit.
fn beginning(text: &str, lines: usize, chars: usize) -> &str {
    let mut budget = Budget { lines, chars };
    let kept: usize =
        text.split_inclusive('\n').take_while(|line| budget.take(line)).map(str::len).sum();
    // A single line longer than the budget is cut rather than lost.
    if kept == 0 && lines > 0 {
        common::text::prefix(text.lines().next().unwrap_or(""), chars)
    } else {
        &text[..kept]
    }
}

/// Which headings speak of something essential, themselves or through a section they stand in.
fn essential(headings: &[Heading]) -> Vec<bool> {
    let mut above: Vec<(usize, bool)> = Vec::new();
    headings
        .iter()
        .map(|heading| {
            above.retain(|(level, _)| *level < heading.level);
            let title = heading.title.to_lowercase();
            let own = ESSENTIAL.iter().any(|word| title.contains(word));
            let within = own || above.iter().any(|(level, essential)| *level > 1 && *essential);
            above.push((heading.level, own));
            within
        })
        .collect()
}

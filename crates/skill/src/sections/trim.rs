//! Cutting a document down to a budget without losing what a model needs to act.

#[cfg(test)]
mod tests;

use super::{Heading, headings, hints};
use crate::markdown::lines;

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

/// In place of the rest of a section.
const CUT: &str = "[… the rest of this section is left out]\n";

/// What is left of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trimmed {
    pub(crate) text: String,
    /// What was left out, as hints that lead there.
    pub(crate) dropped: Vec<String>,
    /// Whether a part of what stands above the first section was left out; without sections, that is all.
    pub(crate) opening_is_cut: bool,
    /// Whether there was anything to choose from.
    pub(crate) has_sections: bool,
}

/// A budget that text is taken from.
struct Budget {
    lines: usize,
    chars: usize,
}

impl Budget {
    /// What a text takes.
    fn of(text: &str) -> Self {
        Self { lines: text.lines().count(), chars: text.chars().count() }
    }

    fn at_most(self, other: &Self) -> Self {
        Self { lines: self.lines.min(other.lines), chars: self.chars.min(other.chars) }
    }

    /// What an opening may take before anything else: what a short one needs, or an eighth.
    fn share_of_opening(&self) -> Self {
        const SHORT: Budget = Budget { lines: 10, chars: 500 };
        let eighth = Self { lines: self.lines / 8, chars: self.chars / 8 };
        let share =
            Self { lines: eighth.lines.max(SHORT.lines), chars: eighth.chars.max(SHORT.chars) };
        share.at_most(self)
    }

    /// Sets a share aside.
    fn give(&mut self, share: &Self) {
        self.lines -= share.lines;
        self.chars -= share.chars;
    }

    fn take_back(&mut self, share: &Self) {
        self.lines += share.lines;
        self.chars += share.chars;
    }

    /// The beginning of a section, with a line that says where it is cut; nothing where hardly any of it fits.
    fn take_part(&mut self, section: &str) -> Option<String> {
        const LEAST: usize = 5;
        let room = Self {
            lines: self.lines.checked_sub(CUT.lines().count())?,
            chars: self.chars.checked_sub(CUT.chars().count())?,
        };
        let part = beginning(section, &room, true);
        if part.lines().count() < LEAST {
            return None;
        }
        let part = part + CUT;
        self.take(&part).then_some(part)
    }

    fn take(&mut self, text: &str) -> bool {
        let cost = Self::of(text);
        let fits = cost.lines <= self.lines && cost.chars <= self.chars;
        if fits {
            self.give(&cost);
        }
        fits
    }
}

/// Keeps the opening, essential sections, then others while they fit, all in document order. Of a long opening
/// its beginning is kept, and as much more as the essential sections leave room for. Of an essential section that does
/// not fit, the beginning is kept, too.
pub(crate) fn trim(text: &str, lines: usize, chars: usize) -> Trimmed {
    let headings = headings(text);
    let opening_end = opening_end(text, &headings);
    let (opening, behind) = (&text[..opening_end], opening_end < text.len());
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
    let mut kept: Vec<Option<String>> = vec![None; headings.len()];
    let mut take = |budget: &mut Budget, wanted: bool| {
        for (at, section) in sections.iter().filter(|(at, _)| essential[*at] == wanted) {
            kept[*at] = budget.take(section).then(|| (*section).to_owned());
        }
        for (at, section) in sections.iter().filter(|(at, _)| wanted && essential[*at]) {
            if kept[*at].is_none() {
                kept[*at] = budget.take_part(section);
            }
        }
    };
    let mut budget = Budget { lines, chars };
    let share = Budget::of(opening).at_most(&budget.share_of_opening());
    budget.give(&share);
    take(&mut budget, true);
    budget.take_back(&share);
    let mut left = beginning(opening, &budget, behind);
    let opening_is_cut = behind && left != opening;
    budget.take(&left);
    take(&mut budget, false);
    let hints = hints(&headings);
    let mut dropped = Vec::new();
    for (at, section) in sections {
        let part = kept[at].as_deref().unwrap_or_default();
        left.push_str(part);
        if part != section {
            dropped.push(hints[at].clone());
        }
    }
    Trimmed { text: left, dropped, opening_is_cut, has_sections: behind }
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

/// Whole lines from the start, as many as fit. Where something stands `behind` them, they do not end within a
/// code block, which would swallow it.
fn beginning(text: &str, budget: &Budget, behind: bool) -> String {
    let mut left = Budget { ..*budget };
    let mut lines = lines(text).peekable();
    let (mut fits, mut kept) = (0, 0);
    while let Some(line) = lines.next_if(|line| left.take(&text[line.start..line.end])) {
        fits = line.end;
        let in_block = line.in_code && lines.peek().is_some_and(|next| next.in_code);
        if !behind || !in_block {
            kept = line.end;
        }
    }
    // A single line longer than the budget is cut rather than lost.
    if fits == 0 && budget.lines > 0 {
        let line = text.lines().next().unwrap_or("");
        let end = if behind && !line.is_empty() && budget.chars > 0 { "\n" } else { "" };
        return basics::text::prefix(line, budget.chars - end.len()).to_owned() + end;
    }
    text[..kept].to_owned()
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

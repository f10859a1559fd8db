//! Changed files for whoever decides about them: a list, and the whole difference on demand.

use anstyle::Style;
use basics::text::for_terminal;
use permission::ApprovalRequest;

use crate::output::Palette;

/// The files of a question about changes, one line each.
pub(super) fn summary(question: &ApprovalRequest, palette: Palette) -> Vec<String> {
    let Palette { dim, good, bad, warn, .. } = palette;
    let lines = question.params["files"].as_array().into_iter().flatten();
    let line = |line: &str| {
        let (mark, rest) = line.split_at_checked(1).unwrap_or(("", line));
        let style = match mark {
            "+" => good,
            "-" => bad,
            "~" => warn,
            _ => dim,
        };
        format!("  {style}{mark}{style:#}{}", for_terminal(rest))
    };
    lines.filter_map(|text| text.as_str()).map(line).collect()
}

/// The difference as lines, in colour where there are colours.
pub(super) fn lines(question: &ApprovalRequest, palette: Palette) -> Vec<String> {
    let diff = question.params["diff"].as_str().unwrap_or_default();
    diff.lines().map(|line| paint_line(line, palette)).collect()
}

/// The same as one text.
pub(super) fn coloured(question: &ApprovalRequest, palette: Palette) -> String {
    paint(question.params["diff"].as_str().unwrap_or_default(), palette)
}

/// A unified difference in these colours.
pub(crate) fn paint(diff: &str, palette: Palette) -> String {
    diff.lines().map(|line| paint_line(line, palette) + "\n").collect()
}

/// A line of it.
pub(super) fn paint_line(line: &str, palette: Palette) -> String {
    let Palette { bold, dim, good, bad, .. } = palette;
    let style = if ["+++", "---", "diff "].iter().any(|start| line.starts_with(start)) {
        bold
    } else if line.starts_with("@@") {
        dim
    } else if line.starts_with('+') {
        good
    } else if line.starts_with('-') {
        bad
    } else {
        Style::new()
    };
    format!("{style}{}{style:#}", for_terminal(line))
}

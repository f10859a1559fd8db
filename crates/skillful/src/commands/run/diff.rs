//! Changed files for whoever decides about them: a list, and the whole difference on demand.

use anstyle::Style;
use basics::text::for_terminal;
use permission::ApprovalRequest;

use crate::output::Palette;

/// The files of a question about changes, one line each.
pub(super) fn summary(question: &ApprovalRequest) -> String {
    let Palette { dim, good, bad, warn, .. } = Palette::for_stream(&std::io::stderr());
    let lines = question.params["files"].as_array();
    let mut text = String::new();
    for line in lines.into_iter().flatten().filter_map(|line| line.as_str()) {
        let (mark, rest) = line.split_at_checked(1).unwrap_or(("", line));
        let style = match mark {
            "+" => good,
            "-" => bad,
            "~" => warn,
            _ => dim,
        };
        text += &format!("  {style}{mark}{style:#}{}\n", for_terminal(rest));
    }
    text
}

/// The difference, in colour where there are colours.
pub(super) fn coloured(question: &ApprovalRequest) -> String {
    let diff = question.params["diff"].as_str().unwrap_or_default();
    paint(diff, Palette::for_stream(&std::io::stderr()))
}

/// A unified difference in these colours.
pub(crate) fn paint(diff: &str, palette: Palette) -> String {
    let Palette { bold, dim, good, bad, .. } = palette;
    let mut text = String::new();
    for line in diff.lines() {
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
        text += &format!("{style}{}{style:#}\n", for_terminal(line));
    }
    text
}

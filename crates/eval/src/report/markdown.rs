//! The report as Markdown, for people: failures first.

use std::fmt::Write;

use basics::text::one_line;

use super::{Report, percent};
use crate::grade::Graded;
use crate::runner::CaseResult;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let summary = &report.summary;
    let mut text = String::from("# Evals\n\n");
    let model = report.model.as_deref().unwrap_or("scripted or offline");
    let _ = writeln!(
        text,
        "{} of {} cases passed ({}), {} runs, model: {}.\n",
        summary.passed,
        summary.cases,
        percent(summary.pass_rate),
        summary.runs,
        plain(model)
    );
    for problem in &report.problems {
        let _ = writeln!(text, "- **unreadable** {}", plain(problem));
    }
    changes(report, &mut text);
    let failed: Vec<&CaseResult> = report.failed().collect();
    if !failed.is_empty() {
        text.push_str("## Failures\n\n");
    }
    for result in failed {
        let _ = writeln!(
            text,
            "### {} (run {})\n\n> {}\n",
            plain(&result.name()),
            result.number,
            plain(&result.input)
        );
        for failure in failures(result) {
            let _ = writeln!(text, "- {}", plain(&failure));
        }
        let _ = writeln!(text, "- record: {}\n", plain(&result.record));
    }
    judged(report, &mut text);
    figures(report, &mut text);
    text
}

/// Apart from the failures: nothing here counts in what passed.
fn judged(report: &Report, text: &mut String) {
    let runs: Vec<&CaseResult> = report.counted().filter(|run| !run.graded.is_empty()).collect();
    if !runs.is_empty() {
        text.push_str("## Assertions\n\n");
    }
    for run in &runs {
        for line in judgements(run) {
            let (mark, sentence) = line.split_once(' ').unwrap_or_default();
            let (name, sentence) = (plain(&run.name()), plain(sentence));
            let _ = writeln!(text, "- {mark} {name} (run {}): {sentence}", run.number);
        }
    }
    if !runs.is_empty() {
        text.push('\n');
    }
}

/// What a model judged about a result, a line each, with the evidence or why there is no judgement.
pub(super) fn judgements(result: &CaseResult) -> impl Iterator<Item = String> {
    result.graded.iter().map(|Graded { text, passed, judged, evidence }| match (judged, passed) {
        (false, _) => format!("– {text} ({evidence})"),
        (true, true) => format!("✓ {text} (evidence: {evidence})"),
        (true, false) => format!("✗ {text} (evidence: {evidence})"),
    })
}

/// What is wrong with a result, a line each.
pub fn failures(result: &CaseResult) -> Vec<String> {
    let checks =
        result.verdict.iter().flat_map(|verdict| &verdict.checks).filter(|check| !check.passed);
    let checks = checks.map(|check| {
        let events = match check.events.as_slice() {
            [] => String::new(),
            [one] => format!(" (event {one})"),
            many => format!(
                " (events {})",
                many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            ),
        };
        format!("{}: {}{events}", check.dimension.as_str(), check.message)
    });
    result.error.iter().cloned().chain(checks).collect()
}

fn changes(report: &Report, text: &mut String) {
    let Some(changes) = &report.changes else { return };
    text.push_str("## Against the baseline\n\n");
    for (word, list) in [("worse", &changes.regressions), ("better", &changes.improvements)] {
        for change in list {
            let (before, now) = (percent(change.before), percent(change.now));
            let _ = writeln!(text, "- **{word}** {}: {before} → {now}", plain(&change.name));
        }
    }
    for name in &changes.missing {
        let _ = writeln!(text, "- **gone** {}", plain(name));
    }
    if changes.regressions.is_empty() {
        text.push_str("- no case became worse\n");
    }
    text.push('\n');
}

fn figures(report: &Report, text: &mut String) {
    let summary = &report.summary;
    text.push_str("## Figures\n\n| what | value |\n| --- | ---: |\n");
    for (dimension, score) in &summary.dimensions {
        let _ = writeln!(text, "| {} | {} |", dimension.as_str(), percent(*score));
    }
    let trigger = &summary.trigger;
    for (name, value) in
        [("precision", trigger.precision), ("recall", trigger.recall), ("F1", trigger.f1)]
    {
        if let Some(value) = value {
            let _ = writeln!(text, "| trigger {name} | {value:.2} |");
        }
    }
    if let Some(assertions) = summary.assertions {
        let _ = writeln!(
            text,
            "| assertions, judged by a model | {} of {} |",
            assertions.passed, assertions.total
        );
    }
    if summary.unjudged > 0 {
        let _ = writeln!(text, "| assertions not judged | {} |", summary.unjudged);
    }
    let cost = &summary.cost;
    let _ =
        writeln!(text, "| tokens read, written | {}, {} |", cost.input_tokens, cost.output_tokens);
    if let Some(usd) = cost.cost_usd {
        let _ = writeln!(text, "| cost | {usd:.4} USD |");
    }
    let _ = writeln!(text, "| time of all runs | {:.1} s |", cost.milliseconds as f64 / 1_000.0);
    if !summary.trigger_rates.is_empty() {
        text.push_str("\n| query | should trigger | rate | |\n| --- | --- | ---: | --- |\n");
        for rate in &summary.trigger_rates {
            let (wanted, mark) = (
                if rate.should_trigger { "yes" } else { "no" },
                if rate.passed { "✓" } else { "✗" },
            );
            let _ =
                writeln!(text, "| {} | {wanted} | {:.2} | {mark} |", plain(&rate.query), rate.rate);
        }
    }
    if let Some(benchmark) = &report.benchmark {
        let run = &benchmark.run_summary;
        let _ = writeln!(text, "\n## With and without {}\n", plain(&benchmark.skill));
        text.push_str("| | with | without | difference |\n| --- | ---: | ---: | ---: |\n");
        for (what, with, without, delta) in run.rows() {
            let _ = writeln!(text, "| {what} | {with} | {without} | {delta:+.2} |");
        }
    }
}

/// Text of strangers on one line that cannot be taken for Markdown or HTML of ours, by any reader: what HTML knows is
/// spelled as HTML does, what Markdown knows has a backslash, and nothing becomes a link by itself.
fn plain(text: &str) -> String {
    let line = one_line(text);
    let mut escaped = String::with_capacity(line.len());
    for (at, c) in line.char_indices() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' | '@' | '$' => {
                escaped.extend(['\\', c]);
            }
            '-' | '+' | '=' if at == 0 => escaped.extend(['\\', c]),
            '/' if line[..at].ends_with(':') => escaped.extend(['\\', c]),
            '.' if line[..at].ends_with("www") => escaped.extend(['\\', c]),
            // It would begin a list.
            '.' | ')' if is_number(&line[..at]) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

//! The report as one HTML file that needs nothing else.
//!
//! Invariant: whatever a case, a skill or a model wrote is text here, never markup. The page runs no script.

use std::borrow::Cow;
use std::fmt::Write;

use super::plot::{Bar, bars, histogram};
use super::{Report, percent};
use crate::judge::Cost;
use crate::runner::{CaseResult, Variant};

const STYLE: &str = include_str!("style.css");

/// The report as one HTML file.
pub fn html(report: &Report) -> String {
    let summary = &report.summary;
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>Evals: {} of {} passed</title><style>{STYLE}</style></head><body><main>",
        summary.passed, summary.cases
    );
    head(report, &mut page);
    problems(report, &mut page);
    // What needs looking at comes first, what does not comes last.
    let (failed, others): (Vec<&CaseResult>, Vec<&CaseResult>) = report
        .results
        .iter()
        .partition(|result| result.variant == Variant::With && !report.is_well(result));
    cases("Failures", &failed, &mut page);
    plots(report, &mut page);
    comparison(report, &mut page);
    cases("Other runs", &others, &mut page);
    if report.results.is_empty() {
        page.push_str("<p>No case was run.</p>");
    }
    page.push_str("</main></body></html>\n");
    page
}

fn head(report: &Report, page: &mut String) {
    let Report { summary, .. } = report;
    let model = report.model.as_deref().unwrap_or("scripted or offline");
    let class = if summary.failed == 0 && report.problems.is_empty() { "good" } else { "bad" };
    let _ = write!(
        page,
        "<header><h1>Evals</h1><p class=\"{class} big\">{} of {} cases passed <small>({})</small></p><p>{} runs · model {} · {}</p></header><dl class=\"tiles\">",
        summary.passed,
        summary.cases,
        percent(summary.pass_rate),
        summary.runs,
        escape(model),
        escape(&report.created)
    );
    let Cost {
        input_tokens, cached_tokens, output_tokens, cost_usd, milliseconds, tool_calls, ..
    } = summary.cost;
    let mut tiles = vec![
        ("time", format!("{:.1} s", milliseconds as f64 / 1_000.0)),
        ("tokens read", format!("{input_tokens} ({cached_tokens} cached)")),
        ("tokens written", output_tokens.to_string()),
        ("tool calls", tool_calls.to_string()),
    ];
    tiles.extend(cost_usd.map(|usd| ("cost", format!("{usd:.4} USD"))));
    tiles.extend(summary.trigger.f1.map(|f1| ("trigger F1", format!("{f1:.2}"))));
    tiles.extend(
        summary.assertions.map(|all| {
            ("assertions (judged by a model)", format!("{} of {}", all.passed, all.total))
        }),
    );
    if summary.unjudged > 0 {
        tiles.push(("assertions not judged", summary.unjudged.to_string()));
    }
    for (name, value) in tiles {
        let _ = write!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    page.push_str("</dl>");
}

fn problems(report: &Report, page: &mut String) {
    if !report.problems.is_empty() {
        page.push_str("<h2>Unreadable cases</h2><ul>");
        for problem in &report.problems {
            let _ = write!(page, "<li>{}</li>", escape(problem));
        }
        page.push_str("</ul>");
    }
    let Some(changes) = &report.changes else { return };
    page.push_str("<h2>Against the baseline</h2><ul>");
    let lists = [("worse", "bad", &changes.regressions), ("better", "good", &changes.improvements)];
    for (word, class, list) in lists {
        for change in list {
            let (before, now) = (percent(change.before), percent(change.now));
            let _ = write!(
                page,
                "<li><b class=\"{class}\">{word}</b> {}: {before} → {now}</li>",
                escape(&change.name)
            );
        }
    }
    for name in &changes.missing {
        let _ = write!(page, "<li><b>gone</b> {}</li>", escape(name));
    }
    if changes.regressions.is_empty() {
        page.push_str("<li>no case became worse</li>");
    }
    page.push_str("</ul>");
}

fn cases(title: &str, results: &[&CaseResult], page: &mut String) {
    if !results.is_empty() {
        let _ = write!(page, "<h2>{title}</h2>");
    }
    results.iter().for_each(|result| case(result, page));
}

fn case(result: &CaseResult, page: &mut String) {
    let (class, mark, open) = match (result.passed, result.variant) {
        (true, _) => ("good", "✓", ""),
        (false, Variant::With) => ("bad", "✗", " open"),
        (false, Variant::Without) => ("plain", "–", ""),
    };
    let variant = if result.variant == Variant::Without { " · without the skill" } else { "" };
    let _ = write!(
        page,
        "<details{open}><summary><b class=\"{class}\">{mark}</b> {} <small>run {}{variant}</small></summary><p class=\"request\">{}</p>",
        escape(&result.name()),
        result.number,
        escape(&result.input)
    );
    if let Some(error) = &result.error {
        let _ = write!(page, "<p class=\"bad\">{}</p>", escape(error));
    }
    if let Some(verdict) = &result.verdict {
        page.push_str("<table><thead><tr><th></th><th>dimension</th><th>what</th><th>events</th></tr></thead><tbody>");
        let mut checks: Vec<_> = verdict.checks.iter().collect();
        checks.sort_by_key(|check| check.passed);
        for check in checks {
            let (class, mark) = if check.passed { ("good", "✓") } else { ("bad", "✗") };
            let events: Vec<String> = check.events.iter().map(u64::to_string).collect();
            let _ = write!(
                page,
                "<tr><td class=\"{class}\">{mark}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                check.dimension.as_str(),
                escape(&check.message),
                events.join(", ")
            );
        }
        page.push_str("</tbody></table>");
    }
    for graded in &result.graded {
        let (class, mark, said) = match (graded.judged, graded.passed) {
            (false, _) => ("", "–", ""),
            (true, true) => ("good", "✓", "judged by a model: "),
            (true, false) => ("bad", "✗", "judged by a model: "),
        };
        let _ = write!(
            page,
            "<p><b class=\"{class}\">{mark}</b> {} <small>{said}{}</small></p>",
            escape(&graded.text),
            escape(&graded.evidence)
        );
    }
    if let Some(answer) = &result.answer {
        let _ = write!(page, "<pre>{}</pre>", escape(answer));
    }
    let _ = write!(page, "<p><small>record: {}</small></p></details>", escape(&result.record));
}

fn plots(report: &Report, page: &mut String) {
    let summary = &report.summary;
    if summary.runs == 0 {
        return;
    }
    page.push_str("<h2>Figures</h2>");
    let dimensions: Vec<Bar> = summary
        .dimensions
        .iter()
        .map(|(dimension, score)| Bar {
            label: dimension.as_str().to_owned(),
            share: *score,
            value: percent(*score),
            is_good: *score >= 1.0,
        })
        .collect();
    page.push_str(&bars("Share of checks that hold, by dimension", &dimensions, None));
    let rates: Vec<Bar> = summary
        .trigger_rates
        .iter()
        .map(|rate| Bar {
            label: format!("{} {}", if rate.should_trigger { "+" } else { "−" }, rate.query),
            share: rate.rate,
            value: format!("{:.2}", rate.rate),
            is_good: rate.passed,
        })
        .collect();
    if !rates.is_empty() {
        page.push_str(&bars(
            "Trigger rates (+ should, − should not)",
            &rates,
            Some(summary.trigger_threshold),
        ));
    }
    let costs: Vec<Cost> =
        report.counted().filter_map(|result| Some(result.verdict.as_ref()?.cost)).collect();
    let values = |value: fn(&Cost) -> f64| costs.iter().map(value).collect::<Vec<_>>();
    page.push_str(&histogram("Time of a run", &values(|cost| cost.milliseconds as f64), "ms"));
    page.push_str(&histogram("Tokens of a run", &values(|cost| cost.tokens() as f64), "tokens"));
    let money: Vec<f64> = costs.iter().filter_map(|cost| cost.cost_usd).collect();
    if !money.is_empty() {
        page.push_str(&histogram("Cost of a run", &money, "USD"));
    }
}

fn comparison(report: &Report, page: &mut String) {
    let Some(benchmark) = &report.benchmark else { return };
    let run = &benchmark.run_summary;
    let _ = write!(page, "<h2>With and without {}</h2>", escape(&benchmark.skill));
    let sides =
        [("with", run.with_skill.pass_rate.mean), ("without", run.without_skill.pass_rate.mean)];
    let shown = sides.map(|(label, rate)| Bar {
        label: label.to_owned(),
        share: rate,
        value: percent(rate),
        is_good: label == "with",
    });
    page.push_str(&bars("Share of checks that hold", &shown, None));
    page.push_str("<table><thead><tr><th></th><th>with</th><th>without</th><th>difference</th></tr></thead><tbody>");
    for (what, with, without, delta) in run.rows() {
        let _ = write!(
            page,
            "<tr><td>{what}</td><td>{with}</td><td>{without}</td><td>{delta:+.2}</td></tr>"
        );
    }
    page.push_str("</tbody></table>");
}

/// Text that stands for itself in HTML, also inside an attribute; hidden characters are spelled out.
pub(super) fn escape(text: &str) -> String {
    let shown: Cow<'_, str> = basics::text::for_terminal_block(text);
    let mut escaped = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

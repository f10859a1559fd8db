//! What came of a run of a suite, on a terminal: what needs looking at, then the figures.

use std::io::Write;

use basics::text::for_terminal;
use eval::report::{AssertionSummary, Report, failures};

use crate::output::{Palette, count};

pub(super) fn print(report: &Report, out: &mut dyn Write, palette: Palette) -> std::io::Result<()> {
    let Palette { bold, dim, good, bad, .. } = palette;
    for result in report.failed() {
        writeln!(out, "{bad}✗{bad:#} {bold}{}{bold:#}", for_terminal(&result.name()))?;
        for failure in failures(result) {
            writeln!(out, "    {}", for_terminal(&failure))?;
        }
    }
    for rate in report.summary.trigger_rates.iter().filter(|rate| !rate.passed) {
        let wanted = if rate.should_trigger { "should trigger" } else { "should not trigger" };
        writeln!(
            out,
            "{bad}✗{bad:#} {:.2} {dim}{wanted}{dim:#} {}",
            rate.rate,
            for_terminal(&rate.query)
        )?;
    }
    if let Some(changes) = &report.changes {
        for change in &changes.regressions {
            writeln!(
                out,
                "{bad}worse{bad:#} {}: {:.2}, was {:.2}",
                for_terminal(&change.name),
                change.now,
                change.before
            )?;
        }
    }
    for name in report.changes.iter().flat_map(|changes| &changes.missing) {
        writeln!(out, "{dim}gone{dim:#} {}", for_terminal(name))?;
    }
    let summary = &report.summary;
    let unreadable = report.problems.len();
    let mark = if summary.failed + unreadable == 0 { good } else { bad };
    for problem in &report.problems {
        writeln!(out, "{bad}✗{bad:#} {}", for_terminal(problem))?;
    }
    writeln!(out, "{mark}{} of {} passed{mark:#}", summary.passed, count(summary.cases, "case"))?;
    if let Some(AssertionSummary { passed, total }) = summary.assertions {
        let all = count(total, "assertion");
        writeln!(out, "{passed} of {all} true (judged by a model)")?;
    }
    for (why, number) in report.unjudged() {
        let were = if number == 1 { "was" } else { "were" };
        let all = count(number, "assertion");
        writeln!(out, "{all} {were} not judged: {}", for_terminal(why))?;
    }
    if let Some(benchmark) = &report.benchmark {
        let run = &benchmark.run_summary;
        writeln!(out, "{:<10} {:>18} {:>18} {:>12}", "", "with", "without", "difference")?;
        for (what, with, without, delta) in run.rows() {
            writeln!(out, "{what:<10} {with:>18} {without:>18} {delta:>+12.2}")?;
        }
    }
    Ok(())
}

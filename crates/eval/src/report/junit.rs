//! The report as JUnit XML, for continuous integration.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::{NO_GRADER, Report};
use crate::runner::CaseResult;

/// The report as JUnit XML: a suite of tests for each suite of cases.
pub fn junit(report: &Report) -> String {
    let mut document = Document::new("skillful eval");
    let results: Vec<&CaseResult> = report.counted().collect();
    for runs in results.chunk_by(|a, b| a.suite == b.suite) {
        let mut suite = TestSuite::new(lawful(&runs[0].suite));
        suite.add_test_cases(runs.iter().map(|run| test(run, report.is_well(run))));
        document.add_test_suite(suite);
    }
    document.to_string().unwrap_or_default()
}

fn test(result: &CaseResult, is_well: bool) -> TestCase {
    let status = if is_well {
        TestCaseStatus::success()
    } else {
        let kind =
            if result.verdict.is_some() { NonSuccessKind::Failure } else { NonSuccessKind::Error };
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(lawful(&super::markdown::failures(result).join("\n")));
        status
    };
    let name = if result.number > 1 {
        format!("{} #{}", result.id, result.number)
    } else {
        result.id.clone()
    };
    let mut case = TestCase::new(lawful(&name), status);
    case.set_classname(lawful(&result.suite));
    let mut judged: Vec<String> = super::markdown::judgements(result).collect();
    if result.unjudged > 0 {
        judged.push(format!("{} assertions not judged: {NO_GRADER}", result.unjudged));
    }
    if !judged.is_empty() {
        case.set_system_out(lawful(&judged.join("\n")));
    }
    if let Some(verdict) = &result.verdict {
        case.set_time(Duration::from_millis(verdict.cost.milliseconds));
    }
    case
}

/// Two characters that XML knows no way to write; the library takes care of the others.
fn lawful(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use super::*;
use crate::grade::Graded;
use crate::judge::{Check, Verdict};

/// A result with one check of the answer.
pub(crate) fn result(suite: &str, id: &str, number: u32, passed: bool) -> CaseResult {
    let message = if passed { "the answer contains \"x\"" } else { "the answer lacks \"x\"" };
    let check = Check {
        dimension: Dimension::Output,
        passed,
        message: message.to_owned(),
        events: vec![7],
    };
    let cost = Cost {
        input_tokens: 100,
        output_tokens: 50,
        milliseconds: 20,
        turns: 2,
        ..Cost::default()
    };
    CaseResult {
        suite: suite.to_owned(),
        id: id.to_owned(),
        input: "go".to_owned(),
        number,
        variant: Variant::With,
        passed,
        should_trigger: None,
        error: None,
        verdict: Some(Verdict {
            error: None,
            checks: vec![check],
            triggered: Triggered::default(),
            cost,
        }),
        answer: Some("x".to_owned()),
        graded: Vec::new(),
        unjudged: 0,
        record: "records/a.jsonl".to_owned(),
        fingerprint: None,
    }
}

fn report(results: Vec<CaseResult>) -> Report {
    let about = About { created: "2026-11-15T08:30:00Z".to_owned(), ..About::default() };
    Report::new(about, results)
}

#[test]
fn cases_are_counted_by_their_runs() {
    let summary = report(vec![
        result("s", "a", 1, true),
        result("s", "a", 2, false),
        result("s", "b", 1, true),
        result("t", "a", 1, false),
    ])
    .summary;
    assert_eq!((summary.cases, summary.runs, summary.passed, summary.failed), (3, 4, 1, 2));
    assert!((summary.pass_rate - 0.5).abs() < 1e-9);
    assert_eq!(summary.dimensions, BTreeMap::from([(Dimension::Output, 0.5)]));
    assert_eq!(summary.cost.input_tokens, 400);
    assert!((report(Vec::new()).summary.pass_rate - 1.0).abs() < 1e-9, "nothing failed");
}

fn query(text: &str, should_trigger: bool, chosen: &[bool]) -> Vec<CaseResult> {
    let run = |(place, chosen): (usize, &bool)| {
        let mut one = result("s", text, place as u32 + 1, *chosen == should_trigger);
        one.input = text.to_owned();
        one.should_trigger = Some(should_trigger);
        let verdict = one.verdict.as_mut().unwrap();
        verdict.checks[0].dimension = Dimension::Trigger;
        let counts = &mut verdict.triggered;
        match (should_trigger, chosen) {
            (true, true) => counts.right = 1,
            (true, false) => counts.missed = 1,
            (false, true) => counts.wrong = 1,
            (false, false) => {}
        }
        one
    };
    chosen.iter().enumerate().map(run).collect()
}

#[test]
fn a_query_is_right_where_its_rate_is_on_the_right_side_of_a_half() {
    let mut results = query("yes", true, &[true, false]);
    results.extend(query("seldom", true, &[true, false, false]));
    results.extend(query("no", false, &[false, false, true]));
    results.extend(query("too often", false, &[true, false]));
    let stricter = About { trigger_threshold: 0.6, ..About::default() };
    let strict = Report::new(stricter, results.clone()).summary.trigger_rates;
    let strict: Vec<bool> = strict.iter().map(|rate| rate.passed).collect();
    assert_eq!(strict, [true, false, true, false], "half is too seldom now");
    let summary = report(results).summary;
    let rates: Vec<(&str, bool)> =
        summary.trigger_rates.iter().map(|rate| (rate.query.as_str(), rate.passed)).collect();
    assert_eq!(rates, [("no", true), ("seldom", false), ("too often", false), ("yes", true)]);
    assert_eq!((summary.passed, summary.failed), (2, 2));
    let mut broken = query("no", false, &[false]);
    broken[0].error = Some("was killed".to_owned());
    assert_eq!(report(broken).summary.failed, 1, "a run that broke is no success");
}

#[test]
fn another_skill_than_the_one_in_question_does_not_count_as_triggered() {
    let mut results = query("yes", true, &[false]);
    results.extend(query("no", false, &[false]));
    for one in &mut results {
        one.verdict.as_mut().unwrap().triggered.wrong = u32::from(one.should_trigger == Some(true));
    }
    let rates = report(results).summary.trigger_rates;
    let rates: Vec<(&str, f64, bool)> =
        rates.iter().map(|rate| (rate.query.as_str(), rate.rate, rate.passed)).collect();
    assert_eq!(rates, [("no", 0.0, true), ("yes", 0.0, false)]);
}

#[test]
fn a_query_with_the_right_rate_fails_where_a_promise_was_broken() {
    let mut results = query("yes", true, &[true]);
    results[0].passed = false;
    let checks = &mut results[0].verdict.as_mut().unwrap().checks;
    checks[0].dimension = Dimension::Security;
    checks[0].passed = false;
    assert_eq!(report(results).summary.failed, 1);
}

#[test]
fn a_run_that_its_query_can_afford_is_no_failure_in_any_report() {
    let report = report(query("yes", true, &[true, true, false]));
    assert_eq!((report.summary.passed, report.failed().count()), (1, 0));
    assert!(!markdown(&report).contains("## Failures"));
    assert!(!html(&report).contains("<h2>Failures"));
    assert!(!junit(&report).contains("<failure"));
}

#[test]
fn every_report_says_how_many_sentences_were_not_judged() {
    let mut one = result("s", "a", 1, true);
    one.unjudged = 3;
    let report = report(vec![one]);
    assert_eq!(report.summary.unjudged, 3);
    assert!(markdown(&report).contains("| assertions not judged | 3 |"));
    assert!(html(&report).contains("<dt>assertions not judged</dt><dd>3</dd>"));
    assert!(junit(&report).contains("3 assertions not judged: no --model and no --grader"));
}

#[test]
fn queries_are_split_the_same_way_every_time() {
    let rates: Vec<TriggerRate> = (0..10)
        .map(|number| TriggerRate {
            name: String::new(),
            query: format!("q{number}"),
            should_trigger: number < 5,
            rate: 1.0,
            passed: true,
        })
        .collect();
    let names = |rates: &[TriggerRate]| {
        let mut names: Vec<String> = rates.iter().map(|rate| rate.query.clone()).collect();
        names.sort();
        names
    };
    let (train, validation) = split(rates.clone());
    assert_eq!((train.len(), validation.len()), (6, 4));
    assert_eq!(validation.iter().filter(|rate| rate.should_trigger).count(), 2);
    let (again, _) = split(rates.into_iter().rev().collect());
    assert_eq!(names(&again), names(&train));
}

#[test]
fn nearly_all_is_not_all() {
    for (share, text) in
        [(1.0, "100 %"), (0.9996, "99.9 %"), (0.5, "50 %"), (0.0, "0 %"), (0.125, "12.5 %")]
    {
        assert_eq!(percent(share), text);
    }
}

const HOSTILE: &str = "</pre></script><script>alert(1)</script>\"'><img src=x onerror=y>&amp;\u{202e}\u{1b}[31m|`x`]]>";

fn hostile() -> Report {
    let mut one = result(HOSTILE, HOSTILE, 1, false);
    one.input = HOSTILE.to_owned();
    one.error = Some(HOSTILE.to_owned());
    one.answer = Some(HOSTILE.to_owned());
    one.record = HOSTILE.to_owned();
    one.should_trigger = Some(true);
    one.graded = vec![Graded {
        text: HOSTILE.to_owned(),
        passed: true,
        judged: true,
        evidence: HOSTILE.to_owned(),
    }];
    one.verdict.as_mut().unwrap().checks[0].message = HOSTILE.to_owned();
    let about = About {
        created: HOSTILE.to_owned(),
        model: Some(HOSTILE.to_owned()),
        problems: vec![HOSTILE.to_owned()],
        compared: Some(HOSTILE),
        ..About::default()
    };
    let mut report = Report::new(about, vec![one]);
    let empty = Report::new(About::default(), Vec::new());
    report.changes = Some(Changes::between(&report.results, &empty.results));
    report
}

#[test]
fn hostile_text_is_text_in_every_report() {
    let report = hostile();
    let page = html(&report);
    assert!(
        !page.contains("<script") && !page.contains("<img") && !page.contains('\u{202e}'),
        "{page}"
    );
    assert_eq!(page.matches("</pre>").count(), page.matches("<pre>").count());
    assert!(!page.contains('\u{1b}'));
    let text = markdown(&report);
    let ours = |line: &str| line.strip_prefix("> ").unwrap_or(line).to_owned();
    for line in text.lines().map(ours) {
        assert!(!line.contains(['<', '>', '\u{1b}', '\u{202e}']), "{line}");
        let is_bare = |at: usize, mark: &str| mark == "`" && !line[..at].ends_with('\\');
        let bare = line.match_indices('`').find(|(at, mark)| is_bare(*at, mark));
        assert_eq!(bare, None, "{line}");
    }
    let xml = junit(&report);
    assert!(!xml.contains("<script") && !xml.contains('\u{1b}'), "{xml}");
    let again: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(again, report);
}

#[test]
fn text_of_strangers_is_text_in_markdown() {
    for (text, shown) in [
        ("plain words, (event 7): \"x\"", "plain words, (event 7): \"x\""),
        ("<img src=x onerror=y> &lt;", "&lt;img src=x onerror=y&gt; &amp;lt;"),
        ("`code` *bold* _thin_ ~gone~", "\\`code\\` \\*bold\\* \\_thin\\_ \\~gone\\~"),
        ("[a](javascript:b) ![c](d)", "\\[a\\](javascript:b) \\!\\[c\\](d)"),
        ("see https://a.b or www.c.d", "see https:\\//a.b or www\\.c.d"),
        ("mail me@a.b, @you", "mail me\\@a.b, \\@you"),
        ("- item", "\\- item"),
        ("+ item", "\\+ item"),
        ("=== title", "\\=== title"),
        ("1. item 2. more", "1\\. item 2. more"),
        ("12) item", "12\\) item"),
        ("# title | cell", "\\# title \\| cell"),
        ("a\\b", "a\\\\b"),
        ("two\n\n    lines", "two lines"),
    ] {
        let mut one = result("s", "a", 1, false);
        one.input = text.to_owned();
        assert!(markdown(&report(vec![one])).contains(&format!("\n> {shown}\n")), "{text}");
    }
}

#[test]
fn a_page_is_made_of_none_one_and_a_thousand_cases() {
    for cases in [0, 1, 1_000] {
        let results =
            (0..cases).map(|number| result("s", &format!("case-{number}"), 1, number % 7 != 0));
        let page = html(&report(results.collect()));
        assert_eq!(page.matches("<details").count(), cases);
        assert!(page.ends_with("</main></body></html>\n"));
    }
}

#[test]
fn the_page_has_a_plot_of_each_kind_of_figure() {
    let mut results = query("sum it", true, &[true, false]);
    results.push(result("s", "a", 1, true));
    results[2].verdict.as_mut().unwrap().cost.cost_usd = Some(0.25);
    let mut other = result("s", "a", 1, false);
    other.variant = Variant::Without;
    results.push(other);
    let about = About { compared: Some("csv"), trigger_threshold: 0.75, ..About::default() };
    let page = html(&Report::new(about, results));
    let (before, after) = page.split_once("<h3>Trigger rates").unwrap();
    for title in
        ["dimension", "Time of a run", "Tokens of a run", "Cost of a run", "checks that hold"]
    {
        assert!(before.contains(title) || after.contains(title), "{title}");
    }
    let plot = after.split_once("</svg>").unwrap().0;
    assert!(plot.contains("+ sum it</text>") && plot.contains(">0.50</text>"), "{plot}");
    assert!(plot.contains("<line class=\"mark\" x1=\"467.5\""), "at the threshold: {plot}");
    assert_eq!(page.matches("<svg").count(), 6);
    assert_eq!(page.matches("</svg>").count(), 6);
}

#[test]
fn what_a_model_judged_is_shown_with_its_evidence() {
    let mut one = result("s", "a", 1, true);
    let graded = |text: &str, passed, evidence: &str| Graded {
        text: text.to_owned(),
        passed,
        judged: true,
        evidence: evidence.to_owned(),
    };
    one.graded =
        vec![graded("It says 3", true, "3 rows"), graded("It is short", false, "too long")];
    let report = report(vec![one]);
    let text = markdown(&report);
    assert!(text.contains("| assertions, judged by a model | 1 of 2 |"), "{text}");
    assert!(text.contains("- ✓ s/a (run 1): It says 3 (evidence: 3 rows)"), "{text}");
    assert!(text.contains("- ✗ s/a (run 1): It is short (evidence: too long)"), "{text}");
    assert!(html(&report).contains("judged by a model: 3 rows"));
    let xml = junit(&report);
    assert!(xml.contains("It is short (evidence: too long)") && !xml.contains("<failure"), "{xml}");
}

#[test]
fn failures_come_first_with_their_events() {
    insta::assert_snapshot!(markdown(&report(vec![result("s", "good", 1, true), result("s", "wrong", 1, false)])), @r#"
    # Evals

    1 of 2 cases passed (50 %), 2 runs, model: scripted or offline.

    ## Failures

    ### s/wrong (run 1)

    > go

    - output: the answer lacks "x" (event 7)
    - record: records/a.jsonl

    ## Figures

    | what | value |
    | --- | ---: |
    | output | 50 % |
    | tokens read, written | 200, 100 |
    | time of all runs | 0.0 s |
    "#);
}

#[test]
fn junit_holds_no_character_that_xml_forbids() {
    let every: String = ('\0'..=char::MAX).filter(|c| *c < '\u{11000}').collect();
    let mut wrong = result(&every, &every, 1, false);
    wrong.error = Some(every);
    let is_lawful = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let xml = junit(&report(vec![wrong]));
    assert_eq!(xml.chars().find(|c| !is_lawful(*c)), None);
}

#[test]
fn junit_has_a_test_for_each_run() {
    let mut crashed = result("s", "crashed", 1, false);
    crashed.verdict = None;
    crashed.error = Some("was killed by signal 9".to_owned());
    insta::assert_snapshot!(junit(&report(vec![result("s", "good", 1, true), result("s", "wrong", 1, false), crashed])), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="skillful eval" tests="3" skipped="0" failures="1" errors="1">
        <testsuite name="s" tests="3" skipped="0" errors="1" failures="1">
            <testcase name="crashed" classname="s">
                <error message="was killed by signal 9"/>
            </testcase>
            <testcase name="good" classname="s" time="0.020"/>
            <testcase name="wrong" classname="s" time="0.020">
                <failure message="output: the answer lacks &quot;x&quot; (event 7)"/>
            </testcase>
        </testsuite>
    </testsuites>
    "#);
}

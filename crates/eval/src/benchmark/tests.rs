#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use super::*;
use crate::report::tests::result;

#[test]
fn mean_and_deviation_are_those_of_a_sample() {
    assert_eq!(Spread::of(&[]), Spread { mean: 0.0, stddev: 0.0 });
    assert_eq!(Spread::of(&[3.0]), Spread { mean: 3.0, stddev: 0.0 });
    assert_eq!(Spread::of(&[2.0, 4.0, 6.0]), Spread { mean: 4.0, stddev: 2.0 });
}

#[test]
fn both_sides_are_compared_without_asking_whether_the_skill_was_chosen() {
    let mut results = Vec::new();
    for (variant, passed) in [
        (Variant::With, true),
        (Variant::With, true),
        (Variant::Without, false),
        (Variant::Without, true),
    ] {
        let mut one = result("s", "a", 1, passed);
        one.variant = variant;
        results.push(one);
    }
    let summary = Benchmark::of("csv", &results).run_summary;
    assert_eq!(summary.with_skill.pass_rate, Spread { mean: 1.0, stddev: 0.0 });
    assert_eq!(summary.without_skill.pass_rate.mean, 0.5);
    assert_eq!(summary.delta.pass_rate, 0.5);
    assert_eq!(summary.with_skill.tokens.mean, 150.0);
}

#[test]
fn sentences_judged_by_a_model_have_a_row_of_their_own() {
    let graded =
        |passed| Graded { text: String::new(), passed, judged: true, evidence: String::new() };
    let mut results = Vec::new();
    for (variant, judged) in [(Variant::With, true), (Variant::Without, false)] {
        let (mut checked, mut both) = (result("s", "a", 1, true), result("s", "b", 1, true));
        (checked.variant, both.variant) = (variant, variant);
        both.graded = vec![graded(judged), graded(false)];
        results.extend([checked, both]);
    }
    let summary = Benchmark::of("csv", &results).run_summary;
    let rows: Vec<(&str, f64, f64, f64)> = summary
        .rows()
        .into_iter()
        .map(|(what, with, without, delta)| (what, with.mean, without.mean, delta))
        .collect();
    assert_eq!(rows[..2], [("checks", 1.0, 1.0, 0.0), ("assertions", 0.5, 0.0, 0.5)]);
    let without_any = Benchmark::of("csv", &results[..1]).run_summary;
    assert!(without_any.rows().iter().all(|row| row.0 != "assertions"));
}

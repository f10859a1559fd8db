//! How a run ends when it cannot go on.

use serde_json::json;

use super::super::tests::{Raw, Usage};
use super::super::*;
use super::{answer, asks, decided, fine, invalid, play, script, select, setup, tool};
use crate::budget::Budget;
use crate::reply::Reply;
use crate::request::Refusal;

fn fails(request: &Request) -> Observation {
    match request.action {
        Action::SelectSkills { .. } => fine(request),
        _ => Observation::failed(&Refusal::new("IOError", "broken", "mend it")),
    }
}

#[test]
fn replies_that_cannot_be_understood_are_corrected_twice_then_the_run_ends() {
    let mended = play(setup(), vec![invalid(), invalid(), decided(answer("at last"))]).played();
    assert_eq!(mended.stop(), (StopReason::FinalAnswer, "at last"));
    assert_eq!(mended.run.spent().turns, 1);
    let broken = play(setup(), vec![invalid(), invalid(), invalid()]).played();
    assert_eq!(broken.stop().0, StopReason::InvalidOutput);
    assert_eq!(broken.data("model_request").len(), 3);
    assert!(broken.data("action_planned").is_empty());
}

#[test]
fn every_budget_ends_the_run_with_an_answer_that_says_what_was_done() {
    let endless = || {
        (0..50).map(|n| decided(json!({"type": "call_tool", "payload": {"tool": "grep", "params": {"path": format!("{n}")}}}))).collect::<Vec<_>>()
    };
    type Limit = fn(&mut Budget);
    let cases: [(Limit, StopReason); 5] = [
        (|budget| budget.max_turns = 3, StopReason::MaxTurns),
        (|budget| budget.max_wall_seconds = 0, StopReason::MaxWallSeconds),
        (|budget| budget.max_context_chars = 100, StopReason::MaxContextChars),
        (|budget| budget.max_output_tokens = Some(12), StopReason::MaxOutputTokens),
        (|budget| budget.max_cost_usd = Some(0.0), StopReason::MaxCostUsd),
    ];
    for (limit, reason) in cases {
        let mut setup = setup();
        limit(&mut setup.budget);
        let play = play(setup, endless()).played();
        assert_eq!(play.stop().0, reason);
        assert!(play.stop().1.contains(reason.describe()), "{}", play.stop().1);
    }
}

#[test]
fn tools_beyond_their_budget_are_refused_and_the_model_may_still_answer() {
    let mut setup = setup();
    setup.budget.max_tool_calls = 1;
    let play = play(
        setup,
        vec![decided(tool("grep")), decided(tool("read_file")), decided(answer("enough"))],
    )
    .played();
    assert_eq!(play.codes(), [None, Some("BudgetExceeded")]);
    assert_eq!(play.stop(), (StopReason::FinalAnswer, "enough"));
}

#[test]
fn the_same_failure_three_times_in_a_row_ends_the_run() {
    let replies = vec![
        decided(tool("grep")),
        decided(tool("grep")),
        decided(tool("read_file")),
        decided(tool("grep")),
        decided(tool("grep")),
        decided(tool("grep")),
    ];
    let mut play = play(setup(), replies);
    play.perform = fails;
    let play = play.played();
    assert_eq!(play.stop().0, StopReason::RepeatedFailure);
    assert_eq!(play.codes().len(), 6);
}

#[test]
fn an_unreachable_model_ends_the_run_with_the_reason() {
    let failed = |summary: Option<&str>| Reply::Failed {
        code: "Unauthorized".to_owned(),
        message: "`server` refused the key (401)".to_owned(),
        retry_after_ms: None,
        summary: summary.map(str::to_owned),
    };
    let check = |summary: Option<&str>, first: &str| {
        let play = play(setup(), vec![failed(summary)]).played();
        assert_eq!(play.stop().0, StopReason::ModelError);
        let expected = format!(
            "The run stopped before it was finished: {first}.\n\nWhat went wrong:\n- Unauthorized: `server` refused the key (401)\n"
        );
        assert_eq!(play.stop().1, expected);
    };
    check(Some("the server refused the key"), "the server refused the key");
    // As records of earlier versions have it.
    check(None, "the model could not be reached");
}

#[test]
fn what_the_model_is_told_about_its_reply_is_not_what_the_user_reads() {
    let broken = |answer: Option<&str>| Reply::Invalid {
        problem: "words for the model".to_owned(),
        usage: Usage::default(),
        raw: Raw::default(),
        summary: Some("words for the user".to_owned()),
        answer: answer.map(str::to_owned),
    };
    let play = play(setup(), vec![broken(None), broken(Some("too early")), broken(None)]).played();
    let (stop, answer) = play.stop();
    assert_eq!(stop, StopReason::InvalidOutput);
    assert!(answer.ends_with("- InvalidAction: words for the user\n"), "{answer}");
    let errors = play.events.iter().filter(|event| matches!(event.data, EventData::Error(_)));
    let errors: String = errors.map(|error| format!("{error:?}")).collect();
    assert_eq!(errors.matches("words for the user").count(), 3);
    assert!(!errors.contains("words for the model"), "{errors}");
}

#[test]
fn text_that_stays_text_after_the_last_correction_is_the_answer() {
    let broken = |answer: &str| Reply::Invalid {
        problem: "no action".to_owned(),
        usage: Usage::default(),
        raw: Raw::default(),
        summary: Some("no action".to_owned()),
        answer: Some(answer.to_owned()),
    };
    let play = play(setup(), vec![broken("one"), broken("two"), broken("three")]).played();
    assert_eq!(play.stop(), (StopReason::FinalAnswer, "three"));
}

#[test]
fn a_cancelled_run_ends_at_any_step() {
    for steps in 0..6 {
        let mut play = play(
            setup(),
            vec![decided(select(&["alpha"])), decided(script("alpha", "scripts/a.sh"))],
        );
        play.prepare = asks;
        (0..steps).for_each(|_| play.step());
        play.run.advance(Input::Cancelled, 1).unwrap();
        assert_eq!(play.run.outcome().unwrap().stop_reason, StopReason::Cancelled);
        assert!(play.run.advance(Input::Cancelled, 2).is_err());
    }
}

use agent::action::Action;
use agent::budget::Usage;
use agent::reply::Reply;

use crate::decision::{Problem, reply, settle};

/// What a reply comes to: the answer, an answer if nothing better comes, or what is wrong.
fn outcome(reply: Reply) -> String {
    match reply {
        Reply::Decided { decision, unstructured, .. } => match decision.action {
            Action::FinalAnswer { content } if unstructured => format!("answer: {content}"),
            action => action.summary(),
        },
        Reply::Invalid { answer: Some(answer), .. } => format!("perhaps: {answer}"),
        Reply::Invalid { summary, .. } => summary.unwrap_or_default(),
        Reply::Failed { code, .. } => code,
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(outcome(reply(text, Usage::default())), expected, "{text}");
}

const BROKEN: &str = "the model did not reply in the form that it was asked for";

#[test]
fn text_without_an_action_is_the_answer() {
    for text in [
        "Twelve rows.",
        "42",
        "true",
        "# Rows\n\n- one {a}\n- two",
        "Use `{\"name\": \"x\", \"version\": 1}` in the file.",
        "Two of them: {\"a\": 1} and {\"b\": 2}.",
        "The webhook says {\"action\": \"opened\"}.",
        "Half an example: {\"a\":",
        "The tool is called \"read_file\".",
        "Write `<b>` and a < b.",
    ] {
        check(text, &format!("answer: {text}"));
    }
    check("\n  spaced  \n", "answer: spaced");
    check(r#""in quotes""#, "answer: in quotes");
}

#[test]
fn what_the_model_thinks_is_no_part_of_it() {
    check("<think>hm {\"a\": 1}</think>\nTwelve.", "answer: Twelve.");
    check("hm\n</THINK>Twelve.", "answer: Twelve.");
    check("One <thinking>x</thinking>two", "answer: One two");
    for nothing in ["", " \n", "<think>hm</think>", "<think>never closed", "x</think> "] {
        check(nothing, "the model's reply was empty");
    }
}

#[test]
fn data_is_the_answer_only_if_nothing_better_comes() {
    for text in [
        r#"{"rows": 12}"#,
        r#"{"passed": true, "evidence": "x"}"#,
        "```json\n{\"rows\": 12}\n```",
        "[1, 2]",
        "{'rows': 12}",
        "{\"rows\":",
        "null",
    ] {
        check(text, &format!("perhaps: {text}"));
    }
}

#[test]
fn an_action_that_went_wrong_is_never_an_answer() {
    for text in [
        r#"{"action":"#,
        r#"{"action": {"type": "fly", "payload": {}}}"#,
        r#"{"action": "a reply that was no decision"}"#,
        r#"{"type": "fly", "payload": {"to": "x"}}"#,
        r#"I read it first. {"tool": "read_file", "path": "a"}"#,
        r#"{"name": "read_file", "arguments": 7}"#,
        r#"{'type': 'final_answer', 'content': 'x'}"#,
        r#"Sure: {"action": {"type": "final_answer", "payload": {"content": "one"}}} {"x": 1}"#,
        "```\n{\"action\" : {\"type\": \"final_answer\"",
    ] {
        check(text, BROKEN);
    }
}

#[test]
fn a_text_without_its_end_or_with_several_calls_is_asked_for_again() {
    let settled = |problem, text: &str| outcome(settle(Err(problem), text, Usage::default()));
    assert_eq!(settled(Problem::CutOff, "Once upon a"), "perhaps: Once upon a");
    assert!(settled(Problem::CutOff, r#"{"action": {"type"#).contains("`model.max_tokens`"));
    assert_eq!(settled(Problem::SeveralCalls { calls: 2 }, "I do both."), BROKEN);
}

#[test]
fn hostile_texts_are_read_in_linear_time() {
    for part in ["<", "<think>", "</think>", "\"action\"", "{\"", "<thinking"] {
        let text = part.repeat(900_000 / part.len());
        outcome(reply(&text, Usage::default()));
    }
}

//! Replies in pieces in, what is shown of them out.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;
use crate::decision::tests::properties::{decision, noise};
use crate::decision::{parse, text_of};

/// What is shown, as lines; pieces of the answer that follow each other are joined.
fn shown<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, end: Option<&Decision>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut show = |shown: Shown<'_>| match (shown, lines.last_mut()) {
        (Shown::Action(kind), _) => lines.push(format!("action {kind}")),
        (Shown::Skill(name), _) => lines.push(format!("skill {name}")),
        (Shown::Target(name), _) => lines.push(format!("target {name}")),
        (Shown::Answer(text), Some(line)) if line.starts_with("answer ") => line.push_str(text),
        (Shown::Answer(text), _) => lines.push(format!("answer {text}")),
    };
    let mut early = Early::new();
    for piece in pieces {
        early.push(piece, &mut show);
    }
    if let Some(decision) = end {
        early.finish(decision, &mut show);
    }
    lines
}

/// What a reply shows while it arrives, the same for every cut, and then by its end.
fn check(reply: &str, early: &[&str], end: &[&str]) {
    for cut in 0..=reply.len() {
        let (left, right) = reply.as_bytes().split_at(cut);
        assert_eq!(shown([left, right], None), early, "cut at {cut}: {reply}");
    }
    assert_eq!(shown(reply.as_bytes().chunks(1), None), early, "byte by byte: {reply}");
    let decision = parse(reply).ok().map(|understood| understood.decision);
    assert_eq!(shown([reply.as_bytes()], decision.as_ref()), [early, end].concat(), "{reply}");
}

#[test]
fn an_action_and_what_it_is_about_are_shown() {
    check(
        r#"{"action": {"type": "select_skills", "payload": {"skills": [{"name": "pdf"}, {"source": "user", "name": "caf\u00e9"}]}}}"#,
        &["action select_skills", "skill pdf", "skill café"],
        &[],
    );
    check(
        r#"{"action": {"type": "run_script", "payload": {"skill": "pdf", "relative_path": "scripts/a.sh"}}}"#,
        &["action run_script", "target scripts/a.sh"],
        &[],
    );
    check(
        r#"{"action": {"type": "call_tool", "payload": {"tool": "grep", "params": {"relative_path": "no"}}}}"#,
        &["action call_tool", "target grep"],
        &[],
    );
    check(
        r#"{"action": {"type": "call_tool", "payload": {"tool": "run_command", "params": {"command": "ls -l", "why": "w"}}}}"#,
        &["action call_tool", "target ls -l"],
        &[],
    );
    check(
        r#"{"action": {"type": "call_tool", "payload": {"tool": "grep", "params": {"command": "no"}}}}"#,
        &["action call_tool", "target grep"],
        &[],
    );
    check(
        r#"{"action": {"type": "call_tool", "payload": {"tool": "run_command", "params": {"comand": "ls"}}}}"#,
        &["action call_tool"],
        &["target run_command"],
    );
    check(
        r#"{"action": {"type": "load_chunk", "payload": {"skill": "pdf", "chunk_id": "c"}}}"#,
        &["action load_chunk"],
        &[],
    );
}

#[test]
fn an_answer_is_shown_as_it_is_written() {
    check(
        "```json\n{\"action\": {\"type\": \"final_answer\", \"payload\": {\"content\": \"é 🎈 \\ud83c\\udf88\\n\\\"x\\\"\"}}}\n```",
        &["action final_answer", "answer é 🎈 🎈\n\"x\""],
        &[],
    );
    check(
        r#"{"action": {"type": "final_answer", "payload": {"content": ""}}}"#,
        &["action final_answer"],
        &[],
    );
}

#[test]
fn what_comes_before_its_type_waits_for_it() {
    check(
        r#"{"action": {"payload": {"content": "hi", "reason": "r"}, "type": "final_answer"}}"#,
        &["action final_answer", "answer hi"],
        &[],
    );
    check(
        r#"{"action": {"payload": {"params": {"command": "ls"}, "tool": "run_command"}, "type": "call_tool"}}"#,
        &["action call_tool", "target ls"],
        &[],
    );
    check(
        r#"{"action": {"payload": {"tool": "grep", "params": {}}, "type": "call_tool"}}"#,
        &["action call_tool", "target grep"],
        &[],
    );
}

#[test]
fn what_could_not_be_shown_early_is_shown_at_the_end() {
    let answer = ["action final_answer", "answer hi"];
    check(
        r#"Sure: {"action": {"type": "final_answer", "payload": {"content": "hi"}}}"#,
        &[],
        &answer,
    );
    check(r#"{"type": "final_answer", "content": "hi"}"#, &[], &answer);
    check(r#"{"action": {"type": "final_answer", "content": "hi"}}"#, &answer[..1], &answer[1..]);
    check(
        r#"{"action": {"type": "select_skills", "payload": {"skills": ["a", {"name": "b"}]}}}"#,
        &["action select_skills", "skill b"],
        &["skill a"],
    );
}

#[test]
fn what_does_not_belong_to_the_action_is_not_shown() {
    check(
        r#"{"action": {"type": "call_tool", "payload": {"content": "no", "skills": [{"name": "no"}], "tool": "grep"}}}"#,
        &["action call_tool", "target grep"],
        &[],
    );
    check(r#"{"action": {"type": "dance", "payload": {"content": "no"}}}"#, &[], &[]);
    check(r#"{"action": {"payload": {"content": "no"}, "type": "dance"}}"#, &[], &[]);
    check(
        r#"{"action": {"type": "call_tool", "type": "final_answer", "payload": {"content": "no"}}}"#,
        &["action call_tool"],
        &[],
    );
    check(
        r#"{"content": "no", "payload": {"content": "no"}, "action": {"type": "final_answer", "payload": {"content": "hi"}}}"#,
        &["action final_answer", "answer hi"],
        &[],
    );
}

#[test]
fn a_reply_over_the_limit_is_not_piled_up() {
    let mut early = Early::new();
    let mut held = 0;
    early.push(br#"{"action": {"payload": {"content": ""#, &mut |_| {});
    for _ in 0..20 {
        early.push(&[b'x'; 100_000], &mut |_| {});
        held = early.known.held.iter().map(|(_, text)| text.len()).sum();
    }
    assert_eq!(held, 900_000);
}

fn pieces<'a>(reply: &'a str, cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(reply.len() + 1)).collect();
    cuts.extend([0, reply.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &reply.as_bytes()[pair[0]..pair[1]]).collect()
}

/// What a decision says, as the lines that must have been shown.
fn lines_of(decision: &Decision) -> Vec<String> {
    let about = match &decision.action {
        Action::SelectSkills { skills, .. } => {
            skills.iter().map(|skill| format!("skill {}", skill.name)).collect()
        }
        Action::LoadResource { relative_path: target, .. }
        | Action::RunScript { relative_path: target, .. } => vec![format!("target {target}")],
        Action::CallTool { tool, params, .. } => {
            let command = params["command"].as_str().filter(|_| tool == "run_command");
            vec![format!("target {}", command.unwrap_or(tool))]
        }
        Action::FinalAnswer { content } if !content.is_empty() => vec![format!("answer {content}")],
        _ => vec![],
    };
    [vec![format!("action {}", decision.action.kind())], about].concat()
}

proptest! {
    #[test]
    fn all_that_is_shown_by_the_end_is_what_the_decision_says(
        decision in decision(), (before, after) in noise(), cuts in vec(any::<Index>(), 0..9), sorted in any::<bool>()
    ) {
        let object = if sorted { json!(decision).to_string() } else { text_of(&decision) };
        let reply = format!("{before}{object}{after}");
        prop_assert_eq!(shown(pieces(&reply, &cuts), Some(&decision)), lines_of(&decision));
        prop_assert_eq!(shown(reply.as_bytes().chunks(1), Some(&decision)), lines_of(&decision));
    }

    #[test]
    fn a_reply_without_prose_is_all_shown_early(decision in decision(), cuts in vec(any::<Index>(), 0..9)) {
        let reply = text_of(&decision);
        prop_assert_eq!(shown(pieces(&reply, &cuts), None), lines_of(&decision));
    }

    #[test]
    fn any_bytes_can_be_pushed(bytes in vec(any::<u8>(), 0..200), size in 1..9usize) {
        shown(bytes.chunks(size), None);
    }
}

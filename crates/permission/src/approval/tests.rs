use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    ApprovalId, ApprovalRequest, HEAD, Invocation, Permission, Risk, SHOWN, TAIL, shell_quoted,
};

fn check(word: &str, expected: &str) {
    assert_eq!(shell_quoted(OsStr::new(word)), expected);
}

/// What a shell makes of a quoted word.
fn read_back(quoted: &str) -> Vec<u8> {
    let script = format!("printf '%s\\0' {quoted}");
    Command::new("bash").args(["-c", &script]).output().unwrap().stdout
}

#[test]
fn only_what_needs_quotes_is_quoted() {
    check("scripts/fill.py", "scripts/fill.py");
    check("", "''");
    check("fill the form", "'fill the form'");
    check("it's", r"'it'\''s'");
    check("$(rm -rf ~); `x` !!", "'$(rm -rf ~); `x` !!'");
    check("=ls", "'=ls'");
    check("a\u{1b}[2Jb\n", r"$'a\033[2Jb\012'");
    check("safe\u{202e}txt", r"$'safe\342\200\256txt'");
}

#[test]
fn the_replay_approves_exactly_what_was_asked() {
    let invocation = Invocation {
        command: ["skillful", "-C", "my project", "run"].map(Into::into).to_vec(),
        arguments: ["--json", "fill in the form"].map(Into::into).to_vec(),
    };
    assert_eq!(
        invocation.approving(Permission::RunScript, ["pdf/scripts/fill.py", "*"].into_iter()),
        r"skillful -C 'my project' run --approve run_script:pdf/scripts/fill.py --approve 'run_script:\*' --json 'fill in the form'"
    );
}

fn facts(params: Value) -> Vec<(&'static str, String)> {
    let question = ApprovalRequest {
        id: ApprovalId::numbered(1),
        tool: Permission::RunScript,
        risk: Risk::Medium,
        reason: "to fill it".to_owned(),
        params,
        always: None,
        patterns: Vec::new(),
        effect: "runs it".to_owned(),
        replay: String::new(),
    };
    question.facts()
}

#[test]
fn a_question_shows_what_is_approved() {
    let script = json!({"skill": {"name": "pdf"}, "relative_path": "scripts/fill.py", "args": ["a b", "c"], "stdin": "rm -rf ~\n"});
    let expected = [
        ("why", "to fill it"),
        ("with", "pdf/scripts/fill.py 'a b' c"),
        ("stdin", "9 characters: rm -rf ~\n"),
    ];
    assert_eq!(facts(script), expected.map(|(label, value)| (label, value.to_owned())));
    assert_eq!(facts(json!({"path": "a"}))[1], ("with", r#"{"path":"a"}"#.to_owned()));
}

#[test]
fn what_a_question_leaves_out_is_said() {
    let check = |length: usize, hidden: Option<usize>| {
        let stdin = format!("{}{}end", "ä".repeat(length - 6), "mid");
        let script = json!({"skill": {"name": "s"}, "relative_path": "x", "stdin": stdin});
        let (_, shown) = facts(script).remove(2);
        assert!(shown.starts_with(&format!("{length} characters: ä")) && shown.ends_with("end"));
        let said = hidden.map(|hidden| format!(" … {hidden} characters not shown … "));
        assert!(said.is_none_or(|said| shown.contains(&said)), "{shown}");
        assert_eq!(shown.contains("not shown"), hidden.is_some());
    };
    check(SHOWN, None);
    check(SHOWN + 1, Some(SHOWN + 1 - HEAD - TAIL));
    check(100_000, Some(100_000 - HEAD - TAIL));
}

#[test]
fn an_approval_id_is_plain() {
    for good in ["ap_1", "ap_k3F-9_x"] {
        assert!(ApprovalId::try_from(good.to_owned()).is_ok(), "{good}");
    }
    for bad in ["", "ap_", "xx_1", "ap_/../x", "ap_a b"] {
        assert!(ApprovalId::try_from(bad.to_owned()).is_err(), "{bad}");
        assert!(serde_json::from_value::<ApprovalId>(bad.into()).is_err(), "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_shell_reads_back_the_same_bytes(
        word in prop_oneof![".{0,12}".prop_map(String::into_bytes), proptest::collection::vec(1u8.., 0..12)]
    ) {
        prop_assume!(!word.contains(&0));
        let mut read = read_back(&shell_quoted(OsStr::from_bytes(&word)));
        prop_assert_eq!(read.pop(), Some(0));
        prop_assert_eq!(read, word);
    }
}

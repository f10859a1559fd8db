use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::{Risk, Tool, ToolSet};

fn check(configured: &[&str], declared: Option<&[&str]>, policy: Risk, expected: &[&str]) {
    let effective = ToolSet::effective(
        &ToolSet::from_names(configured.iter().copied()),
        declared.map(|names| names.iter().copied()),
        &ToolSet::up_to(policy),
    );
    assert_eq!(effective.iter().map(Tool::name).collect::<Vec<_>>(), expected);
}

#[test]
fn a_skill_that_declares_nothing_gets_what_is_configured() {
    check(&["grep", "write_file"], None, Risk::High, &["grep", "write_file"]);
}

#[test]
fn a_skill_that_declares_tools_gets_only_those() {
    check(&["read_file", "grep"], Some(&["grep", "write_file"]), Risk::High, &["grep"]);
    check(&["read_file", "grep"], Some(&["Teleport"]), Risk::High, &[]);
    check(&["read_file", "grep"], Some(&[]), Risk::High, &[]);
}

#[test]
fn the_policy_takes_risky_tools_away() {
    check(
        &["read_file", "run_script", "network_request"],
        None,
        Risk::Medium,
        &["read_file", "run_script"],
    );
    check(
        &["read_file", "run_command", "write_file"],
        None,
        Risk::Low,
        &["read_file", "write_file"],
    );
}

#[test]
fn names_lead_back_to_their_tools() {
    for tool in Tool::ALL {
        assert_eq!(Tool::from_name(tool.name()), Some(tool));
        assert_eq!(serde_json::to_value(tool).unwrap(), tool.name());
    }
}

fn tools() -> impl Strategy<Value = ToolSet> {
    subsequence(Tool::ALL.to_vec(), 0..=12).prop_map(ToolSet::from_iter)
}

proptest! {
    #[test]
    fn a_skill_never_widens_the_set(
        configured in tools(),
        policy in tools(),
        declared in proptest::collection::vec(
            prop_oneof![select(Tool::ALL.map(Tool::name).to_vec()).prop_map(String::from), ".*"], 0..10),
    ) {
        let without = ToolSet::effective(&configured, None::<[&str; 0]>, &policy);
        let with = ToolSet::effective(&configured, Some(declared.iter().map(String::as_str)), &policy);
        for tool in with.iter() {
            prop_assert!(without.contains(tool));
            prop_assert!(configured.contains(tool) && policy.contains(tool));
            prop_assert!(declared.iter().any(|name| name == tool.name()));
        }
    }
}

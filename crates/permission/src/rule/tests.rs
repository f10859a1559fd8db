use std::collections::BTreeMap;

use super::{Effect, Rules};

fn check(json: &str, expected: &[(&str, &str, Effect)]) {
    let rules: Rules = serde_json::from_str(json).unwrap();
    let found: Vec<_> = rules
        .0
        .iter()
        .map(|rule| (rule.permission.as_str(), rule.pattern.as_str(), rule.action))
        .collect();
    assert_eq!(found, expected);
}

fn refused(json: &str, message: &str) {
    let error = serde_json::from_str::<Rules>(json).unwrap_err().to_string();
    assert!(error.contains(message), "`{error}` should say `{message}`");
}

#[test]
fn rules_keep_the_order_of_the_file() {
    check(
        r#"{"skill": {"*": "allow", "internal-*": "deny"},
            "run_script": {"*": "ask", "pdf-*/scripts/*.py": "allow"}, "write_file": "deny"}"#,
        &[
            ("skill", "*", Effect::Allow),
            ("skill", "internal-*", Effect::Deny),
            ("run_script", "*", Effect::Ask),
            ("run_script", "pdf-*/scripts/*.py", Effect::Allow),
            ("write_file", "*", Effect::Deny),
        ],
    );
}

#[test]
fn keys_are_neither_sorted_nor_merged() {
    check(
        r#"{"skill": {"z": "allow", "a": "deny"}, "*": "ask", "skill": "deny"}"#,
        &[
            ("skill", "z", Effect::Allow),
            ("skill", "a", Effect::Deny),
            ("*", "*", Effect::Ask),
            ("skill", "*", Effect::Deny),
        ],
    );
}

#[test]
fn profiles_are_rules_by_name() {
    let json = r#"{"readonly": {"run_script": "deny", "write_file": "deny", "delete_file": "deny", "network_request": "deny"}}"#;
    let profiles: BTreeMap<String, Rules> = serde_json::from_str(json).unwrap();
    let denied = profiles["readonly"].0.iter().filter(|rule| rule.action == Effect::Deny);
    assert_eq!(denied.count(), 4);
}

#[test]
fn what_is_not_a_rule_is_refused_with_a_reason() {
    refused(r#"{"write_fiel": "deny"}"#, "did you mean `write_file`?");
    refused(r#"{"teleport": "deny"}"#, "known are `skill`");
    refused(r#"{"skill": "perhaps"}"#, "unknown variant `perhaps`");
    refused(r#"{"skill": {"a": "perhaps"}}"#, "unknown variant `perhaps`");
    refused(r#"{"skill": 1}"#, "`allow`, `ask`, `deny`, or an object");
    refused("[]", "an object from permissions");
}

#[test]
fn the_schema_accepts_what_the_parser_does() {
    let schema = serde_json::to_value(schemars::schema_for!(Rules)).unwrap();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"]["anyOf"][1]["type"], "object");
    assert_eq!(schema["$defs"]["Effect"]["oneOf"].as_array().map(Vec::len), Some(3));
}

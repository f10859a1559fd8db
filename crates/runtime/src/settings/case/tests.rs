use super::*;

/// The rules of a place, in the order of the text.
fn rules(text: &str) -> RuleSet {
    serde_json::from_str(&format!("{{\"permissions\": {text}}}")).expect("rules")
}

#[test]
fn the_users_rules_bind_as_far_as_they_are_strict() {
    for (user, environment, expected) in [
        ("{}", "{}", None),
        // No stricter than what holds anyway.
        (r#"{"run_script": "ask", "apply_changes": "ask", "read_file": "allow"}"#, "{}", None),
        // Files are written into the run's layer unasked.
        (r#"{"write_file": "ask"}"#, "{}", Some(r#"{"write_file":{"*":"ask"}}"#)),
        (r#"{"run_script": "allow", "network": "allow"}"#, "{}", None),
        (r#"{"run_script": "deny"}"#, "{}", Some(r#"{"run_script":{"*":"deny"}}"#)),
        (r#"{"write_file": "deny"}"#, "{}", Some(r#"{"write_file":{"*":"deny"}}"#)),
        ("{}", r#"{"read_file": "ask"}"#, Some(r#"{"read_file":{"*":"ask"}}"#)),
        // An exception stays one, what came before the strict rule does not count.
        (
            r#"{"run_script": {"a*": "allow", "z*": "deny", "b*": "allow"}}"#,
            "{}",
            Some(r#"{"run_script":{"z*":"deny","b*":"allow"}}"#),
        ),
        // The later place comes later.
        (
            r#"{"run_script": "deny"}"#,
            r#"{"run_script": {"a*": "ask"}}"#,
            Some(r#"{"run_script":{"*":"deny","a*":"ask"}}"#),
        ),
        (
            r#"{"run_script": {"*": "deny", "a": "ask"}}"#,
            r#"{"run_script": "deny"}"#,
            Some(r#"{"run_script":{"a":"ask","*":"deny"}}"#),
        ),
        // A rule for several permissions is one for each.
        (
            r#"{"*_file": {"s*": "deny"}, "read_file": {"sub/*": "allow"}}"#,
            "{}",
            Some(
                r#"{"read_file":{"s*":"deny","sub/*":"allow"},"write_file":{"s*":"deny"},"edit_file":{"s*":"deny"},"delete_file":{"s*":"deny"}}"#,
            ),
        ),
    ] {
        let found = strict_rules(&rules(user), &rules(environment));
        assert_eq!(found.as_deref(), expected, "{user} {environment}");
        if let Some(text) = found {
            rules(&text);
        }
    }
}

#[test]
fn a_case_may_tighten_and_that_alone() {
    for (settings, refused) in [
        (json!({}), vec![]),
        (json!({"budget": {"max_turns": 1}, "disclosure": "metadata"}), vec![]),
        (json!({"disclosure": "core"}), vec!["disclosure: \"core\""]),
        (
            json!({"permissions": {"run_script": "deny", "skill": {"*": "allow", "x": "deny"}}}),
            vec![],
        ),
        (json!({"security": {"max_skill_body_lines": 10}}), vec![]),
        (json!({"model": {}}), vec!["model"]),
        (json!({"model": null, "execution": {"sandbox": "required"}}), vec!["model", "execution"]),
        (json!({"budget": {"max_turns": 1_000}}), vec!["budget.max_turns: 1000"]),
        (
            json!({"permissions": {"run_script": "allow"}}),
            vec!["permissions.run_script: {\"*\": \"allow\"}"],
        ),
        (json!({"permissions": "all"}), vec!["permissions"]),
        (json!({"permissions": {"no_such": "deny"}}), vec!["permissions"]),
        (json!({"search": {"bodies": true}}), vec!["search.bodies"]),
    ] {
        let Value::Object(settings) = settings else { unreachable!("an object") };
        let found = objections(&settings);
        let what: Vec<&str> = found.iter().map(|objection| objection.what.as_str()).collect();
        assert_eq!(what, refused);
    }
}

//! Limits of a run that the user can change.

use super::*;

/// Codes of what these turns lead to under these settings.
fn check(settings: &str, turns: Value, expected: &[Value]) {
    let world = scripted(turns);
    skill(&world, "s", "exit 1\n");
    skill(&world, "t", "");
    skill(&world, "u", "");
    world.write("project/.env.test", "A=1\n").write("project/.env", "A=1\n");
    world.write("home/.agent/config.json", settings);
    run(&world, "--yes --approve network_request");
    assert_eq!(codes(&world), expected, "{settings}");
}

#[test]
fn how_many_skills_a_decision_selects_can_be_set() {
    let turns = || json!([select(&["s", "t", "u"]), answer("done")]);
    check("{}", turns(), &["InvalidAction".into()]);
    check(r#"{"patience": {"skills_per_turn": 3}}"#, turns(), &[Value::Null]);
}

#[test]
fn the_model_is_told_how_many_skills_it_may_select() {
    for (limit, words) in
        [(1, "of one skill;"), (2, "of at most two skills;"), (5, "of at most 5 skills;")]
    {
        let world = scripted(json!([answer("done")]));
        let settings =
            json!({"patience": {"skills_per_turn": limit}, "audit": {"store_prompts": true}});
        world.write("home/.agent/config.json", settings.to_string());
        run(&world, "");
        let events = events(&world);
        let mut events = events.iter();
        let asked = events.find(|event| event["type"] == "model_request").unwrap();
        let rules = asked["data"]["prompt"]["text"]["system"].as_str().unwrap();
        assert!(rules.contains(words), "{limit}: {rules}");
        assert_sound(&world);
    }
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn how_often_an_action_fails_before_the_end_can_be_set() {
    let fails = script("s", &[]);
    let turns = || json!([select(&["s"]), fails, fails, fails, fails, answer("done")]);
    let failed = |times: usize| [&[Value::Null][..], &vec!["ExitNonZero".into(); times]].concat();
    check("{}", turns(), &failed(3));
    check(r#"{"patience": {"same_failures": 1}}"#, turns(), &failed(1));
    check(r#"{"patience": {"same_failures": 0}}"#, turns(), &failed(1));
    check(r#"{"patience": {"same_failures": 9}}"#, turns(), &failed(4));
}

#[test]
fn how_often_a_reply_is_corrected_can_be_set() {
    let turns = json!([{"text": "{\"action\": 1}"}, answer("done")]);
    let world = scripted(turns);
    run(&world, "");
    assert_sound(&world);
    assert_eq!(world.read(&format!("{}/final.md", last(&world))), "done");
    world.write("home/.agent/config.json", r#"{"patience": {"corrections": 0}}"#);
    let seen = run(&world, "");
    assert!(seen.contains("could not be understood") && seen.ends_with("[exit 1]\n"), "{seen}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn how_many_arguments_a_script_gets_and_how_long_they_are_can_be_set() {
    let turns = || json!([select(&["t"]), script("t", &["abc", "d"]), answer("done")]);
    check("{}", turns(), &[Value::Null, Value::Null]);
    for settings in
        [r#"{"execution": {"max_arguments": 1}}"#, r#"{"execution": {"max_argument_bytes": 2}}"#]
    {
        check(settings, turns(), &[Value::Null, "InvalidAction".into()]);
    }
}

#[test]
fn files_that_look_secret_can_be_made_visible() {
    let read = |path: &str| call("read_file", json!({"path": path}));
    let turns = || json!([read(".env"), read(".env.test"), answer("done")]);
    let hidden = Value::from("ToolNotAllowed");
    check("{}", turns(), &[hidden.clone(), hidden.clone()]);
    check(r#"{"security": {"visible_files": [".env.test"]}}"#, turns(), &[hidden, Value::Null]);
}

#[test]
fn private_addresses_can_be_allowed_by_their_host() {
    // Nobody listens there: what is allowed fails later.
    let turns =
        || json!([call("network_request", json!({"url": "http://127.0.0.1:1/"})), answer("done")]);
    let settings = |private: Value| {
        json!({"permissions": {"network_request": "ask"},
            "execution": {"network_hosts": ["127.0.0.1"], "private_hosts": private}})
        .to_string()
    };
    check(&settings(json!([])), turns(), &["ToolNotAllowed".into()]);
    check(&settings(json!(["127.0.0.1"])), turns(), &["IOError".into()]);
}

//! Several skills in one run: each is held to its own tools, and nothing that was said is out of reach.

use super::*;

/// A skill of the user that may use these tools.
fn limited(world: &World, name: &str, tools: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: Does things.\nallowed-tools: {tools}\n---\n# {name}\n"
    );
    world.write(&format!("home/.agent/skills/{name}/SKILL.md"), text);
}

fn call_for(skill: &str, tool: &str, params: Value) -> Value {
    act("call_tool", json!({"tool": tool, "params": params, "skill": {"name": skill}}))
}

/// What a model is told in the turn after the last one of these.
fn observations(world: &World) -> Vec<String> {
    let events = events(world);
    let executed = events.iter().filter(|event| event["type"] == "action_executed");
    executed
        .map(|event| event["data"]["observation"]["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_order_of_skills_does_not_change_what_each_may_use() {
    for names in [["ro", "free"], ["free", "ro"]] {
        let world = scripted(json!([
            select(&names),
            write("a", "by whoever may"),
            call_for("ro", "write_file", json!({"path": "b", "content": "by ro"})),
            call_for("free", "write_file", json!({"path": "c", "content": "by free"})),
            call_for("ro", "list_dir", json!({})),
            answer("done")
        ]));
        limited(&world, "ro", "Grep");
        world.skill("home/.agent/skills/free", "Does more.");
        run(&world, "--approve write_file");
        let expected = json!([null, null, "ToolNotAllowed", null, null]);
        assert_eq!(json!(codes(&world)), expected, "{names:?}");
        assert_eq!(world.read("project/a") + &world.read("project/c"), "by whoever mayby free");
        assert!(!world.path("project/b").exists());
        assert_sound(&world);
    }
}

#[test]
fn what_no_loaded_skill_may_use_is_refused_and_reading_stays_possible() {
    let world = scripted(json!([
        select(&["one", "two"]),
        write("a", "x"),
        call("read_file", json!({"path": "notes.txt"})),
        call_for("three", "read_file", json!({"path": "notes.txt"})),
        answer("done")
    ]));
    world.write("project/notes.txt", "what is noted");
    limited(&world, "one", "Bash(git:*)");
    limited(&world, "two", "WebFetch");
    run(&world, "--approve write_file");
    assert_eq!(json!(codes(&world)), json!([null, "ToolNotAllowed", null, "InvalidAction"]));
    assert!(observations(&world)[1].contains("what is noted"));
    assert_sound(&world);
}

#[test]
fn a_skill_comes_with_the_tools_that_it_may_use() {
    let world = scripted(json!([select(&["one"]), answer("done")]));
    limited(&world, "one", "Bash(git:*), Write");
    run(&world, "");
    let text = observations(&world).remove(0);
    assert!(text.contains("[Tools of this skill: read_file, list_dir, grep, "), "{text}");
    assert!(text.contains("write_file"), "{text}");
    let world = scripted(json!([select(&["free"]), answer("done")]));
    world.skill("home/.agent/skills/free", "Does more.");
    run(&world, "");
    assert!(!observations(&world)[0].contains("[Tools of"));
}

#[test]
fn a_chunk_enters_like_everything_of_a_skill_and_by_the_name_that_its_text_says() {
    let chunk = act("load_skill_chunk", json!({"skill_name": "big", "chunk_id": "more"}));
    let world = scripted(json!([select(&["big"]), chunk, answer("done")]));
    let body = "# Big\n\n<chunk id=\"more\" description=\"More\">\nThe rest.\n</chunk>\n";
    world.write(
        "home/.agent/skills/big/SKILL.md",
        format!("---\nname: big\ndescription: Big.\n---\n{body}"),
    );
    run(&world, "");
    let text = &observations(&world)[1];
    assert!(text.starts_with("[Skill: big | source=user]\n[Skill Path: "), "{text}");
    assert!(text.contains("truncated=false bytes_read=") && text.contains("The rest."), "{text}");
    let events = events(&world);
    let loaded = events.iter().find(|event| event["type"] == "resource_loaded");
    let report = &loaded.unwrap()["data"]["report"];
    assert_eq!(report["truncated"], false);
    assert_eq!(report["bytes_read"], "The rest.".len());
    assert!(text.contains(report["file_sha256"].as_str().unwrap()), "{text}");
    assert_sound(&world);
}

#[test]
fn what_was_just_read_is_not_what_is_shortened() {
    let world = scripted(json!([
        call("read_file", json!({"path": "first.txt"})),
        call("read_file", json!({"path": "second.txt"})),
        answer("done")
    ]));
    world.write(
        "home/.agent/config.json",
        r#"{"budget": {"max_context_chars": 16000}, "audit": {"store_prompts": true}}"#,
    );
    let text = |word: &str| format!("{word} begins\n{}", format!("{word} goes on\n").repeat(300));
    world.write("project/first.txt", text("first")).write("project/second.txt", text("second"));
    run(&world, "");
    let events = events(&world);
    let mut asked = events.iter().filter(|event| event["type"] == "model_request");
    let last = asked.next_back().unwrap()["data"]["prompt"]["text"]["messages"].to_string();
    assert!(last.contains("second begins"), "{last}");
    assert!(!last.contains("first begins") && last.contains("shortened"), "{last}");
    assert_sound(&world);
}

fn read_back(reference: &str, offset: Option<u64>, pattern: Option<&str>) -> Value {
    act("read_observation", json!({"ref": reference, "offset": offset, "pattern": pattern}))
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_was_kept_or_shortened_can_be_read_back() {
    let world = scripted(json!([
        script("loud", &[]),
        read_back("2", None, Some("^line 4999$")),
        read_back("2", Some(10), None),
        read_back("2", Some(1_000_000), None),
        read_back("events.jsonl", None, None),
        read_back("../../../etc/passwd", None, None),
        read_back("2", None, Some("(")),
        script("other", &[]),
        read_back("9", None, None),
        answer("done")
    ]));
    skill(&world, "loud", "i=0; while [ $i -lt 5000 ]; do echo \"line $i\"; i=$((i+1)); done\n");
    world.run("skillful run --model scripted:turns.json --skill loud --yes x");
    let codes = codes(&world);
    let expected = json!([
        null,
        null,
        null,
        null,
        null,
        "NotFound",
        "NotFound",
        "InvalidAction",
        "InvalidAction",
        "NotFound"
    ]);
    assert_eq!(json!(codes), expected, "{:?}", observations(&world));
    let seen = observations(&world);
    assert_eq!(seen[2], "5000: line 4999\n");
    assert!(
        seen[3].starts_with("e 1\nline 2\n") && seen[3].contains("[… goes on at offset "),
        "{}",
        seen[3]
    );
    assert!(seen[4].contains("there is nothing there"), "{}", seen[4]);
    assert_sound(&world);
}

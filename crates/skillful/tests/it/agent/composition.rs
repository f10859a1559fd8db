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
        run(&world, "--approve write_file --apply");
        let expected = json!([null, null, "ToolNotAllowed", null, null, null]);
        assert_eq!(json!(codes(&world)), expected, "the last is what was applied: {names:?}");
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
    assert!(told(&world)[1].contains("what is noted"));
    assert_sound(&world);
}

#[test]
fn a_skill_comes_with_the_tools_that_it_may_use() {
    let world = scripted(json!([select(&["one"]), answer("done")]));
    limited(&world, "one", "Bash(git:*), Write");
    run(&world, "");
    let text = told(&world).remove(0);
    assert!(text.contains("[Tools of this skill: read_file, list_dir, grep, "), "{text}");
    assert!(text.contains("write_file"), "{text}");
    let world = scripted(json!([select(&["free"]), answer("done")]));
    world.skill("home/.agent/skills/free", "Does more.");
    run(&world, "");
    assert!(!told(&world)[0].contains("[Tools of"));
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
    let text = &told(&world)[1];
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
    assert_eq!(json!(codes), expected, "{:?}", told(&world));
    let seen = told(&world);
    assert_eq!(seen[2], "5000: line 4999\n");
    assert!(
        seen[3].starts_with("e 1\nline 2\n") && seen[3].contains("[… goes on at offset "),
        "{}",
        seen[3]
    );
    assert!(seen[4].contains("there is nothing there"), "{}", seen[4]);
    assert_sound(&world);
}

#[test]
fn what_was_cut_to_fit_makes_way_for_what_comes_next() {
    let world = scripted(json!([
        call("read_file", json!({"path": "long.txt"})),
        call("list_dir", json!({"path": "."})),
        act("read_observation", json!({"ref": 1, "offset": 13_000})),
        act("read_observation", json!({"ref": "1", "pattern": "^line 200 "})),
        answer("done")
    ]));
    world.write("home/.agent/config.json", r#"{"budget": {"max_context_chars": 20000}}"#);
    let lines: Vec<String> = (1..=320).map(|n| format!("line {n} {}\n", "x".repeat(60))).collect();
    world.write("project/long.txt", lines.concat());
    let result = world.json("skillful run --json --model scripted:turns.json x");
    assert_eq!(result["stop_reason"], "final_answer", "{result:#}");
    let seen = told(&world);
    assert_eq!(seen[3], format!("200: {}", lines[199]), "a pattern looks at lines of the file");
    assert_sound(&world);
}

#[test]
fn of_skills_with_one_name_the_model_can_choose() {
    let world = scripted(json!([
        act("search_skills", json!({"query": "bread"})),
        act(
            "select_skills",
            json!({"skills": [{"name": "bake", "source": "user"}], "reason": "x"})
        ),
        answer("done")
    ]));
    world.skill("project/more/bake", "Bakes bread in a pan.");
    world.skill("home/.agent/skills/bake", "Bakes bread in an oven.");
    world.skill("home/.agent/skills/same", "The same everywhere.");
    world.skill("project/more/same", "The same everywhere.");
    world.write("home/.agent/config.json", r#"{"audit": {"store_prompts": true}}"#);
    world.run("skillful run --root more --model scripted:turns.json x");
    let events = events(&world);
    let asked = events.iter().find(|event| event["type"] == "model_request").unwrap();
    let system = asked["data"]["prompt"]["text"]["system"].as_str().unwrap();
    for shown in [
        "- name=bake | source=explicit | description=Bakes bread in a pan.\n",
        "- name=bake | source=user | description=Bakes bread in an oven.\n",
        "- name=same | source=explicit | description=The same everywhere.\n",
        "\"source\": SOURCE or null",
    ] {
        assert!(system.contains(shown), "{shown}{system}");
    }
    assert!(!system.contains("name=same | source=user"), "it says nothing else: {system}");
    let seen = told(&world);
    assert!(seen[0].contains("source=explicit") && seen[0].contains("source=user"), "{}", seen[0]);
    assert!(seen[1].starts_with("[Skill: bake | source=user]"), "{}", seen[1]);
}

#[test]
fn a_skill_is_told_only_tools_that_there_are() {
    let world = scripted(json!([select(&["some", "all"]), answer("done")]));
    limited(&world, "some", "Write, TodoWrite, Bash(git:*)");
    limited(&world, "all", "'*'");
    world.write("home/.agent/config.json", r#"{"permissions": {"grep": "deny"}}"#);
    run(&world, "");
    let seen = told(&world).remove(0);
    assert!(seen.contains("[Tools of this skill: read_file, list_dir, write_file, run_command, run_script, command_output, command_input, command_stop]\n"), "{seen}");
    assert_eq!(seen.matches("[Tools of this skill").count(), 1, "all means no limit: {seen}");
}

#[test]
fn the_tool_that_a_skills_text_names_can_be_called() {
    let load = json!({"skill_name": "bread", "chunk_id": "oven"});
    let world = scripted(json!([
        select(&["bread"]),
        act("call_tool", json!({"tool": "load_skill_chunk", "params": load})),
        answer("done")
    ]));
    let chunk = "<chunk id=\"oven\" description=\"How hot\">\nHeat it.\n</chunk>\n";
    world.write(
        "home/.agent/skills/bread/SKILL.md",
        format!("---\nname: bread\ndescription: Bakes.\n---\n\nBegin.\n\n{chunk}"),
    );
    run(&world, "");
    let seen = told(&world);
    assert!(seen[1].contains("Heat it."), "{seen:?}");
}

#[test]
fn of_a_long_essential_section_the_beginning_stays() {
    let world = scripted(json!([select(&["long"]), answer("done")]));
    let many =
        |word: &str, n: usize| -> String { (1..=n).map(|i| format!("- {word} {i}\n")).collect() };
    for (body, present) in [
        (
            format!(
                "{}\n## Steps\n\n{}\n## Notes\n\n{}",
                many("open", 10),
                many("step", 494),
                many("note", 50)
            ),
            ["- step 1\n", "- step 300\n"],
        ),
        (
            format!(
                "## Steps\n\n{}\n## Failures\n\nCall.\n\n## Checks\n\nLook.\n",
                many("step", 900)
            ),
            ["- step 300\n", "Look.\n"],
        ),
    ] {
        world.write(
            "home/.agent/skills/long/SKILL.md",
            format!("---\nname: long\ndescription: Long.\n---\n\n{body}"),
        );
        run(&world, "");
        let seen = told(&world).pop().unwrap();
        assert!(present.iter().all(|line| seen.contains(line)), "{seen}");
        assert!(seen.contains("[… the rest of this section is left out]"), "{seen}");
        assert!(seen.contains("## Steps"), "{seen}");
    }
}

//! The record vouches for all that is done with it, and can be followed.

use super::*;

fn written() -> World {
    let world = scripted(json!([write("a", "two"), write("b", "new"), answer("done")]));
    world.write("project/a", "one").write("project/c", "mine");
    run(&world, "--approve write_file --apply");
    assert_sound(&world);
    world
}

/// After this change of `applied/`, the record is not intact and nothing is taken back.
fn check(change: impl Fn(&World, &str)) {
    let world = written();
    change(&world, &format!("{}/applied", last(&world)));
    let seen = world.run("skillful runs verify last");
    assert!(seen.starts_with("changed") && seen.ends_with("[exit 4]\n"), "{seen}");
    let seen = world.run("skillful runs undo last");
    assert!(seen.ends_with("[exit 4]\n"), "{seen}");
    assert_eq!(
        ["a", "b", "c"].map(|name| world.read(&format!("project/{name}"))),
        ["two", "new", "mine"]
    );
}

#[test]
fn changes_that_were_edited_are_not_followed() {
    check(|world, changes| {
        let path = format!("{changes}/0001/plan.json");
        world.write(&path, world.read(&path).replace("\"a\"", "\"c\""));
    });
}

#[test]
fn changes_that_were_removed_are_missed() {
    check(|world, changes| std::fs::remove_dir_all(world.path(changes)).unwrap());
    check(|world, changes| {
        std::fs::remove_file(world.path(&format!("{changes}/0001/plan.json"))).unwrap();
    });
}

#[test]
fn changes_that_were_added_are_not_followed() {
    let world = written();
    let changes = format!("{}/applied", last(&world));
    world.run(&format!("cp -r ../{changes}/0001 ../{changes}/0002"));
    let path = format!("{changes}/0002/plan.json");
    world.write(&path, world.read(&path).replace("\"b\"", "\"c\""));
    // They are not what a run of this user left, as the file does not have what they say.
    let seen = world.run("skillful runs undo last");
    assert!(seen.contains("[exit "), "{seen}");
    assert_eq!(
        ["a", "b", "c"].map(|name| world.read(&format!("project/{name}"))),
        ["two", "new", "mine"]
    );
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn following_a_run_that_was_killed_ends() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "echo started > \"$HOME/started\"; while :; do sleep 1; done\n");
    let mut writer =
        world.command("exec skillful run --model scripted:turns.json --yes x").spawn().unwrap();
    let began =
        || world.run("ls .agent/runs/*/sandbox/home/started 2> /dev/null").contains("started");
    while !began() {
        assert!(writer.try_wait().unwrap().is_none(), "it ended too early");
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    let seen = world.run("skillful runs show last --follow");
    assert!(
        seen.contains("run_script")
            && seen.contains("The run did not end; `skillful run --resume last` continues it."),
        "{seen}"
    );
}

/// Types of the events of the last run, from the second action on.
fn after_the_first_action(world: &World) -> Vec<String> {
    let events = events(world);
    let kinds = events.iter().map(|event| event["type"].as_str().unwrap());
    let mut kinds: Vec<String> = kinds.map(str::to_owned).collect();
    let second = kinds.iter().rposition(|kind| kind == "model_response").unwrap();
    let end = kinds[..second].iter().rposition(|kind| kind == "model_response").unwrap();
    kinds.drain(end + 1..second).collect()
}

#[test]
fn selecting_a_skill_that_is_loaded_is_validated_like_any_action() {
    let world = scripted(json!([select(&["s"]), select(&["s"]), answer("done")]));
    skill(&world, "s", "");
    run(&world, "");
    assert_eq!(
        after_the_first_action(&world)[..3],
        ["action_planned", "action_validated", "observation_recorded"]
    );
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_summary_says_what_scripts_wrote() {
    let world =
        scripted(json!([select(&["s"]), script("s", &[]), script("s", &["all"]), answer("done")]));
    skill(
        &world,
        "s",
        "echo twelve rows; test -z \"$1\" || seq 100000; echo trouble >&2; exit 3\n",
    );
    run(&world, "--yes");
    let summary: Value =
        serde_json::from_str(&world.read(&format!("{}/run.json", last(&world)))).unwrap();
    let [short, long] = summary["tools"].as_array().unwrap().as_slice() else {
        panic!("{summary}")
    };
    for tool in [short, long] {
        let text = tool["summary"].as_str().unwrap();
        assert!(text.contains("twelve rows") && text.contains("trouble"), "{text}");
        assert!(text.chars().count() <= 500, "{text}");
        assert_eq!(tool["exit_code"], 3);
    }
    assert!(long["output"].as_str().unwrap().starts_with("observations/"), "{long}");
    assert_sound(&world);
}

#[test]
fn a_question_names_what_an_approval_would_count_for() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "");
    let asked = world.json("skillful run --json --model scripted:turns.json x");
    let events = events(&world);
    let mut events = events.iter();
    let event = events.find(|event| event["type"] == "approval_required").unwrap();
    for question in [&asked["approval"], &event["data"]["approval"]] {
        assert_eq!(question["patterns"], json!(["s/scripts/a.sh"]), "{question}");
        let always = "this script of this skill, in this project, until its files change";
        assert_eq!(question["always"], always, "{question}");
    }
}

#[test]
fn a_record_says_how_its_skills_were_found() {
    let world = scripted(json!([answer("done")]));
    world.skill("home/.agent/skills/twice", "The one that counts.");
    world.skill("home/.agents/skills/twice", "The other one.");
    world.write("home/.agent/skills/broken/SKILL.md", "no frontmatter\n");
    run(&world, "");
    let events = events(&world);
    let scan = &events[0]["data"]["setup"]["facts"]["scan"];
    let [ignored] = scan["ignored"].as_array().unwrap().as_slice() else { panic!("{scan}") };
    assert_eq!(ignored["path"], "[world]/home/.agent/skills/broken/SKILL.md", "{scan}");
    assert!(ignored["code"].is_string() && ignored["message"].is_string(), "{scan}");
    let [conflict] = scan["conflicts"].as_array().unwrap().as_slice() else { panic!("{scan}") };
    assert_eq!(conflict["name"], "twice");
    assert_eq!(conflict["winner"], "[world]/home/.agent/skills/twice");
    assert_eq!(conflict["losers"][0]["path"], "[world]/home/.agents/skills/twice");
    assert!(conflict["losers"][0]["reason"].is_string(), "{scan}");
    assert_eq!(scan["found"].as_u64().unwrap(), scan["valid"].as_u64().unwrap() + 1);
    let roots = scan["roots"].as_array().unwrap();
    assert!(scan["milliseconds"].is_u64() && roots.iter().any(|root| root["valid"] == 1), "{scan}");
    assert_sound(&world);
}

/// A run that waits for an approval, with a skill's text that is kept beside the events.
fn waiting() -> World {
    let world = scripted(json!([
        select(&["big"]),
        write("a", "x"),
        act("read_observation", json!({"ref": "1"})),
        answer("done")
    ]));
    let body = format!("# Big\n\n{}", "A line of the real text.\n".repeat(900));
    world.write(
        "home/.agent/skills/big/SKILL.md",
        format!("---\nname: big\ndescription: Big.\n---\n\n{body}"),
    );
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    let seen = world.run("skillful run --model scripted:turns.json x");
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
    assert!(world.run("skillful runs verify last").starts_with("intact"));
    world
}

#[test]
fn text_of_a_skill_that_was_changed_in_the_record_is_found_and_not_read_back() {
    let world = waiting();
    let kept = world.run("ls -S .agent/runs/*/observations/* | head -1").trim().to_owned();
    let kept = format!("project/{kept}");
    world.write(&kept, world.read(&kept).replace("real", "forged"));
    let seen = world.run("skillful runs verify last");
    assert!(seen.starts_with("changed") && seen.contains("observations/"), "{seen}");
    world.run("skillful run --resume last --approve write_file:a");
    let told = world.run("cat .agent/runs/*/events.jsonl .agent/runs/*/final.md");
    assert!(!told.contains("forged"), "{told}");
    std::fs::remove_file(world.path(&kept)).unwrap();
    assert!(world.run("skillful runs verify last").starts_with("changed"));
}

#[test]
fn a_list_of_skills_that_was_changed_in_the_record_is_found_and_not_sent() {
    let world = waiting();
    let catalog = world.run("ls .agent/runs/*/inputs/catalog.txt").trim().to_owned();
    let catalog = format!("project/{catalog}");
    world.write(&catalog, world.read(&catalog).replace("description=Big", "description=Obey me"));
    let seen = world.run("skillful runs verify last");
    assert!(seen.starts_with("changed") && seen.contains("inputs/catalog.txt"), "{seen}");
    let seen = world.run("skillful run --resume last --approve write_file:a");
    assert!(seen.contains("the list of skills changed") && seen.ends_with("[exit 4]\n"), "{seen}");
}

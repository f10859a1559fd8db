//! Runs that continue each other, seen from outside.

use super::*;
use crate::turns::read;

/// The next run of a conversation: the model says these turns.
fn go_on(world: &World, turns: &[Value], options: &str) -> String {
    world.turns(turns);
    world.run(&format!("skillful run --continue --model scripted:turns.json {options} next"))
}

/// The prompts of the last run, with everything that was said.
fn prompts(world: &World) -> String {
    let events = events(world);
    let asked = events.iter().filter(|event| event["type"] == "model_request");
    asked.map(|event| event["data"]["prompt"]["text"].to_string()).collect()
}

/// A world that keeps what its models are sent.
fn told_all(turns: &[Value]) -> World {
    let world = plain(turns);
    world.write("home/.agent/config.json", r#"{"audit": {"store_prompts": true}}"#);
    world
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_second_request_knows_the_first() {
    let world = told_all(&[select(&["s"]), answer("the first answer")]);
    skill(&world, "s", "echo ran\n");
    assert_eq!(run(&world, "-q"), "the first answer\n");
    let seen = go_on(&world, &[script("s", &[]), answer("the second answer")], "--yes -q");
    assert_eq!(seen, "the second answer\n");
    let said = prompts(&world);
    assert!(said.contains("the first answer") && said.contains("# s"), "{said}");
    // The skill is still loaded: its script runs without selecting it again, and its text is there once.
    assert_eq!(codes(&world), [Value::Null]);
    assert_eq!(events(&world).iter().filter(|event| event["type"] == "skill_loaded").count(), 0);
    assert_sound(&world);
}

#[test]
fn what_was_not_applied_goes_on_to_the_next_run() {
    let world = plain(&[write("a.txt", "one\n"), answer("written")]);
    let first = run(&world, "-q");
    assert!(first.ends_with("[exit 3]\n"), "{first}");
    let earlier = last_run(&world);
    let seen = go_on(&world, &[read("a.txt"), answer("read")], "-q --apply");
    assert_eq!(seen, "read\n");
    assert!(told(&world)[0].contains("one"), "{:?}", told(&world));
    assert_eq!(world.read("project/a.txt"), "one\n");
    assert_sound(&world);
    // The earlier run has nothing left to apply, and says so.
    let left = world.run(&format!("skillful runs changes {earlier}"));
    assert_eq!(left, "[stderr]\nNothing waits to be applied.\n");
    assert!(world.run(&format!("skillful runs verify {earlier}")).starts_with("intact"));
    assert!(!world.run("skillful runs undo last").contains("[exit"));
    assert!(!world.path("project/a.txt").exists());
}

#[test]
fn observations_and_answers_of_earlier_runs_can_be_read_back() {
    let world = plain(&[read("long.txt"), answer("a long answer")]);
    world.write("project/long.txt", "needle in line one\n");
    run(&world, "-q");
    let earlier = last_run(&world);
    let back = |reference: &str| act("read_observation", json!({"ref": reference}));
    go_on(&world, &[answer("nothing")], "-q");
    let seen = go_on(&world, &[back("1"), back(&earlier), back("99"), answer("done")], "-q");
    assert_eq!(seen, "done\n");
    let told = told(&world);
    assert!(told[0].contains("needle in line one"), "{told:?}");
    assert_eq!(told[1], "a long answer");
    assert_eq!(codes(&world)[2], "NotFound");
    assert_sound(&world);
}

#[test]
fn a_skill_that_changed_meanwhile_is_loaded_anew() {
    let world = told_all(&[select(&["s"]), answer("first")]);
    skill(&world, "s", "echo ran\n");
    run(&world, "-q");
    world.write(
        "home/.agent/skills/s/SKILL.md",
        "---\nname: s\ndescription: Does things.\n---\nNew words.\n",
    );
    let turns = [script("s", &[]), select(&["s"]), answer("second")];
    assert_eq!(go_on(&world, &turns, "--yes -q"), "second\n");
    let said = prompts(&world);
    assert!(said.contains("The skill s changed since it was loaded"), "{said}");
    assert!(said.contains("New words.") && !said.contains("# s\\n"), "{said}");
    assert_eq!(codes(&world)[0], "InvalidAction");
    assert_sound(&world);
}

#[test]
fn a_run_that_was_left_can_be_continued() {
    // It waits for an approval.
    let world = plain(&[select(&["s"]), script("s", &[]), answer("done")]);
    skill(&world, "s", "echo ran\n");
    assert!(run(&world, "-q").ends_with("[exit 3]\n"));
    let earlier = last_run(&world);
    assert_eq!(go_on(&world, &[answer("without it")], "-q"), "without it\n");
    assert_sound(&world);
    let shown = world.json(&format!("skillful --json runs show {earlier}"));
    assert!(shown.to_string().contains("cancelled"), "{shown}");
    // It had no turns left.
    let world = plain(&[select(&["s"]), select(&["s"]), answer("done")]);
    skill(&world, "s", "echo ran\n");
    world.write("home/.agent/config.json", r#"{"budget": {"max_turns": 1}}"#);
    assert!(run(&world, "-q").ends_with("[exit 1]\n"));
    assert_eq!(go_on(&world, &[answer("now")], "-q"), "now\n");
    assert_sound(&world);
}

#[test]
fn an_older_run_can_be_continued_twice() {
    let world = plain(&[answer("root")]);
    run(&world, "-q");
    let root = last_run(&world);
    for branch in ["left", "right"] {
        world.turns(&[answer(branch)]);
        // By the beginning of its name, as it is typed.
        let start = &root[..root.len() - 1];
        let line = format!("skillful run -q --continue={start} --model scripted:turns.json x");
        assert_eq!(world.run(&line), format!("{branch}\n"));
        assert_sound(&world);
    }
}

#[test]
fn a_changed_or_missing_ancestor_is_found() {
    for (change, words) in [
        ("sed -i s/root/ROOT/ events.jsonl", "earlier run `"),
        ("rm -r observations inputs events.jsonl", "cannot be read"),
        ("cd .. && rm -r $RUN", "cannot be read"),
    ] {
        let world = plain(&[answer("root")]);
        run(&world, "-q");
        let root = last_run(&world);
        go_on(&world, &[answer("middle")], "-q");
        go_on(&world, &[answer("end")], "-q");
        assert_sound(&world);
        world.run(&format!("export RUN={root}; cd .agent/runs/{root} && {change}"));
        let seen = world.run("skillful runs verify last");
        assert!(
            seen.contains(words) && seen.contains(&root) && seen.ends_with("[exit 4]\n"),
            "{change}: {seen}"
        );
        // Nothing is built on it either.
        let seen = go_on(&world, &[answer("more")], "-q");
        assert!(seen.contains("[exit") && !seen.starts_with("more"), "{change}: {seen}");
    }
}

#[test]
fn a_run_that_another_continues_is_not_pruned() {
    let world = plain(&[answer("root")]);
    run(&world, "-q");
    let root = last_run(&world);
    go_on(&world, &[answer("end")], "-q");
    let tip = last_run(&world);
    // The newest one waits for something, so it stays.
    world.turns(&[write("a", "b"), answer("later")]);
    let seen = world.run("skillful runs prune --max-megabytes 0 --dry-run");
    assert!(seen.contains(&root) && seen.contains(&tip), "{seen}");
    world.run(&format!("cd .agent/runs/{tip} && rm run.json final.md && sed -i '$d' events.jsonl"));
    let seen = world.run("skillful runs prune --max-megabytes 0");
    assert!(seen.contains(&format!("{root}: kept, because run `{tip}` continues it")), "{seen}");
    assert!(world.path(&format!("project/.agent/runs/{root}")).exists());
}

#[test]
fn a_beginning_that_fits_several_runs_is_no_name() {
    let world = plain(&[answer("one")]);
    run(&world, "-q");
    run(&world, "-q");
    let seen = world.run("skillful runs show 20");
    assert!(seen.contains("beginning of 2 runs") && seen.contains(&last_run(&world)), "{seen}");
    assert!(seen.ends_with("[exit 2]\n"), "{seen}");
    assert!(world.run("skillful runs show 1999").contains("there is no run `1999`"));
}

#[test]
fn a_conversation_stays_with_its_server() {
    let world = plain(&[answer("one")]);
    run(&world, "-q");
    let seen = world.run("skillful run --continue -q next");
    assert!(seen.contains("now it would use offline") && seen.contains("--continue="), "{seen}");
    assert!(seen.ends_with("[exit 4]\n"), "{seen}");
}

#[test]
fn a_list_has_one_line_for_a_conversation() {
    let world = plain(&[answer("alone")]);
    run(&world, "-q");
    world.turns(&[answer("one")]);
    run(&world, "-q");
    let root = last_run(&world);
    go_on(&world, &[answer("two")], "-q");
    let tip = last_run(&world);
    let listed = world.run("skillful runs list");
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.starts_with(&tip) && listed.contains("2 runs"), "{listed}");
    assert!(!listed.contains(&root), "{listed}");
    let all = world.run("skillful runs list --all");
    assert_eq!(all.lines().count(), 3, "{all}");
    assert!(all.contains(&format!("\n  {root}")), "{all}");
    // A limit counts conversations, and leaves none of them without its beginning.
    let limited = world.run("skillful runs list --all --limit 1");
    assert_eq!(limited.lines().count(), 2, "{limited}");
}

#[test]
fn a_conversation_is_exported_as_one_document() {
    let hostile =
        "# Done\n<script>alert(1)</script>\n\n`code` [a](javascript:alert(1)) ![b](http://x/y)";
    let world = plain(&[read("notes.txt"), answer(hostile)]);
    world.write("project/notes.txt", format!("the key is {TOKEN}\n"));
    run(&world, "-q");
    go_on(&world, &[answer("the second answer")], "-q");
    let markdown = world.run("skillful runs export last");
    let places = ["## x", "- `call_tool read_file notes.txt`", "# Done", "## next", "the second"];
    let places = places.map(|text| markdown.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{markdown}");
    let page = world.run("skillful runs export last --format html");
    assert!(page.contains("&lt;script&gt;") && page.contains("<code>code</code>"), "{page}");
    for bad in ["<script", "javascript:", "<img", "<a ", "http://x"] {
        assert!(!page.contains(bad), "{bad}: {page}");
    }
    let json: Value =
        serde_json::from_str(&world.run("skillful runs export last --format json")).unwrap();
    assert_eq!(json["runs"][1]["answer"], "the second answer");
    assert_eq!(json, world.json("skillful --json runs export last"));
    for format in ["md", "html", "json"] {
        let text = world.run(&format!("skillful runs export last --format {format}"));
        assert!(!text.contains(TOKEN), "{format}");
    }
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_continued_run_that_waits_is_taken_up_by_the_command_that_is_shown() {
    let world = plain(&[answer("first")]);
    run(&world, "-q");
    let earlier = last_run(&world);
    skill(&world, "s", "echo ran\n");
    let seen = go_on(&world, &[select(&["s"]), script("s", &[]), answer("done")], "-q");
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
    let waiting = last_run(&world);
    let (_, line) = seen.split_once("run: ").unwrap();
    let seen = world.run(line.lines().next().unwrap());
    assert!(seen.contains("done"), "{seen}");
    assert_eq!(last_run(&world), waiting);
    assert_ne!(waiting, earlier);
    assert_sound(&world);
}

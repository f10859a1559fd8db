//! Nothing of a case runs before the user trusts it, and whatever it uses is part of that.

use serde_json::json;

use super::{answers, case, clone, is_untouched, runs_the_script, suite};
use crate::turns::{answer, read};
use crate::world::World;

/// Changes a clone after it was trusted.
type Change = fn(&World);

#[test]
fn nothing_of_a_clone_runs_before_it_is_trusted() {
    let world = clone();
    let setup = json!({"skill_roots": ["skills"], "yes": true});
    suite(&world, &case("go", setup, runs_the_script()));
    insta::assert_snapshot!(world.run("skillful eval run"), @"
    [stderr]
    error: `[world]/project/.agent/evals/s.json` comes from a project that you do not trust yet
    hint: look at it, then run `skillful trust evals .agent/evals/s.json`; add --dry-run to see what it uses
    [exit 4]
    ");
    assert!(!world.path("project/.agent/eval-runs").exists(), "nothing was begun");
    for line in [
        "eval run",
        "eval run .agent/evals",
        "eval run .agent/evals/s.json --model offline",
        "eval run --runs 2 --with-without tool --root .agent/evals/none",
    ] {
        let refused = world.json(&format!("skillful --json {line}"));
        assert_eq!(refused["error"]["code"], "EvalsUntrusted", "{line}: {refused}");
    }
    let refused = world.json("skillful --json eval run");
    assert_eq!(
        refused["error"]["details"],
        json!({"untrusted": ["[world]/project/.agent/evals/s.json"], "changed": []})
    );
    insta::assert_snapshot!(world.run("skillful eval run --dry-run"), @"
    s/go 1 run
    [stderr]
    Nothing was run.
    ");
    insta::assert_snapshot!(world.run("skillful trust project -q"), @"
    [world]/project/.agent/evals/s.json
      1 case; approves medium risk; brings skills
    ");
    insta::assert_snapshot!(world.run("skillful eval run -q"), @"1 of 1 case passed");
    assert!(is_untouched(&world), "the sandbox stands all the same");
    world.run("skillful untrust");
    assert!(world.run("skillful eval run -q").ends_with("[exit 4]\n"));
}

#[test]
fn whatever_a_case_uses_is_part_of_what_is_trusted() {
    let changes: [(&str, Change); 9] = [
        ("the case", |world| {
            suite(world, &case("other", json!({"files": ["inputs/a.txt"]}), answers()));
        }),
        ("a script", |world| {
            world.write("project/.agent/evals/skills/tool/scripts/go.sh", "#!/bin/sh\n");
        }),
        ("a hidden file beside it", |world| {
            world.write("project/.agent/evals/skills/tool/scripts/.lib/x.sh", "");
        }),
        ("a file of a library", |world| {
            world.write("project/.agent/evals/skills/tool/node_modules/x.js", "");
        }),
        ("a new skill", |world| {
            world.skill("project/.agent/evals/skills/more", "More.");
        }),
        ("a mode", |world| {
            world.run("chmod 755 .agent/evals/skills/tool/scripts/go.sh");
        }),
        ("an input", |world| {
            world.write("project/.agent/evals/inputs/a.txt", "two");
        }),
        ("a folder of the project", |world| {
            world.skill("project/shared/other", "Another.");
        }),
        ("a pack", |world| {
            world.write("project/.agent/evals/p.zip", "other");
        }),
    ];
    for (what, change) in changes {
        let world = clone();
        world.write("project/.agent/evals/inputs/a.txt", "one");
        world.write("project/.agent/evals/p.zip", "no pack");
        world.skill("project/shared/one", "One.");
        let setup = json!({"skill_roots": ["skills", "shared"], "files": ["inputs/a.txt"], "refused_skills": ["p.zip"]});
        suite(&world, &case("go", setup, answers()));
        world.write(
            "project/.agent/evals/t.json",
            json!([case("t", json!({}), answers())]).to_string(),
        );
        world.run("skillful trust project");
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.run("skillful eval run -q"), @"2 of 2 cases passed");
        }
        change(&world);
        let seen = world.run("skillful eval run -q");
        assert!(seen.contains("s.json` has changed since you trusted it"), "{what}: {seen}");
        assert!(seen.ends_with("[exit 4]\n"), "{what}: {seen}");
        let other = world.run("skillful eval run -q .agent/evals/t.json");
        assert_eq!(other, "1 of 1 case passed\n", "{what}: other files stay trusted");
    }
}

#[test]
fn files_in_a_folder_of_their_own_are_trusted_with_the_case() {
    let world = World::new();
    let folder = "project/.agent/evals/suite/one";
    world.write(&format!("{folder}/case.json"), case("one", json!({}), answers()).to_string());
    world.write(&format!("{folder}/inputs/a.txt"), "a");
    world.write(&format!("{folder}/expected/a.txt"), "a");
    world.run("skillful trust project");
    assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n");
    for path in ["inputs/b.txt", "expected/b.txt"] {
        world.write(&format!("{folder}/{path}"), "b");
        assert!(world.run("skillful eval run -q").ends_with("[exit 4]\n"), "{path}");
        world.run("skillful trust project");
    }
}

#[test]
fn trust_does_not_depend_on_where_the_command_is_given() {
    let world = World::new();
    world.skill("project/.agent/skills/tool", "A tool.");
    suite(
        &world,
        &case("go", json!({"skill_roots": ["./.agent/skills"], "skill": "tool"}), answers()),
    );
    world.write("project/deep/down/.keep", "");
    world.run("skillful trust project");
    assert_eq!(world.run("cd deep/down && skillful eval run -q"), "1 of 1 case passed\n");
}

#[test]
fn what_the_user_has_elsewhere_needs_no_trust() {
    let world = World::new();
    let cases = json!([case("mine", json!({}), answers())]).to_string();
    world.write("mine/cases.json", &cases);
    assert_eq!(world.run("skillful eval run -q ../mine/cases.json"), "1 of 1 case passed\n");
    world.write("home/.agent/evals/cases.json", &cases);
    assert_eq!(world.run("cd && skillful eval run -q"), "1 of 1 case passed\n");
    world.skill("home/.agent/skills/own", "My own skill about zebras.");
    world.write("home/.agent/skills/own/evals/cases.json", &cases);
    assert_eq!(world.run("skillful eval run -q own"), "1 of 1 case passed\n");
    world.skill("project/shop/named", "A skill in a folder that I name.");
    world.write("project/shop/named/evals/cases.json", &cases);
    assert!(world.run("skillful eval run -q shop/named").ends_with("[exit 4]\n"));
    assert_eq!(world.run("skillful eval run -q named --root shop"), "1 of 1 case passed\n");
    assert!(!world.run("skillful eval run -q csv-report").contains("[exit"), "the program's own");
    // Another clone is a stranger's, too, wherever I am.
    world.write("other/.git/HEAD", "");
    world.write("other/cases.json", &cases);
    world.link("shortcut", "other");
    for path in ["../other/cases.json", "../other", "../shortcut/cases.json"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.run(&format!("cd ../mine && skillful eval run -q {path}")), @"
            [stderr]
            error: `[world]/other/cases.json` comes from a project that you do not trust yet
            hint: look at it, then run `skillful trust evals [world]/other/cases.json`; add --dry-run to see what it uses
            [exit 4]
            ");
        }
    }
    insta::assert_snapshot!(world.run("cd ../mine && skillful trust evals ../other --dry-run"), @"
    [world]/other/cases.json
      1 case
    [stderr]
    Nothing was written.
    ");
    world.run("cd ../mine && skillful trust evals ../other");
    assert_eq!(world.run("cd ../mine && skillful eval run -q ../other"), "1 of 1 case passed\n");
    insta::assert_snapshot!(world.run("skillful untrust ../other"), @"no longer trusted  [world]/other/cases.json");
    assert!(world.run("skillful eval run -q ../other").ends_with("[exit 4]\n"));
}

#[test]
fn whoever_writes_the_cases_of_a_workspace_says_so_once() {
    let world = clone();
    suite(&world, &case("go", json!({}), answers()));
    world.run("skillful trust project --author");
    assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n");
    suite(&world, &case("other", json!({"skill_roots": ["skills"]}), answers()));
    world.write(
        "project/elsewhere/cases.json",
        json!([case("more", json!({}), answers())]).to_string(),
    );
    assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n");
    assert_eq!(world.run("skillful eval run -q elsewhere"), "1 of 1 case passed\n");
    // A clone inside of it is somebody else's.
    world.write("project/elsewhere/.git/HEAD", "");
    assert!(world.run("skillful eval run -q elsewhere").ends_with("[exit 4]\n"));
    world.run("skillful untrust");
    assert!(world.run("skillful eval run -q").ends_with("[exit 4]\n"));
}

#[test]
fn the_gate_is_the_users_to_turn_off() {
    let world = clone();
    suite(&world, &case("go", json!({}), answers()));
    world.write("project/.agent/config.json", r#"{"trust": {"projects": "all"}}"#);
    assert!(world.run("skillful eval run -q").ends_with("[exit 4]\n"));
    assert_eq!(
        world.run("SKILLFUL_TRUST_PROJECTS=all skillful eval run -q"),
        "1 of 1 case passed\n"
    );
}

#[test]
fn a_case_that_the_user_starts_runs_at_once_where_its_skill_is_trusted() {
    let world = World::new();
    world.run("skillful eval new csv-report");
    assert!(world.run("skillful eval run -q").starts_with("1 of 1 case passed\n"));
    let world = World::new();
    world.skill("project/.agent/skills/foreign", "Counts the stripes of zebras.");
    world.run("skillful eval new foreign");
    assert!(world.run("skillful eval run -q").ends_with("[exit 4]\n"));
    world.run("skillful trust project");
    assert!(world.run("skillful eval run -q").starts_with("1 of 1 case passed\n"));
}

#[test]
fn queries_of_a_clone_wait_for_trust() {
    let world = World::new();
    world.skill("project/.agent/skills/zebra", "Counts the stripes of zebras.");
    world.write(
        "project/.agent/skills/zebra/evals/triggers.json",
        r#"[{"query": "count the stripes of zebras", "should_trigger": true}]"#,
    );
    world.write(
        "project/queries.json",
        r#"[{"query": "count the stripes of zebras", "should_trigger": true}]"#,
    );
    for (line, code) in [
        ("eval triggers zebra", "SkillUntrusted"),
        ("eval triggers zebra --queries queries.json", "SkillUntrusted"),
        ("eval triggers csv-report --queries queries.json", "EvalsUntrusted"),
        ("eval run zebra", "EvalsUntrusted"),
    ] {
        assert_eq!(world.json(&format!("skillful --json {line}"))["error"]["code"], code, "{line}");
        assert!(world.run(&format!("skillful {line}")).ends_with("[exit 4]\n"), "{line}");
    }
    world.run("skillful trust project");
    assert!(!world.run("skillful eval triggers zebra").contains("[exit"));
    assert!(!world.run("skillful eval run -q zebra").contains("[exit"));
    world.run("skillful trust evals queries.json");
    assert!(!world.run("skillful eval triggers zebra --queries queries.json").contains("[exit"));
}

#[test]
fn a_case_from_a_run_names_its_own_trust_and_shows_no_raw_name() {
    let world = clone();
    let name = "a\u{1b}]0;x\u{7}.csv";
    world.write(&format!("project/{name}"), "a,b\n1,2\n");
    world.turns(&[read(name), answer("done")]);
    world.run("skillful run --model scripted:turns.json x");
    let seen = world.run("skillful eval from-run last --id again");
    assert!(seen.contains("a\\u{1b}]0;x\\u{7}.csv") && !seen.contains('\u{1b}'), "{seen:?}");
    let hint = "`skillful trust evals [world]/project/.agent/evals/recorded/again/case.json`";
    assert!(seen.contains(hint), "{seen}");
}

#[test]
fn queries_for_a_trusted_skill_leave_it_trusted() {
    let world = World::new();
    world.skill("project/.agent/skills/weekly", "Writes the weekly report.");
    world.run("skillful trust project");
    world.run("skillful eval new weekly");
    assert!(world.path("project/.agent/skills/weekly/evals/triggers.json").exists());
    let trusted = world.json("skillful trust project --dry-run --json");
    assert_eq!(trusted["trusted"][0]["skills"][0]["state"], "unchanged", "{trusted}");
}

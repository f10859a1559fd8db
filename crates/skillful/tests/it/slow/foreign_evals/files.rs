//! Nothing outside of a case is read, copied or written, and nothing in it keeps a command waiting.

use std::fs;

use serde_json::{Value, json};

use super::{answers, case, clone, suite, trusting};
use crate::turns::{answer, read};
use crate::world::World;

/// Makes a clone hostile.
type Prepare = Box<dyn Fn(&World)>;

#[test]
fn nothing_outside_of_a_case_is_read_or_copied() {
    let secret = "the-users-private-key";
    let plain = |setup: Value| case("bad", setup, answers());
    let link = |path: &'static str, target: &'static str, setup: Value| -> (Value, Prepare) {
        (
            plain(setup),
            Box::new(move |world: &World| {
                world.link(&format!("project/.agent/evals/{path}"), target);
            }),
        )
    };
    let nothing = || Box::new(|_: &World| {}) as Prepare;
    let fifo = |path: &'static str, setup: Value| -> (Value, Prepare) {
        (
            plain(setup),
            Box::new(move |world: &World| {
                world.run(&format!("mkdir -p .agent/evals/inputs && mkfifo .agent/evals/{path}"));
            }),
        )
    };
    for (case, prepare) in [
        link("inputs/key", "../../../../home/.ssh/id", json!({"files": ["inputs/key"]})),
        link("inputs/keys", "../../../../home/.ssh", json!({"files": ["inputs"]})),
        link("inputs", "/etc", json!({"files": ["inputs/hostname"]})),
        link("inputs/zero", "/dev/zero", json!({"files": ["inputs/zero"]})),
        fifo("inputs/pipe", json!({"files": ["inputs/pipe"]})),
        fifo("inputs/pipe", json!({"files": ["inputs"]})),
        (plain(json!({"files": ["../../../home/.ssh/id"]})), nothing()),
        (plain(json!({"files": ["/etc/hostname"]})), nothing()),
        (plain(json!({"preinstall_skills": ["../../../home/.ssh"]})), nothing()),
        (plain(json!({"refused_skills": ["../../../home/.ssh/id"]})), nothing()),
        (plain(json!({"skill_roots": ["../../../home"]})), nothing()),
        (plain(json!({"skill_roots": ["/etc"]})), nothing()),
        link("skills/tool/key", "../../../../../home/.ssh/id", json!({"skill_roots": ["skills"]})),
        link(
            "skills/tool/key",
            "../../../../../home/.ssh/id",
            json!({"preinstall_skills": ["skills/tool"]}),
        ),
        link("skills/linked", "../../../../home/.ssh", json!({"skill_roots": ["skills"]})),
        link("elsewhere", "../../../home/.ssh", json!({"skill_roots": ["elsewhere"]})),
    ] {
        let world = trusting(clone());
        world.write("home/.ssh/id", secret);
        suite(&world, &case);
        prepare(&world);
        let seen = world.run("timeout 60 skillful eval run -q");
        assert!(seen.ends_with("[exit 4]\n"), "{case}: {seen}");
        assert!(seen.contains("error: cannot run the case `s/bad`"), "{case}: {seen}");
        assert!(!world.path("project/.agent/eval-runs").exists(), "{case}: something was begun");
        let trusted = world.run("timeout 60 skillful trust project");
        assert!(!trusted.contains("s.json\n"), "{case}: {trusted}");
    }
}

#[test]
fn a_file_of_cases_that_is_none_neither_hangs_nor_ends_the_others() {
    for make in [
        "mkfifo .agent/evals/bad.json",
        "ln -s /dev/zero .agent/evals/bad.json",
        "ln -s /dev/stdin .agent/evals/bad.yaml",
        "mkdir -p .agent/evals/bad && mkfifo .agent/evals/bad/case.json",
        "ln -s ../../../elsewhere .agent/evals/bad",
        "ln -s ../../../elsewhere/cases.json .agent/evals/bad.json",
        "truncate -s 20M .agent/evals/bad.json",
    ] {
        let world = trusting(World::new());
        suite(&world, &case("good", json!({}), answers()));
        world
            .write("elsewhere/cases.json", json!([case("else", json!({}), answers())]).to_string());
        world.run(make);
        let seen = world.run("timeout 60 skillful eval run -q");
        assert!(
            seen.contains("bad") && seen.contains("1 of 1 case passed\n[exit 1]"),
            "{make}: {seen}"
        );
    }
}

#[test]
fn what_must_come_out_is_compared_with_files_of_the_case_alone() {
    let world = trusting(World::new());
    let folder = "project/.agent/evals/suite/one";
    world.write("home/.ssh/id", "the-users-private-key");
    world.write(&format!("{folder}/case.json"), case("one", json!({}), answers()).to_string());
    world.link(&format!("{folder}/expected/id"), "../../../../../../home/.ssh/id");
    let seen = world.run("skillful eval run -q");
    assert!(seen.ends_with("[exit 4]\n") && !seen.contains("private"), "{seen}");
}

#[test]
fn judging_a_record_reads_nothing_outside_of_the_workspace() {
    let world = World::new();
    world.write("home/.ssh/id", "the-users-private-key");
    world.turns(&[answer("done")]);
    world.run("skillful run -q --model scripted:turns.json go");
    world.link("project/key", "../home/.ssh/id");
    world.run("mkfifo pipe");
    for path in [
        "/dev/zero",
        "pipe",
        "key",
        "../home/.ssh/id",
        &world.path("home/.ssh/id").to_string_lossy(),
    ] {
        let mut case = case("one", json!({}), answers());
        case["expect"] = json!({"files": [{"path": path, "exists": false}]});
        world.write("project/case.json", case.to_string());
        let judged = world.json("timeout 60 skillful eval judge last --case case.json --json");
        assert_eq!(judged["passed"], true, "{path}: {judged}");
    }
}

#[test]
fn a_recorded_run_takes_no_file_along_that_lies_elsewhere() {
    let world = World::new();
    world.write("home/.ssh/id", "the-users-private-key");
    world.write("project/here.txt", "here");
    world.write("project/.env", "KEY=1");
    world.write("project/.git/config", "[remote]");
    world.link("project/dir", "../home/.ssh");
    let paths = ["dir/id", "here.txt", ".env", ".git/config"];
    world.turns(&[paths.map(read).as_slice(), &[answer("done")]].concat());
    world.run("skillful run -q --model scripted:turns.json go");
    world.run("skillful eval from-run last --suite kept --id one");
    insta::assert_snapshot!(world.run("find .agent/evals -type f | sort"), @"
    .agent/evals/kept/one/case.json
    .agent/evals/kept/one/inputs/here.txt
    ");
    // A record may be anybody's, so its case waits like any other.
    assert!(world.run("skillful eval run -q").ends_with("[exit 4]\n"));
}

#[test]
fn a_new_case_is_not_written_through_a_link() {
    for link in
        [".agent", ".agent/evals", ".agent/evals/csv-report", ".agent/evals/csv-report/chosen"]
    {
        let world = World::new();
        world.write("home/kept/.keep", "");
        let up = "../".repeat(link.matches('/').count() + 1);
        world.link(&format!("project/{link}"), &format!("{up}home/kept"));
        let seen = world.run("skillful eval new csv-report");
        assert!(seen.ends_with("[exit 4]\n") && seen.contains(link), "{link}: {seen}");
        assert_eq!(world.run("find ../home/kept -type f"), "../home/kept/.keep\n", "{link}");
    }
    let world = World::new();
    world.skill("project/.agent/skills/zebra", "Counts the stripes of zebras.");
    world.link("project/.agent/skills/zebra/evals/triggers.json", "../../../../../home/.bashrc");
    assert!(world.run("skillful eval new zebra").ends_with("[exit 4]\n"));
    assert!(!world.path("home/.bashrc").exists());
}

#[test]
fn a_folder_of_cases_that_is_a_link_is_refused() {
    let world = World::new();
    world.run("mkdir .agent ../cases");
    world.link("project/.agent/evals", "../../cases");
    let refused = world.json("skillful --json eval run");
    assert_eq!(refused["error"]["code"], "StateUnsafe", "{refused}");
}

#[test]
fn what_would_take_long_to_read_is_refused() {
    let world = World::new();
    let aliases: String = (1..9)
        .map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(",")))
        .collect();
    world.write(
        "project/.agent/evals/y/case.yaml",
        format!("a0: &a0 [x]\n{aliases}id: y\ninput: x\n"),
    );
    let seen = world.run("skillful eval run --dry-run");
    assert!(seen.contains("liases"), "{seen}");
    fs::remove_dir_all(world.path("project/.agent/evals/y")).unwrap();
    let case =
        json!({"id": "r", "input": "x", "expect": {"output": {"regex": "(a{1,300}7){1,300}"}}});
    world.write("project/.agent/evals/r/case.json", case.to_string());
    let seen = world.run("skillful eval run --dry-run");
    assert!(seen.contains("`regex` cannot be used"), "{seen}");
}

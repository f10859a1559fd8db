//! Records and results that came with a clone: no command follows a link in them, waits for them or
//! shows them raw.

mod links;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::turns::answer;
use crate::world::World;

const RUNS: &str = "project/.agent/runs";

/// A run that would be the newest for a long time.
const NEWEST: &str = "99991231_235959_zzzz";

/// A request that needs no model of anybody.
const RUN: &str = "run --yes --model scripted:../turns.json hello";

/// A user with files of their own, and a model that says what a file tells it to.
fn world() -> World {
    turns(json!([answer("Hello.")]))
}

fn turns(turns: Value) -> World {
    let world = World::new();
    world.write("turns.json", json!({"turns": turns}).to_string());
    world.write("home/.ssh/id", "key").write("home/.ssh/config", "hosts");
    world.write("home/.bashrc", "alias ll='ls -l'\n");
    world
}

/// Runs a command that must neither wait nor take all memory.
fn bounded(world: &World, line: &str) -> String {
    let seen = world.run(&format!("ulimit -v 8000000; timeout 120 skillful {line}"));
    assert!(!seen.ends_with("[exit 124]\n"), "`{line}` waits");
    assert!(!seen.contains("panicked") && !seen.contains("memory allocation"), "{line}: {seen}");
    seen
}

/// The one run there is.
fn only_run(world: &World) -> String {
    let names = fs::read_dir(world.path(RUNS)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut runs: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.remove(0)
}

/// Commands that look at runs.
const LOOKS: [&str; 6] = [
    "runs list",
    "runs show last",
    "runs verify last",
    "runs replay last",
    "runs undo last",
    "eval from-run last",
];

const PRUNE: &str = "runs prune --older-than 0";

/// Ways to keep a reader waiting or to fill its memory.
fn endless(path: &std::path::Path, way: &str) {
    match way {
        "pipe" => {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        "zero" => symlink("/dev/zero", path).unwrap(),
        "folder" => fs::create_dir(path).unwrap(),
        _ => fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
    }
}

#[test]
fn no_file_of_a_run_keeps_a_command_waiting() {
    let files = ["events.jsonl", "events.seal", "run.json", "index.json", "inputs/catalog.txt"];
    for way in ["pipe", "zero", "folder", "sparse"] {
        for file in files {
            let world = world();
            let first = world.run(&format!("skillful {RUN}"));
            assert_eq!(first, "Hello.\n");
            let run = only_run(&world);
            let path = world.path(RUNS).join(&run).join(file);
            fs::remove_file(&path).unwrap();
            endless(&path, way);
            for line in LOOKS.into_iter().chain([PRUNE, "run --resume last"]) {
                bounded(&world, &line.replace("last", &run));
            }
        }
    }
}

#[test]
fn a_run_is_called_by_the_name_of_its_folder() {
    let world = world();
    assert_eq!(world.run(&format!("skillful {RUN}")), "Hello.\n");
    let run = only_run(&world);
    let path = format!("{RUNS}/{run}/run.json");
    let mut summary: Value = serde_json::from_str(&world.read(&path)).unwrap();
    for name in ["../../../home", "\u{1b}[31mred\u{202e}", NEWEST] {
        summary["run_id"] = name.into();
        world.write(&path, summary.to_string());
        assert_eq!(world.json("skillful runs list --json")["runs"][0]["run_id"], *run);
        assert!(world.run("skillful runs list").starts_with(&run));
        assert!(world.run("skillful runs show last").contains("Hello."));
    }
}

#[test]
fn nothing_of_a_record_is_shown_raw() {
    let world = world();
    let raw = "\u{1b}[2J\u{9b}31m\u{202e}\u{200b}x\r";
    let event = |seq: u32, kind: &str, data: Value| {
        let ts = format!("2026-11-15{raw}\u{1b}]0;t\u{7}0123456789");
        json!({"v": 1, "seq": seq, "ts": ts, "run_id": raw, "turn": 1, "type": kind, "data": data, "prev": raw}).to_string()
    };
    let plan = json!({"plan": {"steps": [{"title": raw, "status": raw}]}});
    let lines = [
        event(1, "run_started", json!({"setup": {"request": raw, "facts": {"model": raw}}})),
        event(2, "turn_started", json!({})),
        event(3, "plan_created", plan),
        event(4, "action_planned", json!({"action": {"type": raw}, "initiator": raw})),
        event(5, "approval_required", json!({"approval": {"effect": raw}})),
        event(6, "approval_granted", json!({"answer": {"answer": raw}})),
        event(7, "approval_denied", json!({"answer": {"message": raw}})),
        event(8, "observation_recorded", json!({"code": raw})),
        event(9, "observation_recorded", json!({"chars": raw})),
        event(10, "error", json!({"code": raw, "message": raw})),
        event(11, "run_finished", json!({"stop_reason": raw, "answer": raw})),
    ];
    world.write(&format!("{RUNS}/{NEWEST}/events.jsonl"), lines.join("\n") + "\n");
    for line in LOOKS.into_iter().chain(["run --resume last", PRUNE]) {
        let seen = world.run(&format!("skillful {}", line.replace("last", NEWEST)));
        let is_hidden = |c: char| {
            c != '\n'
                && (c.is_control()
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'))
        };
        assert!(!seen.contains(is_hidden), "{line}: {}", seen.escape_debug());
    }
}

#[test]
fn a_tree_without_end_is_pruned() {
    let world = world();
    assert_eq!(world.run(&format!("skillful {RUN}")), "Hello.\n");
    let run = only_run(&world);
    let name = "n".repeat(200);
    let nest = format!(
        "for i in $(seq 60); do mkdir {name}; cd -P {name}; done; mkdir x; : > x/f; chmod 0 x"
    );
    let made = world.run(&format!(
        "mkdir -p .agent/runs/{run}/sandbox && cd .agent/runs/{run}/sandbox && {nest} 2>&1; true"
    ));
    assert_eq!(made, "", "the tree can be made");
    let seen = world.run(&format!("skillful {PRUNE}"));
    assert!(seen.starts_with(&format!("removed  {run}\n")), "{seen}");
    assert!(!world.path(RUNS).join(&run).exists());
    let left = fs::read_dir(world.path(RUNS)).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name()).filter(|name| name != ".gitignore");
    assert_eq!(left.collect::<Vec<_>>(), [".indexes"]);
}

#[test]
fn a_finished_run_leaves_no_temporary_file_and_no_trace_in_git() {
    let world = world();
    assert_eq!(world.run(&format!("skillful {RUN}")), "Hello.\n");
    let run = only_run(&world);
    assert_eq!(world.run("cd .agent/runs && find . -name '*.tmp'"), "");
    assert!(world.path(RUNS).join(run).join("state.json").exists());
    assert_eq!(world.read(&format!("{RUNS}/.gitignore")), "*\n");
    // Whoever wants their runs in git changes it once.
    world.write(&format!("{RUNS}/.gitignore"), "");
    world.run(&format!("skillful {RUN}"));
    assert_eq!(world.read(&format!("{RUNS}/.gitignore")), "");
}

#[test]
fn the_doctor_sees_what_commands_refuse() {
    let world = world();
    world.run("mkdir -p .agent elsewhere");
    let state = |world: &World| {
        let seen = world.json("skillful doctor --json");
        let checks = seen["checks"].as_array().unwrap().clone();
        let found = checks.into_iter().filter(|check| check["name"] == "state");
        found.map(|check| check["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(state(&world).is_empty());
    for name in ["runs", "evals", "eval-runs", "skills.lock"] {
        symlink("../elsewhere", world.path(&format!("project/.agent/{name}"))).unwrap();
        let found = state(&world);
        assert!(found.len() == 1 && found[0].contains(name), "{name}: {found:?}");
        assert!(world.run("skillful doctor").ends_with("[exit 1]\n"), "{name}");
        fs::remove_file(world.path(&format!("project/.agent/{name}"))).unwrap();
    }
    world.skill("project/.agent/skills/deploy", "Deploys.");
    world.run("skillful trust project && echo more >> .agent/skills/deploy/extra.md");
    assert!(world.run("skillful doctor").contains("`skillful trust project deploy`"));
}

/// The commands that an output proposes, as somebody would paste them.
fn proposed(seen: &str) -> Vec<String> {
    let quoted = seen.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.starts_with("skillful ")).map(str::to_owned).collect()
}

#[test]
fn no_name_or_path_makes_anything_else_of_a_command_that_is_proposed() {
    let world = world();
    let skill = |folder: &str, name: &str| {
        let text = format!("---\nname: {}\ndescription: About zebras.\n---\n", json!(name));
        world.write(&format!("project/.agent/skills/{folder}/SKILL.md"), text);
    };
    skill("author", "--author");
    skill("semicolon", "a; touch PWN");
    skill("x$(touch PWN)", "x");
    let lockfile = |name: &str| {
        let skill = json!({"name": name, "version": null, "source": "x.zip", "resolved": null,
            "sha256": "0".repeat(64), "files": [], "manifest": null, "signature": null, "signer": null,
            "installed_at": "2026-11-15T08:30:00Z"});
        let skill: skill::lock::LockedSkill = serde_json::from_value(skill).unwrap();
        let mut lockfile = skill::lock::Lockfile::default();
        lockfile.insert(skill);
        world.write("project/.agent/skills.lock", String::from_utf8(lockfile.to_bytes()).unwrap());
    };
    let mut lines: Vec<String> =
        ["list", "doctor", "run hello", "validate"].map(str::to_owned).into();
    for name in ["--author", "a; touch PWN", "x"] {
        for command in ["inspect", "why", "eval triggers", "eval new", "trust project --dry-run"] {
            lines.push(format!("{command} -- '{name}'"));
        }
        lines.push(format!("run --skill='{name}' hello"));
    }
    let mut tried = 0;
    for name in [None, Some("--author"), Some("a; touch PWN")] {
        if let Some(name) = name {
            lockfile(name);
            lines = ["outdated", "update", "install --locked --scope project"]
                .map(str::to_owned)
                .into();
        }
        for line in &lines {
            for command in proposed(&world.run(&format!("skillful {line} 2>&1"))) {
                world.run(&format!("{command} < /dev/null"));
                tried += 1;
                assert!(!world.path("project/PWN").exists(), "{line}: {command}");
                let trusted = fs::read_to_string(world.path("home/.agent/trust.json"));
                assert!(!trusted.unwrap_or_default().contains("authors"), "{line}: {command}");
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn what_is_trusted_by_name_is_what_is_shown_by_that_name() {
    let world = world();
    world.skill("project/.agent/skills/fmt", "Formats.");
    world.skill("project/.claude/skills/fmt", "Does evil.");
    assert!(world.run("skillful inspect fmt").contains("Formats."));
    assert_eq!(world.run("skillful trust project fmt -q | grep -c new"), "1\n");
    // What is written into the one keeps its trust, and gives the other none.
    world.run("skillful eval new fmt");
    assert_eq!(world.json("skillful why fmt --json")["hidden_by"], json!([]));
    fs::remove_dir_all(world.path("project/.agent/skills/fmt")).unwrap();
    assert!(world.run("skillful list --source project").contains("untrusted"));
    assert!(world.run("skillful run --skill fmt hello").ends_with("[exit 4]\n"));
}

#[test]
fn whatever_trust_covers_is_shown_or_named() {
    let world = world();
    world.skill("project/.agent/skills/hid", "Hides.");
    for file in [".hidden/e.sh", "node_modules/x/e.sh", "lib/.deep/e.sh"] {
        world.write(&format!("project/.agent/skills/hid/{file}"), "echo\n");
    }
    let seen = world.json("skillful inspect hid --json");
    assert_eq!(seen["unlisted"], json!([".hidden/", "lib/.deep/", "node_modules/"]));
    assert!(world.run("skillful inspect hid").contains(".hidden/  not listed, and part of it"));
}

#[test]
fn a_device_in_the_place_of_a_file_is_none() {
    let world = world();
    // The second says that it is a file, and has no end for those who may read it.
    for device in ["/dev/zero", "/proc/kmsg"] {
        let _ = fs::remove_file(world.path("project/s.json"));
        symlink(device, world.path("project/s.json")).unwrap();
        for line in [
            "run --model scripted:s.json hello",
            "eval run csv-report --baseline s.json --dry-run",
            "trust key s.json --name x",
        ] {
            let seen = world.run(&format!("ulimit -v 8000000; timeout 20 skillful {line}"));
            let ended = seen.ends_with("[exit 1]\n") || seen.ends_with("[exit 2]\n");
            assert!(ended, "{device}: {line}: {seen}");
        }
    }
}

#[test]
fn a_project_does_not_have_the_whole_disk_searched() {
    let world = world();
    world.skill("home/elsewhere/own", "Mine.");
    world.skill("project/more/inner", "Of the project.");
    let roots = json!({"skill_roots": ["more", "..", "~/", "/"]});
    world.write("project/.agent/config.json", roots.to_string());
    let seen = world.run("skillful list --source project");
    assert!(seen.contains("inner") && !seen.contains("Mine."), "{seen}");
    assert_eq!(seen.matches("it contains more than the project").count(), 3, "{seen}");
}

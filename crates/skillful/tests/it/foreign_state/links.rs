//! No link is followed, neither to read nor to write.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{LOOKS, NEWEST, PRUNE, RUN, RUNS, only_run, turns, world};
use crate::turns::{answer, call};
use crate::world::World;

/// Every file and folder of the user beside the project, with its content.
fn outside(world: &World) -> String {
    let all =
        r"find . \( -path ./project -o -path ./home/.cache -o -path ./home/.agent \) -prune -o";
    world.run(&format!("cd ..; {all} -print | sort; {all} -type f -print -exec cat {{}} +"))
}

#[test]
fn a_folder_of_state_that_is_a_link_is_refused() {
    for link in [".agent", ".agent/runs"] {
        let world = world();
        world.write("elsewhere/runs/.indexes/mine.json", "mine");
        let target = if link == ".agent" { "elsewhere" } else { "elsewhere/runs" };
        let up = if link == ".agent" { "../" } else { "../../" };
        world.link(&format!("project/{link}"), &format!("{up}{target}"));
        let before = outside(&world);
        for line in LOOKS.into_iter().chain([PRUNE, RUN, "run --resume last"]) {
            let seen = world.run(&format!("skillful {line}"));
            assert!(
                seen.contains("it is a link") && seen.contains("hint: "),
                "{link}: {line}: {seen}"
            );
            assert!(seen.ends_with("[exit 4]\n"), "{link}: {line}: {seen}");
        }
        let failure = world.json(&format!("skillful {RUN} --json"));
        assert_eq!(failure["error"]["code"], "StateUnsafe", "{failure}");
        assert_eq!(outside(&world), before, "{link}");
    }
}

const EVAL: &str = "eval run ~/case.json";

#[test]
fn results_of_evals_are_not_written_through_a_link() {
    let world = world();
    world.write("home/case.json", r#"{"id": "one", "input": "hello", "expect": {}}"#);
    world.write("elsewhere/mine", "mine").link("project/.agent/eval-runs", "../../elsewhere");
    let before = outside(&world);
    for line in [EVAL, "eval run ~/case.json --resume last"] {
        let seen = world.run(&format!("skillful {line}"));
        assert!(seen.contains("it is a link") && seen.ends_with("[exit 4]\n"), "{line}: {seen}");
    }
    assert_eq!(outside(&world), before);
}

#[test]
fn links_among_the_results_of_evals_are_not_followed() {
    for name in ["records", "records/*", "results.jsonl", "report.json"] {
        let world = world();
        world.write("home/case.json", r#"{"id": "one", "input": "hello", "expect": {}}"#);
        let seen = world.run(&format!("skillful {EVAL}"));
        assert!(seen.starts_with("1 of 1 case passed"), "{seen}");
        let target = if name == "records" { "home/.ssh" } else { "home/.bashrc" };
        let target = world.path(target).display().to_string();
        // As if it had been interrupted: there is a result to come, and its record.
        let plant = format!("odd=$(echo {name}) && rm -r $odd && ln -s {target} $odd");
        world.run(&format!("cd .agent/eval-runs/* && : > results.jsonl && {plant}"));
        let before = outside(&world);
        let seen = world.run("skillful eval run ~/case.json --resume last");
        assert_eq!(outside(&world), before, "{name}: {seen}");
    }
}

#[test]
fn pruning_and_running_leave_alone_what_a_link_leads_to() {
    let world = world();
    world.link(&format!("{RUNS}/.indexes"), "../../../home/.ssh");
    let before = outside(&world);
    for line in [PRUNE, RUN] {
        let seen = world.run(&format!("skillful {line}"));
        assert!(seen.contains("it is a link") && seen.ends_with("[exit 4]\n"), "{seen}");
    }
    assert_eq!(outside(&world), before);
}

#[test]
fn a_removed_run_that_is_a_link_takes_nothing_with_it() {
    let world = world();
    world.link(&format!("{RUNS}/.removed-{NEWEST}"), "../../../home/.ssh");
    world.link(&format!("{RUNS}/{NEWEST}"), "../../../home/.ssh");
    let before = outside(&world);
    let seen = world.run(&format!("skillful {PRUNE} --max-megabytes 0"));
    assert_eq!(outside(&world), before, "{seen}");
    assert!(!world.path(RUNS).join(format!(".removed-{NEWEST}")).exists(), "{seen}");
}

#[test]
fn links_in_the_folder_of_a_run_are_not_followed() {
    let write = call("write_file", json!({"path": "new.txt", "content": "x"}));
    let names = [
        "final.md.tmp",
        "run.json.tmp",
        "state.json",
        "state.json.tmp",
        "events.seal",
        "changes/000001.json.tmp",
        "changes",
        "observations",
        "inputs",
    ];
    for name in names {
        let world = turns(json!([write, answer("Hello.")]));
        world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
        let asked = world.run(&format!("skillful {}", RUN.replace("--yes ", "")));
        assert!(asked.ends_with("[exit 3]\n"), "{asked}");
        let run = only_run(&world);
        let path = world.path(RUNS).join(&run).join(name);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let (home, folder) = (world.path("home/.bashrc"), world.path("home/.ssh"));
        symlink(if name.contains('.') { home } else { folder }, &path).unwrap();
        let before = outside(&world);
        let seen = world.run(&format!("skillful run --resume {run} --yes --approve write_file"));
        assert_eq!(outside(&world), before, "{name}: {seen}");
    }
}

#[test]
fn scripts_do_not_write_where_a_link_leads() {
    for name in ["sandbox", "artifacts", "inputs", "observations"] {
        let world = World::new();
        world.write("home/.ssh/id", "key").write("project/sales.csv", "region,amount\nnorth,10\n");
        let asked = world.run("skillful run \"Summarise sales.csv\"");
        assert!(asked.ends_with("[exit 3]\n"), "{asked}");
        let run = only_run(&world);
        let path = world.path(RUNS).join(&run).join(name);
        fs::remove_dir_all(&path).unwrap();
        symlink(world.path("home/.ssh"), &path).unwrap();
        let before = outside(&world);
        let seen = world.run(&format!("skillful run --resume {run} --yes"));
        assert_eq!(outside(&world), before, "{name}: {seen}");
        assert!(!seen.contains("Rows: 1"), "{name}: {seen}");
    }
}

#[test]
fn a_catalog_that_is_a_link_is_not_read() {
    let world = world();
    world.run(&format!("skillful {RUN}"));
    let path = world.path(RUNS).join(only_run(&world)).join("inputs/catalog.txt");
    fs::rename(&path, world.path("catalog.txt")).unwrap();
    symlink(world.path("catalog.txt"), &path).unwrap();
    let seen = world.run("skillful runs replay last");
    assert!(seen.contains("it is a link") && seen.ends_with("[exit 4]\n"), "{seen}");
}

#[test]
fn settings_are_not_written_through_a_link() {
    for (link, target) in [(".agent/config.json", "../../home/new"), (".agent", "../elsewhere")] {
        let world = world();
        world.write("elsewhere/mine", "mine");
        world.link(&format!("project/{link}"), target);
        let before = outside(&world);
        let seen = world.run("skillful config init");
        assert!(seen.ends_with("[exit 4]\n") || seen.ends_with("[exit 1]\n"), "{seen}");
        assert_eq!(outside(&world), before, "{link}");
    }
}

#[test]
fn a_new_skill_is_not_written_through_a_link_that_leaves_the_project() {
    let world = world();
    fs::create_dir_all(world.path("project/.agent")).unwrap();
    world.skill("home/.agent/skills/mine", "My own skill.");
    let before = outside(&world);
    for target in ["../../home/.ssh", "../../home/.agent/skills"] {
        symlink(target, world.path("project/.agent/skills")).unwrap();
        for line in ["new autostart --script", "eval new mine --source project"] {
            let seen = world.json(&format!("skillful --json {line}"));
            let code = seen["error"]["code"].as_str().unwrap_or_default();
            assert!(["OutsideProject", "SkillNotFound"].contains(&code), "{line}: {seen}");
        }
        fs::remove_file(world.path("project/.agent/skills")).unwrap();
    }
    assert_eq!(outside(&world), before);
    let evals = world.path("home/.agent/skills/mine/evals");
    assert!(!evals.exists() && !world.path("home/.agent/skills/autostart").exists());
    // Where it stays in the project, it is the project's affair.
    fs::create_dir(world.path("project/shared")).unwrap();
    symlink("../shared", world.path("project/.agent/skills")).unwrap();
    world.json("skillful --json new here");
    assert!(world.path("project/shared/here/SKILL.md").exists());
}

#[test]
fn nothing_is_packed_or_installed_through_a_link_out_of_the_project() {
    let world = world();
    world.skill("home/.agent/skills/priv", "Private.");
    world.write("home/.agent/skills/priv/.env", "KEY=1");
    world.run("mkdir -p .agent/skills");
    symlink("../../../home/.agent/skills/priv", world.path("project/.agent/skills/report"))
        .unwrap();
    symlink("../home/.agent/skills", world.path("project/skills")).unwrap();
    for line in [
        "pack skills -o ../o.zip",
        "pack skills/priv -o ../o.zip",
        "pack .agent/skills/report -o ../o.zip",
        "export report --scope project -o ../o.zip",
        "install .agent/skills/report --scope project --force",
        "install skills --scope project",
    ] {
        let seen = world.json(&format!("skillful --json {line}"));
        assert_eq!(seen["error"]["code"], "OutsideProject", "{line}: {seen}");
        assert!(
            !world.path("o.zip").exists() && !world.path("project/.agent/skills/priv").exists()
        );
    }
    world.json("skillful --json pack ~/.agent/skills/priv -o ../o.zip");
    assert!(world.path("o.zip").exists(), "what is named itself is meant");
}

#[test]
fn a_link_among_what_was_kept_is_not_brought_back() {
    let world = world();
    world.skill("home/src/zed", "Mine.");
    fs::create_dir_all(world.path("project/.agent/skills/.trash/zed")).unwrap();
    let kept = world.path("project/.agent/skills/.trash/zed/20261116T054802Z");
    symlink(world.path("home/src/zed"), kept).unwrap();
    let seen = world.json("skillful --json restore zed --scope project");
    assert_eq!(seen["error"]["code"], "NothingKept", "{seen}");
    assert!(!world.path("project/.agent/skills/zed").exists());
}

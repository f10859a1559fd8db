//! What `always` is bound to: everything that a script can read of its skill.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::turns::{answer, codes, last_run, run_script, select};
use crate::world::World;

const SKILL: &str = "home/.agent/skills/tool";
const RUN: &str = "skillful run --model scripted:turns.json x";
const QUESTION: &str = "[?] ";

/// A world whose model runs a script of the user's skill `tool`, which uses files all over the skill.
fn world() -> World {
    let world = World::new().with("TERM", "dumb");
    world.skill(SKILL, "Does things.");
    let helpers = ["scripts/.lib/a.sh", "scripts/node_modules/m/a.sh", "1/2/3/4/5/6/7/8/a.sh"];
    for helper in helpers {
        world.write(&format!("{SKILL}/{helper}"), "echo good\n");
    }
    world.link(&format!("{SKILL}/current"), "1");
    let sourced = helpers.map(|helper| format!(". \"$SKILL_DIR/{helper}\"\n")).concat();
    world.write(&format!("{SKILL}/scripts/run.sh"), format!("set -e\n{sourced}"));
    turns(&world, 1);
    world
}

/// Turns that run the script so many times.
fn turns(world: &World, times: usize) {
    let scripts = std::iter::repeat_n(run_script("tool", "scripts/run.sh", &[]), times);
    let turns = [select(&["tool"])].into_iter().chain(scripts).chain([answer("done")]);
    world.turns(&turns.collect::<Vec<_>>());
}

/// Whether the script runs without a question; where there is one, nobody answers it.
fn runs_unasked(world: &World) -> bool {
    let seen = world.run(RUN);
    assert!(seen.contains("done") || seen.contains("[exit 3]"), "{seen}");
    seen.contains("done")
}

fn always(world: &World) {
    let seen = world.dialogue(RUN, QUESTION, "a\n");
    assert!(seen.contains("done"), "{seen}");
}

/// Codes of what the model observed in the last run, and what its scripts wrote.
fn observed(world: &World) -> String {
    let codes = codes(world).into_iter().map(|code| format!("{code}\n"));
    let written = format!("cat .agent/runs/{}/observations/*.stdout", last_run(world));
    codes.collect::<String>() + &world.run(&written)
}

#[test]
fn always_ends_with_any_change_of_what_the_script_can_read() {
    let world = world();
    always(&world);
    assert!(runs_unasked(&world), "the same again is not asked");
    let check = |what: &str, change: &dyn Fn()| {
        change();
        assert!(!runs_unasked(&world), "{what}: it was not asked again");
        always(&world);
        assert!(runs_unasked(&world), "{what}: it was asked again without a change");
    };
    let path = |file: &str| world.path(&format!("{SKILL}/{file}"));
    let write = |file: &str| fs::write(path(file), "echo changed\n").unwrap();
    check("a file in a hidden folder", &|| write("scripts/.lib/a.sh"));
    check("a file among dependencies", &|| write("scripts/node_modules/m/a.sh"));
    check("a file far below", &|| write("1/2/3/4/5/6/7/8/a.sh"));
    check("a new hidden file", &|| {
        fs::create_dir(path(".git")).unwrap();
        write(".git/hook");
    });
    check("a file that is gone", &|| fs::remove_file(path(".git/hook")).unwrap());
    check("an empty folder", &|| fs::create_dir(path("empty")).unwrap());
    check("what can be executed", &|| {
        fs::set_permissions(path("scripts/.lib/a.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    check("where a link leads", &|| {
        fs::remove_file(path("current")).unwrap();
        world.link(&format!("{SKILL}/current"), "1/2");
    });
}

#[test]
fn a_helper_swapped_while_the_question_is_open_does_not_run() {
    for file in ["scripts/.lib/a.sh", "scripts/run.sh", "1/2/3/4/5/6/7/8/a.sh"] {
        let world = world();
        turns(&world, 2);
        let swap = || {
            world.write(&format!("{SKILL}/{file}"), "echo evil\n");
        };
        // The first answer is to what is gone; the second question is about what is there now.
        let seen = world.meanwhile(RUN, QUESTION, swap, "a\n", &[(QUESTION, "n\n")]);
        assert!(seen.contains("done"), "{file}: {seen}");
        let observed = observed(&world);
        assert!(observed.contains("\"SkillChanged\""), "{file}: {observed}");
        assert!(!observed.contains("evil"), "{file}: {observed}");
        assert!(!runs_unasked(&world), "{file}: the approval was for what is gone");
    }
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_was_not_approved_never_runs_however_files_change() {
    let world = world();
    always(&world);
    let helper = world.path(&format!("{SKILL}/scripts/.lib/a.sh"));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = world.path("next");
            for text in ["echo evil\n", "echo good\n"].iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                fs::write(&next, text).unwrap();
                fs::rename(&next, &helper).unwrap();
            }
        });
        for _ in 0..10 {
            // It runs, is refused or asks: whatever was there when somebody looked.
            world.run(RUN);
        }
        stop.store(true, Ordering::Relaxed);
    });
    let written = world.run("cat .agent/runs/*/observations/*.stdout");
    assert!(written.contains("good") && !written.contains("evil"), "{written}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_runs_is_a_copy_of_what_was_approved() {
    let world = world();
    let script = "cd \"$SKILL_DIR\" && find . | sort && test -x scripts/run.sh && ls -l current | sed 's/.*current/current/'";
    world.write(&format!("{SKILL}/scripts/run.sh"), script);
    fs::set_permissions(
        world.path(&format!("{SKILL}/scripts/run.sh")),
        fs::Permissions::from_mode(0o700),
    )
    .unwrap();
    world.run(&format!("{RUN} --yes"));
    let observed = observed(&world);
    for line in ["./1/2/3/4/5/6/7/8/a.sh", "./scripts/.lib/a.sh", "./SKILL.md", "current -> 1"] {
        assert!(observed.lines().any(|seen| seen == line), "{line}: {observed}");
    }
    // Nothing of it stays behind.
    let left = world.run("find .agent/runs -name run.sh -o -name 'skill-*'");
    assert_eq!(left, "");
}

/// Where not everything can be checked, a question still lets the script run, but never for always.
fn check_unbound(world: &World, reason: &str) {
    // `a` is no answer here, so the question comes again.
    let seen = world.conversation(RUN, &[(QUESTION, "a\n"), (QUESTION, "o\n")]);
    assert!(seen.contains("done") && seen.contains(reason), "{seen}");
    assert!(!seen.contains("[a]lways"), "{seen}");
    assert!(observed(world).contains("good"), "{}", observed(world));
    assert_eq!(world.json("skillful permissions list --json")["grants"], json!([]));
    assert!(!runs_unasked(world));
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_link_out_of_the_skill_is_never_approved_for_always() {
    let world = world();
    world.write("home/.agent/shared.sh", "echo good\n");
    world.link(&format!("{SKILL}/scripts/shared.sh"), "../../../shared.sh");
    check_unbound(&world, "`scripts/shared.sh` leads out of the skill");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_link_that_leads_nowhere_yet_may_lead_out_later() {
    let world = world();
    world.link(&format!("{SKILL}/later"), "/nonexistent/later");
    check_unbound(&world, "`later` leads out of the skill");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_pipe_is_never_approved_for_always() {
    let world = world();
    world.run(&format!("mkfifo ../{SKILL}/pipe"));
    check_unbound(&world, "`pipe` is neither a file nor a folder");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn too_many_files_are_never_approved_for_always() {
    let world = world();
    world.run(&format!("mkdir ../{SKILL}/many && cd ../{SKILL}/many && seq 20001 | xargs touch"));
    check_unbound(&world, "it has more than 20000 files and folders");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn too_many_bytes_are_never_approved_for_always() {
    let world = world();
    world.run(&format!("truncate -s 257M ../{SKILL}/large"));
    check_unbound(&world, "it has more than 256 MiB");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn folders_without_end_are_never_approved_for_always() {
    let world = world();
    let line = format!("cd ../{SKILL} && for i in $(seq 200); do mkdir d && cd d; done");
    world.run(&line);
    check_unbound(&world, "folders are nested deeper than 100 levels");
}

#[test]
fn links_within_the_skill_and_into_the_system_are_bound() {
    let world = world();
    world.link(&format!("{SKILL}/bin/sh"), "/usr/bin/sh");
    world.link(&format!("{SKILL}/scripts/.lib/again"), "../../current/2");
    always(&world);
    assert!(runs_unasked(&world));
}

#[test]
fn a_question_says_to_which_content_it_is_answered() {
    let world = world();
    let asked = || world.json(&RUN.replace(" run ", " run --json "))["approval"].clone();
    let before = asked();
    assert_eq!(
        before["always"],
        "this script of this skill, in this project, until its files change"
    );
    assert!(before["params"]["content"].as_str().unwrap().starts_with("sha256:"), "{before}");
    // Hashes are all shown alike; the rest of the question is the same.
    assert_eq!(asked(), before);
    let hash =
        |line: &str| world.run(&format!("{line} | grep -o '\"content\":\"[^\"]*' | cut -c20-"));
    let line = RUN.replace(" run ", " run --json ");
    let (one, two) = (hash(&line), hash(&line));
    assert_eq!(one, two);
    world.write(&format!("{SKILL}/scripts/.lib/a.sh"), "echo changed\n");
    assert_ne!(hash(&line), one);
}

#[test]
fn an_approval_that_is_bound_to_nothing_does_not_count() {
    let world = world();
    world.run(&format!("mkfifo ../{SKILL}/pipe"));
    let project = world.path("project");
    let grant = json!({"project": project.to_str().unwrap(), "permission": "run_script",
        "pattern": "tool/scripts/run.sh", "skill_hash": null});
    world.write("home/.agent/grants.json", json!({"version": 1, "grants": [grant]}).to_string());
    assert!(!runs_unasked(&world));
}

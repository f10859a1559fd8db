//! A run that is killed at any instant while its commands write: the workspace is as it was, nothing is lost, and the
//! next command finishes the work.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::turns::{answer, call};
use crate::world::World;

const WRITES: &str = "for i in $(seq 40); do mkdir -p out/$i; for j in 1 2 3 4 5; do echo $i > out/$i/$j; done; done; \
                      rm -rf old; [ -e moved ] || mv kept moved; echo changed > changed";

/// What the user had, and has again when everything is taken back.
const BEFORE: &str = "find . -path ./.agent -prune -o -path ./.git -prune -o -type f -print | sort | xargs sha256sum";

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_run_that_is_killed_while_its_commands_write_can_be_finished() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut state = now.as_nanos() as u64;
    println!("seed {state}");
    for round in 0..12 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        check(round, Duration::from_micros((state >> 33) % 400_000));
    }
}

fn check(round: u32, delay: Duration) {
    let world = World::new();
    for path in ["old/a", "old/b", "kept", "changed"] {
        world.write(&format!("project/{path}"), path);
    }
    let command = |line: &str| call("run_command", json!({"command": line}));
    // A command whose end nobody saw is not repeated unasked; the model does it again.
    world.turns(&[command(WRITES), command(WRITES), answer("done")]);
    let before = world.run(BEFORE);
    let run = "skillful run --model scripted:turns.json --approve run_command -q";
    let mut running = world
        .command(&format!("exec {run} --apply x"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(delay);
    running.kill().unwrap();
    running.wait().unwrap();
    let about = format!("round {round}, killed after {delay:?}");
    // Whatever was on its way is finished or taken back by the next command.
    if world.path("project/.agent/runs").exists() {
        world.run("skillful runs changes last");
    }
    let is_applied = world.path("project/moved").exists();
    match is_applied {
        true => assert_eq!(world.run("ls out | wc -l; cat changed"), "40\nchanged\n", "{about}"),
        false => assert_eq!(world.run(BEFORE), before, "{about}"),
    }
    let listed = world.run("skillful runs list");
    if !is_applied {
        let again = match listed.contains("No runs") || listed.trim().is_empty() {
            true => world.run(&format!("{run} --apply x")),
            false => world.run(&format!("{run} --apply --resume last")),
        };
        assert!(again.contains("done"), "{about}: {again}");
    }
    assert_eq!(
        world.run("ls out | wc -l; ls out/40 | wc -l; cat changed; ls"),
        "40\n5\nchanged\nchanged\nmoved\nout\nturns.json\n",
        "{about}"
    );
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n", "{about}");
    let undone = world.run("skillful runs undo last");
    assert!(!undone.contains("[exit"), "{about}: {undone}");
    assert_eq!(world.run(BEFORE), before, "{about}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_command_that_makes_a_million_files_is_stopped_and_nothing_is_applied() {
    let world = World::new();
    let line = "for i in $(seq 1000); do mkdir d$i; cd d$i; seq 1000 | xargs touch; cd ..; done";
    world.turns(&[call("run_command", json!({"command": line})), answer("done")]);
    let seen =
        world.run("skillful run --model scripted:turns.json --approve run_command --apply -q x");
    assert!(seen.contains("LayerTooLarge") && seen.contains("execution.layer_files"), "{seen}");
    assert_eq!(world.run("ls"), "turns.json\n");
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
}

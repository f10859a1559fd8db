//! A real process is killed with SIGKILL, before every operation of a change and at random instants. Each time
//! whoever comes next finds the old state or the new one, whole.
//!
//! The test program is both sides: with `PACK_KILL_WORLD` set, [`KILLED`] is the process that gets killed.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use rustix::process::{Signal, getpid, kill_process};
use skillful_pack::disk::Disk;

use crate::support::{CHANGES, World, prepared};

const KILLED: &str = "slow::kill::a_kill_before_any_operation_leaves_old_or_new";
const WORLD: &str = "PACK_KILL_WORLD";
const CHANGE: &str = "PACK_KILL_CHANGE";
const OPERATION: &str = "PACK_KILL_OPERATION";
/// Kills at random instants, unless `PACK_KILLS` says otherwise.
const RANDOM_KILLS: usize = 70;

#[test]
fn a_kill_before_any_operation_leaves_old_or_new() {
    if let Some(folder) = env::var_os(WORLD) {
        return change(&World::at(folder.into()));
    }
    let operations: usize = (0..CHANGES.len()).map(kill_at_every_operation).sum();
    println!("killed before {operations} operations");
}

#[test]
fn a_kill_at_any_instant_leaves_old_or_new() {
    let kills = kill_at_random_instants();
    println!("killed at {kills} random instants");
}

/// The process that gets killed.
fn change(world: &World) {
    let number = |name: &str| env::var(name).ok().and_then(|number| number.parse::<usize>().ok());
    let (_, change) = CHANGES[number(CHANGE).unwrap()];
    let (last, counter) = (number(OPERATION), AtomicUsize::new(0));
    let disk = Disk::with_hook(move |_| {
        if last == Some(counter.fetch_add(1, Ordering::SeqCst)) {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        Ok(())
    });
    change(world, &disk).unwrap();
}

fn spawn(world: &World, change: usize, operation: Option<usize>) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", KILLED, "--nocapture"]).stdout(Stdio::null());
    command.env(WORLD, world.path("")).env(CHANGE, change.to_string());
    if let Some(operation) = operation {
        command.env(OPERATION, operation.to_string());
    }
    command.spawn().unwrap()
}

/// Waits for the process; answers whether it was killed.
fn is_killed(mut process: Child) -> bool {
    let status = process.wait().unwrap();
    let was_killed = status.signal() == Some(Signal::KILL.as_raw());
    assert!(was_killed || status.success(), "{status:?}");
    was_killed
}

fn kill_at_every_operation(change: usize) -> usize {
    let (name, act) = CHANGES[change];
    let world = prepared();
    let old = world.state();
    act(&world, &Disk::default()).unwrap();
    let new = world.recovered();
    // Every third, from another start for each change: the fault injection has them all.
    for (count, operation) in (change % 3..).step_by(3).enumerate() {
        world.reset(&old);
        let killed = is_killed(spawn(&world, change, Some(operation)));
        let state = world.recovered();
        assert!(
            state == new || killed && state == old,
            "{name}: neither old nor new at operation {operation}"
        );
        if !killed {
            return count;
        }
    }
    unreachable!("a change ends")
}

fn kill_at_random_instants() -> usize {
    let change = 1;
    let world = prepared();
    let old = world.state();
    let clock = Instant::now();
    assert!(!is_killed(spawn(&world, change, None)));
    let whole = clock.elapsed();
    let new = world.recovered();
    assert_ne!(new, old);
    let wanted =
        env::var("PACK_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(RANDOM_KILLS);
    let mut state = 7_u32;
    let mut killed = 0;
    for _ in 0..wanted {
        world.reset(&old);
        let mut process = spawn(&world, change, None);
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let part = Duration::from_nanos((u64::from(state >> 8) * (whole.as_nanos() as u64)) >> 24);
        thread::sleep(part);
        let _ = process.kill();
        killed += usize::from(is_killed(process));
        let state = world.recovered();
        assert!(state == old || state == new, "neither old nor new after {part:?}");
    }
    killed
}

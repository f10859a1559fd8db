//! A real process is killed with SIGKILL, at every moment of a run and at random instants. Each time the record
//! must be sound, hold everything that was acknowledged, and lead to the same answer with nothing done twice.
//!
//! The test program is both sides: with `AGENT_KILL_WORLD` set, [`KILLED`] is the process that gets killed.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use agent::run::Run;
use rustix::process::{Signal, getpid, kill_process};
use skillful_runtime::journal::{Durability, verify};

use crate::support::scenarios::three_effects;
use crate::support::{Hooks, Moment, World, answer, owner, setup};

const KILLED: &str = "slow::kill::a_run_that_is_killed_at_any_moment_goes_on";
const WORLD: &str = "AGENT_KILL_WORLD";
const MOMENT: &str = "AGENT_KILL_MOMENT";
/// How many kills at random instants, unless `AGENT_KILLS` says otherwise.
const RANDOM_KILLS: usize = 210;
const ANSWER: &str = "done: one, two, three";

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on() {
    if let Some(folder) = env::var_os(WORLD) {
        return run(&World::at(Path::new(&folder)));
    }
    let moments = kill_at_every_moment();
    println!("killed at {moments} moments");
}

#[test]
fn a_run_that_is_killed_at_any_instant_goes_on() {
    let kills = kill_at_random_instants();
    println!("killed at {kills} random instants");
}

/// The process that gets killed: begins the run, or takes it up.
fn run(world: &World) {
    let scenario = three_effects();
    let deadline = env::var(MOMENT).ok().and_then(|number| number.parse::<u64>().ok());
    let durability = if deadline.is_some() { Durability::NoSync } else { Durability::Sync };
    let hooks = Hooks::new(acknowledging(deadline));
    if world.run_folder().join("events.jsonl").exists() {
        world.resume_with(&scenario, durability, hooks).unwrap();
    } else {
        // A kill can come before there is a record at all.
        let _ = fs::remove_dir_all(world.run_folder());
        let mut journal = world.begin(durability);
        world.drive(&mut Run::start(setup(&scenario)), &mut journal, &scenario, hooks);
    }
}

/// Says how many events of the run and of its child run are on disk, whenever that is certain; ends the process
/// at the moment with this number.
fn acknowledging(deadline: Option<u64>) -> impl FnMut(Moment) {
    let (mut own, mut childs, mut moments) = (0, 0, 0);
    move |moment| {
        match moment {
            Moment::Noted { seq, is_child: false } => own = seq,
            Moment::Noted { seq, is_child: true } => childs = seq,
            Moment::Asked | Moment::BeforeEffect | Moment::Ended => {
                // All at once; on stdout the test program says things of its own.
                io::stderr().write_all(format!("{own} {childs}\n").as_bytes()).unwrap();
            }
            Moment::AfterEffect => {}
        }
        moments += 1;
        if deadline == Some(moments) {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
    }
}

fn spawn(world: &World, moment: Option<u64>) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", KILLED, "--nocapture"]);
    command.env(WORLD, world.folder()).stdout(Stdio::null()).stderr(Stdio::piped());
    if let Some(moment) = moment {
        command.env(MOMENT, moment.to_string());
    }
    command.spawn().unwrap()
}

/// Waits for the process; answers whether it was killed.
fn is_killed(world: &World, process: Child) -> bool {
    let output = process.wait_with_output().unwrap();
    let was_killed = output.status.signal() == Some(Signal::KILL.as_raw());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(was_killed || output.status.success(), "{:?}: {said}", output.status);
    // The last line may itself be cut off.
    let complete = said.rsplit_once('\n').map_or("", |(complete, _)| complete);
    check(world, complete.lines().last().unwrap_or("0 0"));
    was_killed
}

/// The record is sound, nothing acknowledged is missing, nothing happened twice.
fn check(world: &World, acknowledged: &str) {
    let counts: Vec<usize> = acknowledged.split(' ').map(|count| count.parse().unwrap()).collect();
    let folders = [world.run_folder(), child_folder(world)];
    for (folder, count) in folders.iter().zip(counts) {
        if !folder.join("events.jsonl").exists() {
            assert_eq!(count, 0);
            continue;
        }
        let verification = verify(folder, Some(&owner())).unwrap();
        assert!(verification.ok, "{:?}", verification.problems);
        assert!(verification.events as usize >= count, "{verification:?}, acknowledged {count}");
    }
    world.assert_nothing_happened_twice();
}

fn child_folder(world: &World) -> PathBuf {
    world.runs().join("20261115_083000_k3f9.4")
}

/// Takes the run up for the last time.
fn finish(world: &World) {
    let scenario = three_effects();
    if !world.run_folder().join("events.jsonl").exists() {
        let _ = fs::remove_dir_all(world.run_folder());
        return;
    }
    assert_eq!(answer(&world.resume(&scenario)), ANSWER);
    check(world, "0 0");
    let unknown = world.interruptions();
    assert!(world.effects().len() + unknown >= 3, "{:?} and {unknown}", world.effects());
}

/// Kills the process itself at its first moment, its second, and so on until it gets to the end.
fn kill_at_every_moment() -> u64 {
    for moment in 1.. {
        let world = World::new();
        if !is_killed(&world, spawn(&world, Some(moment))) {
            assert_eq!(answer(&world.resume(&three_effects())), ANSWER);
            return moment - 1;
        }
        finish(&world);
    }
    unreachable!("a run ends")
}

/// Kills at instants that nobody can foresee; some runs are killed again after they were taken up.
fn kill_at_random_instants() -> usize {
    let wanted = env::var("AGENT_KILLS").ok().and_then(|kills| kills.parse().ok());
    let wanted = wanted.unwrap_or(RANDOM_KILLS);
    let whole = duration_of_a_run();
    let mut random = Random(u64::from(getpid().as_raw_nonzero().get().unsigned_abs()) | 1 << 40);
    let mut kills = 0;
    while kills < wanted {
        let world = World::new();
        for _ in 0..3 {
            let mut process = spawn(&world, None);
            thread::sleep(random.below(whole));
            process.kill().unwrap();
            match is_killed(&world, process) {
                true => kills += 1,
                false => break,
            }
        }
        finish(&world);
    }
    kills
}

fn duration_of_a_run() -> Duration {
    let world = World::new();
    let start = Instant::now();
    assert!(!is_killed(&world, spawn(&world, None)));
    let whole = start.elapsed();
    assert_eq!(world.effects().len(), 3);
    whole
}

/// Numbers without a pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        limit.mul_f64((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

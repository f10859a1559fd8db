//! A hundred megabytes of output: all of it stored, little of it in memory.
//!
//! It runs in a process of its own, because the memory of a process is what it measures.

use std::fs::{self, File};
use std::io::Read;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sha2::{Digest, Sha256};
use skillful_tools::sandbox::{Ending, Limits, Output, run};

use crate::world::{World, installed, kernels, text};

const SIZE: u64 = 100 << 20;
/// Set where a test has its process for itself.
const ALONE: &str = "ALONE_IN_ITS_PROCESS";

fn run_alone(test: &str) {
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let output = alone.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    println!("{said}");
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn a_hundred_megabytes_are_stored_with_little_memory() {
    if std::env::var_os(ALONE).is_none() {
        return run_alone("slow::output::a_hundred_megabytes_are_stored_with_little_memory");
    }
    let Some(shell) = installed("sh") else { return };
    for (name, kernel) in kernels() {
        let world = World::new();
        let invocation =
            world.invocation(&shell, &["-c", "yes | head -c 104857600; echo done >&2"]);
        let path = world.root.join("stdout");
        let mut stdout = File::create(&path).unwrap();
        let mut stderr = Vec::new();
        let output = Output { stdout: &mut stdout, stderr: &mut stderr };
        // However busy the machine is.
        let limits = Limits { time: Duration::from_secs(600), ..Limits::default() };
        let confinement = world.confinement(limits);
        // Begins a new peak.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = peak_memory();
        let exit =
            run(&kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap();
        let used = peak_memory().saturating_sub(before);
        assert_eq!((exit.ending, exit.stdout.bytes), (Ending::Exited(0), SIZE), "{name}");
        assert!(used <= 20 << 20, "{name}: {used} bytes of memory");
        println!(
            "{name}: {} KiB of memory for 100 MiB of output in {:?}",
            used >> 10,
            exit.duration
        );
        assert_eq!(exit.stderr.head, b"done\n");
        assert!(exit.stdout.head.len() + exit.stdout.tail.len() <= Limits::default().kept);
        assert_eq!(hash(&path), exit.stdout.sha256, "{name}");
    }
}

fn hash(path: &std::path::Path) -> [u8; 32] {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    let mut file = File::open(path).unwrap();
    while let length @ 1.. = file.read(&mut piece).unwrap() {
        hash.update(&piece[..length]);
    }
    hash.finalize().into()
}

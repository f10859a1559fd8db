//! What the sandbox costs: `/bin/true` from start to exit, plain, sandboxed and under `bwrap`, and
//! the memory for a hundred megabytes of output.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tools::sandbox::{Confinement, Exit, Feature, Invocation, Kernel, Output, run};

const ROUNDS: usize = 300;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(&folder).unwrap();
    let kernel = Kernel::detect();
    let plain_kernel = kernel.clone().without(Feature::Namespaces);
    start_to_exit(&kernel, &plain_kernel, &folder);
    detection();
    output(&kernel, &folder);
    fs::remove_dir_all(&folder).unwrap();
}

fn start_to_exit(kernel: &Kernel, without_namespaces: &Kernel, folder: &Path) {
    let mut bwrap = Command::new("bwrap");
    bwrap.args(["--unshare-user", "--unshare-pid", "--new-session", "--die-with-parent"]);
    bwrap.args(["--ro-bind", "/", "/", "--proc", "/proc", "--tmpfs", "/dev/shm", "--bind"]);
    bwrap.arg(folder).arg(folder).arg("--chdir").arg(folder).arg("/bin/true");
    bwrap.stdin(Stdio::null()).env_clear();
    let has_bwrap = bwrap.status().is_ok_and(|status| status.success());
    let mut plain = Command::new("/bin/true");
    plain.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_clear();
    bwrap.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut times: [Vec<Duration>; 4] = Default::default();
    // In turn, so that whatever else the machine does hits all of them alike.
    for _ in 0..ROUNDS {
        let mut measure = |column: usize, work: &mut dyn FnMut()| {
            let started = Instant::now();
            work();
            times[column].push(started.elapsed());
        };
        measure(0, &mut || drop(plain.output().unwrap()));
        measure(1, &mut || drop(sandboxed(kernel, folder, "/bin/true", &[])));
        measure(2, &mut || drop(sandboxed(without_namespaces, folder, "/bin/true", &[])));
        if has_bwrap {
            measure(3, &mut || drop(bwrap.output().unwrap()));
        }
    }
    println!("/bin/true, start to exit, {ROUNDS} rounds in turn (ms)");
    println!("{:<28} {:>7} {:>7} {:>7}", "", "median", "best", "p95");
    let names =
        ["plain spawn", "sandbox, namespaces", "sandbox, supervised", "bwrap, without a filter"];
    for (name, times) in names.iter().zip(&mut times).filter(|(_, times)| !times.is_empty()) {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
        println!("{name:<28} {:>7.2} {:>7.2} {:>7.2}", at(50), at(0), at(95));
    }
    let median =
        |column: usize| times[column].get(ROUNDS / 2).map_or(f64::NAN, Duration::as_secs_f64);
    println!(
        "sandbox over plain spawn: {:+.2} ms (target: at most +3)",
        (median(1) - median(0)) * 1000.0
    );
    println!("sandbox against bwrap: {:.2} times (target: at most 0.5)", median(1) / median(3));
}

fn detection() {
    let started = Instant::now();
    drop(Kernel::detect());
    println!(
        "finding out what the kernel offers, once: {:.2} ms",
        started.elapsed().as_secs_f64() * 1000.0
    );
}

fn output(kernel: &Kernel, folder: &Path) {
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak_memory();
    let exit = sandboxed(kernel, folder, "/bin/sh", &["-c", "yes | head -c 104857600"]);
    assert_eq!(exit.stdout.bytes, 100 << 20);
    println!(
        "100 MiB of output: {:.0} ms, {} KiB of memory (target: at most 20480)",
        exit.duration.as_secs_f64() * 1000.0,
        (peak_memory() - before) >> 10
    );
}

fn sandboxed(kernel: &Kernel, folder: &Path, program: &str, arguments: &[&str]) -> Exit {
    let confinement = Confinement { write: vec![folder.into()], ..Confinement::default() };
    let invocation = Invocation {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: folder.into(),
        stdin: Vec::new(),
    };
    let (mut stdout, mut stderr) = (File::create(folder.join("out")).unwrap(), std::io::sink());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    run(kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap()
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

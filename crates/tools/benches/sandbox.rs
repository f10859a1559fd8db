//! What the sandbox costs: `/bin/true` from start to exit, plain, sandboxed and under `bwrap`, and
//! the memory for a hundred megabytes of output.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use skillful_tools::sandbox::{
    Confinement, Exit, Feature, Invocation, Kernel, Network, Output, Stdin, run,
};
use skillful_tools::view::{View, ViewOptions, ViewPlaces};

const ROUNDS: usize = 300;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(&folder).unwrap();
    let kernel = Kernel::detect();
    let plain_kernel = kernel.clone().without(Feature::Namespaces);
    start_to_exit(&kernel, &plain_kernel, &folder);
    through_a_view(&kernel, &folder.join("run"));
    detection();
    output(&kernel, &folder);
    fs::remove_dir_all(&folder).unwrap();
}

fn start_to_exit(kernel: &Kernel, without_namespaces: &Kernel, folder: &Path) {
    let mut plain = Command::new("/bin/true");
    let mut loose = bwrap(folder, &["--ro-bind", "/", "/"]);
    let granted: Vec<_> = GRANTED.iter().flat_map(|path| ["--ro-bind-try", path, path]).collect();
    let mut same = bwrap(folder, &[granted, vec!["--dev", "/dev"]].concat());
    for command in [&mut plain, &mut loose, &mut same] {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_clear();
    }
    let has_bwrap = same.status().is_ok_and(|status| status.success());
    let mut times: [Vec<Duration>; 5] = Default::default();
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
            measure(3, &mut || drop(loose.output().unwrap()));
            measure(4, &mut || drop(same.output().unwrap()));
        }
    }
    print_times(&mut times);
}

/// The same with and without a view of a workspace.
fn through_a_view(kernel: &Kernel, folder: &Path) {
    let own = |name: &str| {
        let path = folder.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let places = ViewPlaces {
        workspace: own("workspace"),
        layer: own("layer"),
        home: own("home"),
        temporary: own("temporary"),
    };
    for number in 0..100 {
        fs::write(places.workspace.join(format!("{number}.txt")), "content").unwrap();
    }
    for name in [".env", ".claude", ".git"] {
        fs::create_dir(places.workspace.join(name)).unwrap();
    }
    let plain = places.home.clone();
    let started = Instant::now();
    let view = View::open(kernel, places, ViewOptions::default()).unwrap();
    let opened = started.elapsed().as_secs_f64() * 1000.0;
    println!("\na view ({:?}) of 100 files, opened in {opened:.2} ms", view.kind());
    let confinement = Confinement { network: Network::Private, ..Confinement::default() };
    let invocation = Invocation {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: view.folder().into(),
        stdin: Stdin::default(),
    };
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        drop(sandboxed(kernel, &plain, "/bin/true", &[]));
        times[0].push(started.elapsed());
        let started = Instant::now();
        let (mut stdout, mut stderr) = (std::io::sink(), std::io::sink());
        let output = Output { stdout: &mut stdout, stderr: &mut stderr };
        view.run(kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap();
        times[1].push(started.elapsed());
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    for (name, share) in [("best", 0), ("p25", 25), ("median", 50)] {
        let at = |column: usize| {
            let times: &Vec<Duration> = &times[column];
            times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0
        };
        let (without, with) = (at(0), at(1));
        let over = with - without;
        println!("{name:<8} without {without:.2} ms, with {with:.2} ms: {over:+.2} (target: +3)");
    }
}

/// `bwrap` with private processes and mounts; it brings no filter of its own.
fn bwrap(folder: &Path, files: &[&str]) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-user", "--unshare-pid", "--new-session", "--die-with-parent"]);
    command.args(files).args(["--proc", "/proc", "--tmpfs", "/dev/shm", "--bind"]);
    command.arg(folder).arg(folder).arg("--chdir").arg(folder).arg("/bin/true");
    command
}

/// About what the sandbox lets a program read of the system.
const GRANTED: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/opt",
    "/sys/devices/system/cpu",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

fn print_times(times: &mut [Vec<Duration>; 5]) {
    println!("/bin/true, start to exit, {ROUNDS} rounds in turn (ms)");
    println!("{:<32} {:>7} {:>7} {:>7} {:>7}", "", "best", "p25", "median", "p95");
    let names = [
        "plain spawn",
        "sandbox, namespaces",
        "sandbox, supervised",
        "bwrap, everything readable",
        "bwrap, the same files readable",
    ];
    for (name, times) in names.iter().zip(&mut *times).filter(|(_, times)| !times.is_empty()) {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
        println!("{name:<32} {:>7.2} {:>7.2} {:>7.2} {:>7.2}", at(0), at(25), at(50), at(95));
    }
    let median =
        |column: usize| times[column].get(ROUNDS / 2).map_or(f64::NAN, Duration::as_secs_f64);
    let over = (median(1) - median(0)) * 1000.0;
    println!("sandbox over plain spawn: {over:+.2} ms (target: at most +3)");
    println!("sandbox against bwrap: {:.2} times (target: at most 0.5)", median(1) / median(4));
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
        stdin: Stdin::default(),
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

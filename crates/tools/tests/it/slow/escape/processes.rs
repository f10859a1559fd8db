//! Other processes of the same user, and processes that try to stay.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skillful_tools::sandbox::{
    Confinement, Ending, Invocation, Limits, Output, Reason, Stdin, run,
};

use super::attempt::Freely;
use super::attempt::Language::{Python, Shell};
use super::attempt::{check, contained, contained_from_root};
use crate::world::{World, installed, kernels};

#[test]
fn the_environment_of_another_process_cannot_be_read() {
    contained(Python, r#"got(open("/proc/%d/environ" % DECOY, "rb").read())"#);
}

#[test]
fn no_process_at_all_shows_a_secret_in_its_environment() {
    contained(
        Python,
        r#"
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        got(open("/proc/%s/environ" % process, "rb").read())
    except OSError:
        pass
"#,
    );
}

#[test]
fn the_environment_of_the_agent_cannot_be_read() {
    contained(
        Python,
        r#"
for process in (AGENT, os.getppid(), 1):
    try:
        if b"PATH=" in open("/proc/%d/environ" % process, "rb").read():
            escaped()
    except OSError as error:
        print(error)
"#,
    );
}

#[test]
fn the_command_line_of_the_agent_cannot_be_read() {
    contained(
        Python,
        r#"
for process in (AGENT, os.getppid(), 1):
    try:
        if b"@PROGRAM@" in open("/proc/%d/cmdline" % process, "rb").read():
            escaped()
    except OSError as error:
        print(error)
"#,
    );
}

#[test]
fn the_memory_of_another_process_cannot_be_read() {
    contained(
        Python,
        r#"
for line in open("/proc/%d/maps" % DECOY):
    if "[stack]" in line:
        start, end = (int(number, 16) for number in line.split()[0].split("-"))
        memory = open("/proc/%d/mem" % DECOY, "rb", 0)
        memory.seek(start)
        got(memory.read(end - start))
"#,
    );
}

#[test]
fn the_memory_of_the_agent_cannot_be_read() {
    contained(
        Python,
        r#"
for process in (AGENT, os.getppid(), 1):
    try:
        os.open("/proc/%d/mem" % process, os.O_RDONLY)
        escaped()
    except OSError as error:
        print(error)
"#,
    );
}

#[test]
fn no_process_can_be_traced() {
    contained(
        Python,
        r#"
SEIZE, DETACH = 0x4206, 17
call(SYS_ptrace, SEIZE, DECOY, 0, 0)
escaped()
"#,
    );
}

#[test]
fn not_even_an_own_child_can_be_traced() {
    contained(
        Python,
        r#"
SEIZE = 0x4206
child = subprocess.Popen(["sleep", "60"])
try:
    call(SYS_ptrace, SEIZE, child.pid, 0, 0)
    escaped()
finally:
    child.kill()
"#,
    );
}

const MEMORY: &str = r#"
class Part(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(b"x", 8)
local = Part(ctypes.addressof(buffer), 1)
stack = next(line for line in open("/proc/%d/maps" % DECOY) if "[stack]" in line) if DECOY else ""
remote = Part(int(stack.split("-")[0], 16), 1)
"#;

#[test]
fn memory_cannot_be_copied_from_another_process() {
    contained(
        Python,
        &format!(
            "{MEMORY}
call(SYS_process_vm_readv, DECOY, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
escaped()
"
        ),
    );
}

#[test]
fn memory_cannot_be_written_to_another_process() {
    contained(
        Python,
        &format!(
            "{MEMORY}
call(SYS_process_vm_writev, DECOY, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
escaped()
"
        ),
    );
}

#[test]
fn memory_cannot_even_be_copied_within_a_process() {
    contained(
        Python,
        r#"
class Part(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(b"x", 8)
part = Part(ctypes.addressof(buffer), 1)
call(SYS_process_vm_writev, os.getpid(), ctypes.byref(part), 1, ctypes.byref(part), 1, 0)
escaped()
"#,
    );
}

#[test]
fn no_open_file_can_be_taken_from_another_process() {
    contained(Python, r#"call(SYS_pidfd_getfd, call(SYS_pidfd_open, DECOY, 0), 1, 0); escaped()"#);
}

#[test]
fn processes_cannot_be_compared() {
    contained(Python, r#"call(SYS_kcmp, os.getpid(), os.getpid(), 0, 0, 0); escaped()"#);
}

#[test]
fn another_process_cannot_be_killed() {
    contained(Shell, "kill -9 @DECOY@ && echo ESCAPED");
}

#[test]
fn the_agent_cannot_be_signalled() {
    contained(Python, r#"os.kill(AGENT, 0); escaped()"#);
}

#[test]
fn a_thread_of_another_process_cannot_be_killed() {
    contained(Python, r#"call(SYS_tgkill, DECOY, DECOY, 9); escaped()"#);
}

#[test]
fn no_signal_can_be_queued_for_another_process() {
    contained(
        Python,
        r#"
information = struct.pack("iii", 9, 0, -1) + bytes(116)
call(SYS_rt_sigqueueinfo, DECOY, 9, information)
escaped()
"#,
    );
}

#[test]
fn no_signal_can_be_sent_through_a_handle() {
    contained(
        Python,
        r#"call(SYS_pidfd_send_signal, call(SYS_pidfd_open, DECOY, 0), 9, None, 0); escaped()"#,
    );
}

#[test]
fn the_kernel_cannot_be_made_to_send_a_signal() {
    contained(
        Python,
        r#"
reader, writer = os.pipe()
fcntl.fcntl(reader, fcntl.F_SETOWN, DECOY)
fcntl.fcntl(reader, 10, int(signal.SIGTERM))
fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)
os.write(writer, b"x")
escaped()
"#,
    );
}

#[test]
fn a_group_of_other_processes_cannot_be_killed() {
    contained(Python, r#"os.killpg(os.getpgid(AGENT), 0); escaped()"#);
}

#[test]
fn the_limits_of_another_process_cannot_be_set() {
    contained(
        Python,
        r#"
limit = struct.pack("QQ", 0, 0)
call(SYS_prlimit64, DECOY, 4, limit, None)
escaped()
"#,
    );
}

#[test]
fn the_priority_of_another_process_cannot_be_set() {
    contained(Python, r#"os.setpriority(os.PRIO_PROCESS, DECOY, 19); escaped()"#);
}

#[test]
fn another_process_cannot_be_moved_to_another_processor() {
    contained(Python, r#"os.sched_setaffinity(DECOY, os.sched_getaffinity(DECOY)); escaped()"#);
}

#[test]
fn a_privilege_of_root_is_gone() {
    contained_from_root(
        Shell,
        r#"
grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo ESCAPED
"#,
    );
}

#[test]
fn a_program_that_runs_as_its_owner_gains_nothing() {
    contained(
        Python,
        r#"
if os.getuid() == 0:
    # Owned by somebody else.
    who = subprocess.run([ROOT + "/workspace/who", "-u"], capture_output=True).stdout
    if who and int(who) != 0:
        escaped()
else:
    # Owned by root, and waits for a password.
    program = subprocess.Popen(["/usr/bin/su"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # It has its rights before it says its first word, and not always when it starts.
        program.stderr.read(1)
        lines = open("/proc/%d/status" % program.pid).read().splitlines()
        effective = next(line.split()[2] for line in lines if line.startswith("Uid:"))
        if int(effective) == 0:
            escaped()
    finally:
        program.stdin.close()
        program.wait()
"#,
    );
}

/// Starts a process that leaves its parent, its group and its session, ignores what it can, and
/// stays. It can be told by its last argument, which it has when `READY` is said: a program that is
/// only about to start has none yet.
const DAEMON: &str = r#"
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    libc.prctl(36, 1, 0, 0, 0)
    if os.fork() == 0:
        os.setpgid(0, 0)
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            os.dup2(os.open("/dev/null", os.O_RDWR), 1)
            os.dup2(1, 2)
            os.set_inheritable(writer, True)
            stay = "import os, time; os.close(%d); time.sleep(600)" % writer
            os.execv(sys.executable, [sys.executable, "-c", stay, "@NUMBER@"])
        os._exit(0)
    os._exit(0)
os.close(writer)
# The last holder of the other end is the daemon, which closes it when it runs.
os.read(reader, 1)
print("READY", flush=True)
"#;

/// The daemons on this machine with this number.
fn daemons(number: &str) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let wanted = format!("\0{number}\0");
    processes
        .filter(|entry| {
            fs::read_to_string(entry.path().join("cmdline"))
                .is_ok_and(|line| line.ends_with(&wanted))
        })
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// A number that only this test uses.
fn unique(world: &World) -> String {
    let digits: u32 = world
        .root
        .to_str()
        .unwrap()
        .bytes()
        .map(u32::from)
        .fold(7, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte));
    format!("{}.{}", 100_000 + digits % 100_000, std::process::id())
}

fn daemon(world: &World, number: &str, then: &str) -> Option<Invocation> {
    let code =
        format!("import ctypes, os, signal, sys, time\nlibc = ctypes.CDLL(None)\n{DAEMON}{then}");
    Some(world.invocation(&installed("python3")?, &["-c", &code.replace("@NUMBER@", number)]))
}

#[test]
fn a_daemon_dies_with_the_script_that_started_it() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let number = unique(&world);
        let Some(invocation) = daemon(&world, &number, "") else { return };
        let exit = world.run(&kernel, &world.confinement(Limits::default()), &invocation).unwrap();
        assert_eq!(exit.ending, Ending::Exited(0), "{name}: {exit:?}");
        assert_eq!(exit.stdout.head, b"READY\n");
        assert_eq!(daemons(&number), [0; 0], "{name}");
    }
    let world = World::new();
    let number = unique(&world);
    let Some(invocation) = daemon(&world, &number, "") else { return };
    world.run_freely(&invocation);
    let survivors = daemons(&number);
    assert_eq!(survivors.len(), 1, "dies without a sandbox as well, so this proves nothing");
    for process in survivors.into_iter().filter_map(rustix::process::Pid::from_raw) {
        rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    }
}

#[test]
fn a_daemon_dies_at_the_timeout() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let number = unique(&world);
        let Some(invocation) = daemon(&world, &number, "time.sleep(600)") else { return };
        // However busy the machine is: the daemon gets the time to start.
        let started = (0..6).any(|attempt| {
            let limits = Limits { time: Duration::from_secs(1 << attempt), ..Limits::default() };
            let exit = world.run(&kernel, &world.confinement(limits), &invocation).unwrap();
            assert_eq!(exit.ending, Ending::Killed(Reason::Time), "{name}");
            assert_eq!(daemons(&number), [0; 0], "{name}");
            exit.stdout.head == b"READY\n"
        });
        assert!(started, "{name}: the daemon was never there");
    }
}

#[test]
fn a_daemon_dies_when_the_caller_wants_to_stop() {
    /// Wants to stop as soon as the program has said something.
    struct Stop<'a>(&'a AtomicBool);
    impl std::io::Write for Stop<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.store(true, Ordering::Relaxed);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for (name, kernel) in kernels() {
        let world = World::new();
        let number = unique(&world);
        let Some(invocation) = daemon(&world, &number, "time.sleep(600)") else { return };
        let cancelled = AtomicBool::new(false);
        let output = Output { stdout: &mut Stop(&cancelled), stderr: &mut std::io::sink() };
        let exit =
            run(&kernel, &world.confinement(Limits::default()), &invocation, output, &cancelled)
                .unwrap();
        assert_eq!(exit.ending, Ending::Killed(Reason::Cancelled), "{name}");
        assert_eq!(daemons(&number), [0; 0], "{name}");
    }
}

/// Not a test by itself: the agent that the next test kills. It makes nothing that it would have
/// to remove.
#[test]
fn an_agent_that_is_going_to_be_killed() {
    let variable = |name: &str| std::env::var(format!("KILLED_AGENT_{name}")).ok();
    let (Some(which), Some(folder), Some(code)) =
        (variable("KERNEL"), variable("FOLDER"), variable("CODE"))
    else {
        return;
    };
    let (_, kernel) = kernels().into_iter().find(|(name, _)| *name == which).unwrap();
    let limits = Limits { time: Duration::from_secs(600), ..Limits::default() };
    let write = vec![folder.clone().into()];
    let confinement = Confinement { write, limits, ..Confinement::default() };
    let invocation = Invocation {
        program: installed("python3").unwrap(),
        arguments: vec!["-c".into(), code.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: folder.into(),
        stdin: Stdin::default(),
    };
    let output = Output { stdout: &mut std::io::stderr(), stderr: &mut std::io::sink() };
    let _ = run(&kernel, &confinement, &invocation, output, &AtomicBool::new(false));
}

#[test]
fn a_daemon_dies_with_an_agent_that_is_killed() {
    for (name, _) in kernels() {
        let world = World::new();
        let number = unique(&world);
        let Some(invocation) = daemon(&world, &number, "time.sleep(600)") else { return };
        let mut agent = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "slow::escape::processes::an_agent_that_is_going_to_be_killed",
                "--nocapture",
            ])
            .env("KILLED_AGENT_KERNEL", name)
            .env("KILLED_AGENT_FOLDER", world.sandbox())
            .env("KILLED_AGENT_CODE", &invocation.arguments[1])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(agent.stderr.as_mut().unwrap(), &mut ready).unwrap();
        assert_eq!(&ready, b"READY\n");
        agent.kill().unwrap();
        agent.wait().unwrap();
        // The tree dies on its own, soon; whoever waits longer than this has a survivor.
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while !daemons(&number).is_empty() {
            assert!(std::time::Instant::now() < deadline, "{name}: the daemon survived");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_program_that_runs_too_long_is_stopped() {
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let code = r#"
# Longer in a sandbox than a busy machine takes to look at it.
end = time.monotonic() + (60 if os.environ.get("HOME") == SANDBOX else 0.5)
while time.monotonic() < end:
    pass
escaped()
"#;
    check(Python, Freely::Anybody, &limits, code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Time));
    });
}

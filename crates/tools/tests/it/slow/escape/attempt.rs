//! One attempt to get out: it must fail in every sandbox, and succeed without one, or it would
//! prove nothing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use skillful_tools::sandbox::{Confinement, Ending, Exit, Invocation, Kernel, Limits, Output};
use skillful_tools::view::{View, ViewOptions, ViewPlaces};

use crate::world::{ESCAPED, SECRET, World, installed, is_root, kernels, said};

/// What an attempt is written in.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    Python,
    Shell,
    C,
}

/// Who gets away with it without a sandbox.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Freely {
    Anybody,
    Root,
}

/// Tries `code` as anybody.
pub(crate) fn contained(language: Language, code: &str) {
    check(language, Freely::Anybody, &Limits::default(), code, |_| {});
}

/// Tries `code`, which only root gets away with outside.
pub(crate) fn contained_from_root(language: Language, code: &str) {
    check(language, Freely::Root, &Limits::default(), code, |_| {});
}

/// Tries `code` with its own limits, and looks at how it ended.
pub(crate) fn check(
    language: Language,
    freely: Freely,
    limits: &Limits,
    code: &str,
    verify: fn(&Exit),
) {
    for (name, kernel) in kernels() {
        let mut world = World::new();
        let Some(invocation) = prepared(&world, language, code) else { return };
        let before = world.snapshot();
        let exit = world.run(&kernel, &world.confinement(limits.clone()), &invocation).unwrap();
        let said = said(&exit);
        assert!(!said.contains(ESCAPED), "escaped with {name}: {said}");
        assert!(!said.contains(SECRET), "the secret got out with {name}: {said}");
        assert_eq!(world.snapshot(), before, "something outside changed with {name}: {said}");
        assert!(world.decoy_lives(), "another process died with {name}: {said}");
        verify(&exit);
        check_in_view(name, &kernel, language, limits, code, verify);
    }
    if freely == Freely::Anybody || is_root() {
        let world = World::new();
        let Some(invocation) = prepared(&world, language, code) else { return };
        let said = world.run_freely(&invocation);
        assert!(
            said.contains(ESCAPED),
            "fails without a sandbox as well, so it proves nothing: {said}"
        );
    }
}

/// Tries the same on the workspace as a run sees it, where writing to it is no escape.
fn check_in_view(
    name: &str,
    kernel: &Kernel,
    language: Language,
    limits: &Limits,
    code: &str,
    verify: fn(&Exit),
) {
    let mut world = World::new();
    let Some(invocation) = prepared(&world, language, code) else { return };
    let places = ViewPlaces { home: world.sandbox(), ..world.places() };
    let view = View::open(kernel, places, ViewOptions::default()).unwrap();
    let before = world.snapshot();
    let confinement = Confinement {
        read: vec![world.root.join("skill")],
        limits: limits.clone(),
        ..Confinement::default()
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    let exit =
        view.run(kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap();
    let said = said(&exit);
    let writes_to_workspace = code.contains("/workspace") || code.contains("/tmp/");
    assert!(
        writes_to_workspace || !said.contains(ESCAPED),
        "escaped in a view with {name}: {said}"
    );
    assert!(!said.contains(SECRET), "the secret got out of a view with {name}: {said}");
    assert_eq!(world.snapshot(), before, "something changed behind a view with {name}: {said}");
    assert!(world.decoy_lives(), "another process died with {name}: {said}");
    verify(&exit);
}

/// Runs `code`, which does nothing wrong: it must succeed in every sandbox.
pub(crate) fn left_alone(language: Language, limits: &Limits, code: &str) {
    for (name, kernel) in kernels() {
        let world = World::new();
        let Some(invocation) = prepared(&world, language, code) else { return };
        let exit = world.run(&kernel, &world.confinement(limits.clone()), &invocation).unwrap();
        assert_eq!(exit.ending, Ending::Exited(0), "with {name}: {}", said(&exit));
    }
}

fn prepared(world: &World, language: Language, code: &str) -> Option<Invocation> {
    Some(match language {
        Language::Shell => world.invocation(&installed("sh")?, &["-c", code]),
        Language::Python => {
            let code = format!("{}{PRELUDE}{code}", numbers());
            world.invocation(&installed("python3")?, &["-c", &code])
        }
        Language::C => world.invocation(&compiled(world, code)?, &[]),
    })
}

/// Compiles into the skill, where programs can be executed.
pub(crate) fn compiled(world: &World, code: &str) -> Option<PathBuf> {
    let compiler = installed("cc")?;
    let (source, program) =
        (world.root.join("attempt.c"), world.root.join("skill/scripts/attempt"));
    fs::write(&source, world.fill(code)).unwrap();
    let status = Command::new(compiler).arg("-o").arg(&program).arg(&source).status().unwrap();
    assert!(status.success(), "the attempt does not compile");
    Some(program)
}

/// What every attempt in Python begins with.
const PRELUDE: &str = r#"
import ctypes, errno, fcntl, os, signal, socket, struct, subprocess, sys, time
ROOT, SANDBOX, SECRET, DECOY, AGENT = "@ROOT@", "@SANDBOX@", "@SECRET@", @DECOY@, @AGENT@
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    wide = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    result = libc.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
def escaped():
    print("ESC" + "APED", flush=True)
def linger():
    # Until whoever samples has looked; nobody does without a sandbox.
    time.sleep(25 if os.environ.get("HOME") == SANDBOX else 0)
def hold_in_children(count, hold):
    # Several, because one process alone is refused more than its limit.
    ready, done = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            held = hold()
            os.write(done, b"x")
            time.sleep(25)
            os._exit(0)
        children.append(child)
    os.close(done)
    for _ in children:
        os.read(ready, 1)
    linger()
    escaped()
    for child in children:
        os.kill(child, 9)
def got(content):
    if SECRET.encode() in content:
        escaped()
"#;

/// The numbers of system calls on this machine, for Python.
fn numbers() -> String {
    let numbers = [
        ("ptrace", libc::SYS_ptrace),
        ("process_vm_readv", libc::SYS_process_vm_readv),
        ("process_vm_writev", libc::SYS_process_vm_writev),
        ("pidfd_open", libc::SYS_pidfd_open),
        ("pidfd_getfd", libc::SYS_pidfd_getfd),
        ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("mount", libc::SYS_mount),
        ("fsopen", libc::SYS_fsopen),
        ("unshare", libc::SYS_unshare),
        ("setns", libc::SYS_setns),
        ("clone", libc::SYS_clone),
        ("clone3", libc::SYS_clone3),
        ("add_key", libc::SYS_add_key),
        ("keyctl", libc::SYS_keyctl),
        ("bpf", libc::SYS_bpf),
        ("perf_event_open", libc::SYS_perf_event_open),
        ("userfaultfd", libc::SYS_userfaultfd),
        ("personality", libc::SYS_personality),
        ("memfd_create", libc::SYS_memfd_create),
        ("shmget", libc::SYS_shmget),
        ("kcmp", libc::SYS_kcmp),
        ("tgkill", libc::SYS_tgkill),
        ("rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo),
        ("truncate", libc::SYS_truncate),
        ("openat2", libc::SYS_openat2),
        ("name_to_handle_at", libc::SYS_name_to_handle_at),
        ("open_by_handle_at", libc::SYS_open_by_handle_at),
        ("sethostname", libc::SYS_sethostname),
        ("chroot", libc::SYS_chroot),
        ("syslog", libc::SYS_syslog),
        ("fanotify_init", libc::SYS_fanotify_init),
        ("seccomp", libc::SYS_seccomp),
        ("prlimit64", libc::SYS_prlimit64),
        ("exit", libc::SYS_exit),
        ("vmsplice", libc::SYS_vmsplice),
        ("splice", libc::SYS_splice),
        ("fallocate", libc::SYS_fallocate),
    ];
    numbers.map(|(name, number)| format!("SYS_{name} = {number}\n")).concat()
}

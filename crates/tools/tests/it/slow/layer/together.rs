//! Several commands of one run: they see each other's work, and all end with it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skillful_tools::sandbox::{
    Confinement, Ending, Kernel, Limits, Network, Output, Reason, Stdin,
};
use skillful_tools::view::{View, ViewKind, ViewOptions};

use super::attempt::{run, views, world};
use crate::world::{installed, said};

const SH: &str = "/bin/sh";
const PYTHON: &str = "/usr/bin/python3";

#[test]
fn a_later_command_sees_what_an_earlier_one_wrote() {
    views(world, |name, world, kernel, view| {
        run(
            world,
            kernel,
            view,
            SH,
            "echo new > new; rm notes.txt; mkdir -p a/b; echo x > ${HOME}/h; echo y > /tmp/t 2>/dev/null",
        );
        let said_next = said(&run(world, kernel, view, SH, "cat new; ls notes.txt; ls a; cat ~/h"));
        assert!(
            said_next.starts_with("new\nb\nx\n") && said_next.contains("notes.txt"),
            "{name}: {said_next}"
        );
        assert!(
            world.root.join("workspace/notes.txt").exists()
                && !world.root.join("workspace/new").exists()
        );
    });
}

#[test]
fn a_view_that_is_opened_again_has_what_was_written() {
    for (name, kernel) in crate::world::kernels() {
        let world = world();
        run(&world, &kernel, &world.view(&kernel), SH, "echo new > new; rm notes.txt");
        let view = world.view(&kernel);
        let said = said(&run(&world, &kernel, &view, SH, "cat new; ls"));
        assert!(said.starts_with("new\n") && !said.contains("notes.txt"), "{name}: {said}");
    }
}

#[test]
fn commands_at_the_same_time_see_each_other() {
    let world = world();
    let kernel = Kernel::detect();
    let view = world.view(&kernel);
    if !view.has_private_network() {
        eprintln!("skipped: there is no network of a run's own here");
        return;
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            let confinement = Confinement { network: Network::Private, ..Confinement::default() };
            let code = "import http.server; s = http.server.HTTPServer(('127.0.0.1', 8123), http.server.SimpleHTTPRequestHandler); open('ready', 'w').close(); s.serve_forever()";
            let mut invocation = world.invocation(Path::new(PYTHON), &["-c", code]);
            invocation.folder = view.folder().into();
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let output = Output { stdout: &mut stdout, stderr: &mut stderr };
            view.run(&kernel, &confinement, &invocation, output, &done).unwrap().ending
        });
        let code = "while [ ! -e ready ]; do sleep 0.05; done; echo later > later.txt; python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:8123/later.txt').read().decode().strip())\"";
        let answer = said(&run(&world, &kernel, &view, SH, code));
        done.store(true, Ordering::Relaxed);
        assert_eq!(server.join().unwrap(), Ending::Killed(Reason::Cancelled));
        assert_eq!(answer, "later\n");
    });
}

#[test]
fn a_command_can_be_talked_to() {
    let world = world();
    let kernel = Kernel::detect();
    let view = world.view(&kernel);
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let mut invocation =
        world.invocation(Path::new(SH), &["-c", "read a; echo got $a; read b; echo then $b"]);
    invocation.folder = view.folder().into();
    invocation.stdin = Stdin::Pipe(Arc::new(reader));
    let talking = thread::spawn(move || {
        let mut writer = fs::File::from(writer);
        writer.write_all(b"one\n").unwrap();
        thread::sleep(Duration::from_millis(100));
        writer.write_all(b"two\n").unwrap();
    });
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    view.run(&kernel, &Confinement::default(), &invocation, output, &AtomicBool::new(false))
        .unwrap();
    talking.join().unwrap();
    assert_eq!(String::from_utf8(stdout).unwrap(), "got one\nthen two\n");
}

#[test]
fn nothing_outlives_its_command() {
    views(world, |name, world, kernel, view| {
        let started = Instant::now();
        run(
            world,
            kernel,
            view,
            SH,
            "setsid sh -c 'sleep 3; echo late > late' > /dev/null 2>&1 & echo started",
        );
        assert!(started.elapsed() < Duration::from_secs(3), "{name}");
        thread::sleep(Duration::from_millis(3500).saturating_sub(started.elapsed()));
        let said = said(&run(world, kernel, view, SH, "ls"));
        assert!(!said.contains("late"), "{name}: {said}");
    });
}

#[test]
fn git_commits_into_the_layer() {
    let Some(git) = installed("git") else { return };
    views(
        || {
            let world = world();
            let workspace = world.root.join("workspace");
            fs::remove_dir_all(workspace.join(".git")).unwrap();
            let run = |arguments: &[&str]| {
                let output = std::process::Command::new(&git)
                    .args(arguments)
                    .current_dir(&workspace)
                    .env("HOME", &world.root)
                    .env("GIT_CONFIG_NOSYSTEM", "1")
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{output:?}");
            };
            run(&["init", "-q", "-b", "main"]);
            run(&["-c", "user.name=a", "-c", "user.email=a@b", "add", "notes.txt"]);
            run(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]);
            world
        },
        |name, world, kernel, view| {
            let head = fs::read(world.root.join("workspace/.git/refs/heads/main")).unwrap();
            let code = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; echo more >> notes.txt; git checkout -q -b topic; git commit -qam second && git log --format=%s && git status --short notes.txt && git config --get core.bare";
            let said = said(&run(world, kernel, view, SH, code));
            assert_eq!(said, "second\nfirst\nfalse\n", "{name}");
            assert_eq!(fs::read(world.root.join("workspace/.git/refs/heads/main")).unwrap(), head);
            assert!(!world.root.join("workspace/.git/refs/heads/topic").exists());
        },
    );
}

#[test]
fn the_layer_has_limits() {
    views(world, |name, world, kernel, view| {
        let check = |limits: Limits, code: &str, reason: Reason| {
            let confinement = Confinement { limits, ..Confinement::default() };
            let mut invocation = world.invocation(Path::new(SH), &["-c", code]);
            invocation.folder = view.folder().into();
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let output = Output { stdout: &mut stdout, stderr: &mut stderr };
            let exit = view
                .run(kernel, &confinement, &invocation, output, &AtomicBool::new(false))
                .unwrap();
            assert_eq!(exit.ending, Ending::Killed(reason), "{name}: {}", said(&exit));
        };
        let few = Limits { files: 500, ..Limits::default() };
        check(
            few,
            "mkdir many; i=0; while [ $i -lt 100000 ]; do : > many/$i; i=$((i+1)); done; sleep 20",
            Reason::Files,
        );
        let small = Limits { disk: 8 << 20, ..Limits::default() };
        check(small, "rm -r many; head -c 50000000 /dev/zero > large; sleep 20", Reason::Disk);
    });
}

#[test]
fn file_tools_see_what_programs_see() {
    views(world, |name, world, kernel, view| {
        run(world, kernel, view, SH, "echo new > new; rm notes.txt");
        let through = std::path::PathBuf::from(format!(
            "/proc/self/fd/{}",
            std::os::fd::AsRawFd::as_raw_fd(&view.root())
        ));
        assert_eq!(fs::read_to_string(through.join("new")).unwrap(), "new\n", "{name}");
        assert!(!through.join("notes.txt").exists(), "{name}");
        fs::write(through.join("tool.txt"), "from a tool\n").unwrap();
        assert_eq!(said(&run(world, kernel, view, SH, "cat tool.txt")), "from a tool\n", "{name}");
        assert!(!world.root.join("workspace/tool.txt").exists(), "{name}");
    });
}

#[test]
fn a_workspace_that_is_too_large_for_a_copy_is_read_only() {
    let world = world();
    let kernel = Kernel::detect().without(skillful_tools::sandbox::Feature::Namespaces);
    let options = ViewOptions { copy_bytes: 10_000, ..ViewOptions::default() };
    let view = View::open(&kernel, world.places(), options).unwrap();
    assert_eq!(view.kind(), ViewKind::ReadOnly);
    assert!(view.reason().unwrap().contains("10000 bytes"), "{:?}", view.reason());
    let said = said(&run(
        &world,
        &kernel,
        &view,
        SH,
        "cat notes.txt .env; echo x > new; echo x > ~/mine && cat ~/mine",
    ));
    assert!(said.starts_with("harmless\nx\n") && !said.contains(crate::world::SECRET), "{said}");
    assert!(!world.root.join("workspace/new").exists());
}

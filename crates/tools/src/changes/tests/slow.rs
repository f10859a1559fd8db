//! The kernel's own overlay, and a process that is really killed.

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Signal, getpid, kill_process};

use super::*;

const KILLED: &str = "changes::tests::slow::a_kill_before_any_operation_leaves_old_or_new";
const WORLD: &str = "CHANGES_KILL_WORLD";
const OPERATION: &str = "CHANGES_KILL_OPERATION";

/// What a run does, in a shell.
const WORK: &str = "
    set -e
    echo changed > a; rm b; mkdir -p new/deep; echo x > new/deep/x; ln -s a link
    rm -r d; mkdir d; echo again > d/y
    rm -r gone; chmod 755 script; mv moved elsewhere; touch untouched; mkdir empty
    rm -r file_to_be; echo f > file_to_be; rm folder_to_be; mkdir folder_to_be; echo g > folder_to_be/g
    cp -r tree copied; rm -rf tree/sub; mkdir tree/sub; echo 1 > tree/sub/1
";

#[test]
fn what_the_kernel_writes_is_read_as_the_run_saw_it() {
    // Memory cannot be the upper layer everywhere.
    let mut world = World::at(tempfile::tempdir().unwrap());
    for name in ["a", "b", "d/x", "d/z/w", "gone/1", "gone/2/3", "script", "moved", "untouched"] {
        world.file(name, name);
    }
    for name in ["file_to_be/x", "folder_to_be", "tree/sub/2", "tree/sub/3/4", "tree/t"] {
        world.file(name, name);
    }
    let root = world.workspace.parent().unwrap().to_owned();
    let [merged, work, expected] = ["merged", "work", "expected"].map(|name| root.join(name));
    fs::create_dir(&merged).unwrap();
    fs::create_dir(&work).unwrap();
    let script = format!(
        "mount -t overlay overlay -o userxattr,lowerdir={},upperdir={},workdir={} {merged} \
         && cd {merged} && ({WORK}) && cp -a {merged} {expected}",
        world.workspace.display(),
        world.upper.display(),
        work.display(),
        merged = merged.display(),
        expected = expected.display(),
    );
    let mut unshare = Command::new("unshare");
    let output = unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c"]).arg(&script);
    let output = output.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("mount: ") || error.contains("unshare: ") {
        // Where there are no overlays, there is nothing to compare with.
        return;
    }
    assert!(output.status.success(), "{error}");
    world.note();
    let before = world.snapshot();
    world.apply(&Disk::default()).unwrap();
    let timeless = |snapshot: Snapshot| -> Vec<_> {
        snapshot.into_iter().map(|(path, (mode, content, _))| (path, mode, content)).collect()
    };
    assert_eq!(timeless(world.snapshot()), timeless(snapshot(&expected)));
    assert_eq!(world.shown(), "");
    world.undo(1, &Disk::default()).unwrap();
    assert_eq!(world.snapshot(), before);
}

#[test]
fn applications_and_undos_can_be_stopped_before_every_operation() {
    crash::stop_applications(1);
    crash::stop_undos(1);
}

fn prepared() -> World {
    let mut world = World::new();
    world.file("a", "old").file("dir/x", "x").file("file/inner", "i");
    world.upper("a", "new").upper("n/w", "n").deletes("dir").upper("file", "now");
    world.note();
    world
}

/// The test program is both sides: with [`WORLD`] set, it is the process that gets killed.
#[test]
fn a_kill_before_any_operation_leaves_old_or_new() {
    if let Some(place) = env::var_os(WORLD) {
        return be_killed(Path::new(&place));
    }
    for operation in 0.. {
        let world = prepared();
        world.base.save(&world.run).unwrap();
        let old = world.snapshot();
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", KILLED, "--nocapture"]).stdout(std::process::Stdio::null());
        command.env(WORLD, world.workspace.parent().unwrap());
        command.env(OPERATION, operation.to_string());
        let status = command.status().unwrap();
        let was_killed = status.signal() == Some(Signal::KILL.as_raw());
        assert!(was_killed || status.success(), "{status:?}");
        world.recover();
        match world.store().list().unwrap()[..] {
            [] => assert_eq!(world.snapshot(), old, "at {operation}"),
            _ => assert_eq!(world.shown(), "", "at {operation}"),
        }
        if !was_killed {
            break;
        }
    }
}

fn be_killed(place: &Path) {
    let last: usize = env::var(OPERATION).unwrap().parse().unwrap();
    let run = Folder::at(&place.join("run")).unwrap();
    let (workspace, upper) = (place.join("workspace"), place.join("upper"));
    let (layer, rules) = (Layer::Overlay { upper: &upper }, Rules::default());
    let base = Base::load(&run).unwrap();
    let set = collect(&layer, &workspace, (&base, &rules), &mut Hashes::default()).unwrap();
    let places = (&layer, &*workspace);
    let plan = Plan::new(&set, &Selection::default(), places, (&base, &rules, &run)).unwrap();
    let store = Store::open(&run.create_folder("applied", state::Access::Private).unwrap());
    let counter = AtomicUsize::new(0);
    let disk = Disk::with_hook(move |_| {
        if last == counter.fetch_add(1, Ordering::SeqCst) {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        Ok(())
    });
    apply(&plan, &store.unwrap(), places, &disk).unwrap();
}

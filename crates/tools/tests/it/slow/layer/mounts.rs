//! Attempts at the layer itself: its marks, its mounts, its owners.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::attempt::{contained, run, views, works, world};
use crate::world::{is_root, said};

const SH: &str = "/bin/sh";
const PYTHON: &str = "/usr/bin/python3";

#[test]
fn no_mark_of_the_layer_can_be_made_by_hand() {
    contained(
        PYTHON,
        r#"
import os, stat
os.makedirs("marked", exist_ok=True)
for name in ["user.overlay.opaque", "user.overlay.whiteout", "user.overlay.redirect", "user.overlay.metacopy", "trusted.overlay.redirect"]:
    for value in [b"y", b"x", b"/.ssh", b"../deploy", b"/"]:
        try:
            os.setxattr("marked", name, value)
        except OSError as error:
            print(error)
for path in ["marked/server.key", "marked/id_ed25519"]:
    try:
        print(open(path).read())
    except OSError as error:
        print(error)
for mode, device in [(stat.S_IFCHR, os.makedev(0, 0)), (stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFBLK, os.makedev(254, 0))]:
    try:
        os.mknod("device", mode | 0o666, device)
        print("ESC" + "APED")
    except OSError as error:
        print(error)
"#,
    );
}

#[test]
fn nothing_can_be_mounted_or_unmounted() {
    contained(
        PYTHON,
        r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for path in [b".env", b".claude", b".agent/runs", b"/proc", b"/"]:
    for flags in [0, 2, 8]:
        if libc.umount2(path, flags) == 0:
            print("ESC" + "APED")
if libc.mount(b"none", b"src", b"tmpfs", 0, None) == 0 or libc.mount(b".env", b"notes.txt", None, 4096, None) == 0:
    print("ESC" + "APED")
if libc.mount(None, b".claude", None, 32 | 4096, None) == 0 or libc.unshare(0x10020000) == 0:
    print("ESC" + "APED")
for path in [b"/.host", b"/.layer", b"/.lower", b"/.stage"]:
    try:
        if os.listdir(path):
            print("ESC" + "APED")
    except OSError as error:
        print(error)
"#,
    );
}

#[test]
fn no_program_is_left_that_runs_as_its_owner() {
    contained(
        SH,
        "cp /bin/true evil; chmod u+s evil && test -u evil && echo ESCAPED; chmod g+s . && test -g . && echo ESCAPED; true",
    );
}

#[test]
fn the_machine_cannot_be_seen_behind_it() {
    contained(
        SH,
        r#"cat @ROOT@/home/.ssh/id_ed25519 @ROOT@/other-project/main.py /proc/1/root@ROOT@/home/.ssh/id_ed25519
ls @ROOT@/home && echo ESCAPED; ls /root /home /var/lib && echo ESCAPED; cat /proc/1/environ | grep -q SECRET && echo ESCAPED
echo x > @ROOT@/home/.bashrc && echo ESCAPED; cat /etc/shadow && echo ESCAPED; true"#,
    );
}

#[test]
fn the_folder_for_temporary_files_is_private() {
    contained(
        SH,
        r#"echo x > ${TMPDIR:-/tmp}/skillful-layer-test; ls /tmp | grep -v "^skillful-layer-test$" | grep -q "^skillful" && echo ESCAPED; true"#,
    );
    assert!(!std::path::Path::new("/tmp/skillful-layer-test").exists());
}

#[test]
fn names_that_are_no_text_are_kept() {
    works(
        PYTHON,
        r#"
import os
os.mkdir(b"\xff,:\\ \n")
open(b"\xff,:\\ \n/\xfe", "w").write("kept")
print(open(b"\xff,:\\ \n/\xfe").read())
"#,
        "kept\n",
    );
}

#[test]
fn a_workspace_may_be_called_anything() {
    let strange = |name: &[u8]| {
        let world = world();
        let mut places = world.places();
        let workspace = world.root.join(std::ffi::OsStr::from_bytes(name));
        fs::rename(world.root.join("workspace"), &workspace).unwrap();
        let moved = |path: &std::path::PathBuf| {
            workspace.join(path.strip_prefix(world.root.join("workspace")).unwrap())
        };
        places.layer = moved(&places.layer);
        places.home = moved(&places.home);
        places.temporary = moved(&places.temporary);
        places.workspace = workspace.clone();
        let kernel = skillful_tools::sandbox::Kernel::detect();
        let view =
            skillful_tools::view::View::open(&kernel, places.clone(), Default::default()).unwrap();
        assert_eq!(view.kind(), skillful_tools::view::ViewKind::Overlay, "{:?}", view.reason());
        let confinement = skillful_tools::sandbox::Confinement::default();
        let mut invocation =
            world.invocation(std::path::Path::new(SH), &["-c", "echo x > new; cat notes.txt new"]);
        invocation.folder = view.folder().into();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let output = skillful_tools::sandbox::Output { stdout: &mut stdout, stderr: &mut stderr };
        view.run(&kernel, &confinement, &invocation, output, &Default::default()).unwrap();
        assert_eq!(String::from_utf8(stdout).unwrap(), "harmless\nx\n");
        assert!(places.layer.join("upper/new").exists());
        assert!(!workspace.join("new").exists());
    };
    for name in [&b"a,b:c\\d"[..], b"with space", b"new\nline", b"\xff\xfe", b"a=b'\"$(x)"] {
        strange(name);
    }
}

#[test]
fn a_file_of_somebody_else_is_an_error_and_not_lost() {
    if !is_root() {
        return;
    }
    views(world, |name, world, kernel, view| {
        if view.kind() != skillful_tools::view::ViewKind::Overlay {
            return;
        }
        let file = world.root.join("workspace/theirs.txt");
        fs::write(&file, "theirs\n").unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        std::os::unix::fs::chown(&file, Some(1), Some(1)).unwrap();
        let said = said(&run(
            world,
            kernel,
            view,
            SH,
            "echo mine >> theirs.txt && echo written; cat theirs.txt",
        ));
        assert!(said.contains("theirs") && !said.contains("written"), "{name}: {said}");
        assert!(said.contains("too large"), "{name}: {said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs\n");
    });
}

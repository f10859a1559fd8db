//! The copy that stands in for a layer.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use skillful_tools::sandbox::Kernel;
use skillful_tools::view::ViewKind;

use super::attempt::{run, views, world};
use crate::world::{is_root, said};

#[test]
fn ignored_folders_are_seen_and_not_copied() {
    views(
        || {
            let world = world();
            let inner = |path| world.root.join("workspace").join(path);
            fs::write(inner(".gitignore"), "node_modules/\n*.log\n").unwrap();
            fs::create_dir_all(inner("node_modules/left-pad")).unwrap();
            fs::write(inner("node_modules/left-pad/index.js"), "left\n").unwrap();
            fs::write(inner("node_modules/.env"), crate::world::SECRET).unwrap();
            fs::write(inner("debug.log"), "log\n").unwrap();
            symlink("notes.txt", inner("link")).unwrap();
            fs::set_permissions(inner("src/main.py"), fs::Permissions::from_mode(0o750)).unwrap();
            world
        },
        |name, world, kernel, view| {
            let said = said(&run(
                world,
                kernel,
                view,
                "/bin/sh",
                "cat node_modules/left-pad/index.js debug.log link; cat node_modules/.env; stat -c %a src/main.py; readlink link",
            ));
            assert!(said.contains("left\nlog\nharmless\n750\nnotes.txt\n"), "{name}: {said}");
            assert!(!said.contains(crate::world::SECRET), "{name}: {said}");
            if view.kind() == ViewKind::Copy {
                assert_eq!(view.linked(), [world.root.join("workspace/node_modules")], "{name}");
                let copy = world.places().layer.join("copy");
                assert!(
                    !copy
                        .join("node_modules/left-pad")
                        .symlink_metadata()
                        .is_ok_and(|found| found.is_dir())
                        || copy.join("node_modules").symlink_metadata().unwrap().is_symlink()
                );
                for hidden in [".env", "deploy/server.key", ".ssh/id_ed25519", ".agent/runs/this"] {
                    assert!(!copy.join(hidden).exists(), "{name}: {hidden}");
                }
                let original = fs::metadata(world.root.join("workspace/data.csv")).unwrap();
                assert_eq!(fs::metadata(copy.join("data.csv")).unwrap().mtime(), original.mtime());
            }
        },
    );
}

#[test]
fn something_mounted_in_the_workspace_makes_it_a_copy() {
    let world = world();
    let point = world.root.join("workspace/mounted");
    fs::create_dir(&point).unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        Command::new(program)
            .args(arguments)
            .arg(&point)
            .status()
            .is_ok_and(|ended| ended.success())
    };
    if !is_root() || !mount("mount", &["-t", "tmpfs", "none"]) {
        return;
    }
    let kernel = Kernel::detect();
    fs::write(point.join("inner"), "inner\n").unwrap();
    let view = world.view(&kernel);
    let (kind, reason) = (view.kind(), view.reason().unwrap_or_default().to_owned());
    let said = said(&run(
        &world,
        &kernel,
        &view,
        "/bin/sh",
        "cat mounted/inner; echo x > mounted/new; pwd",
    ));
    drop(view);
    let is_changed = point.join("new").exists();
    assert!(mount("umount", &[]));
    assert_eq!(kind, ViewKind::Copy, "{reason}");
    assert!(reason.contains("layer"), "{reason}");
    assert_eq!(said, format!("inner\n{}\n", world.root.join("workspace").display()));
    assert!(!is_changed);
}

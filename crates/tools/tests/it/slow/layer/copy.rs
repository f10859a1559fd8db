//! The copy that stands in for a layer.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use skillful_tools::view::ViewKind;

use super::attempt::{run, views, world};
use crate::world::said;

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

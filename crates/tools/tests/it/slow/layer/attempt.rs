//! One attempt, through every kind of view that this machine can have.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use skillful_tools::sandbox::{Confinement, Exit, Feature, Kernel, Network, Output};
use skillful_tools::view::{View, ViewKind, ViewOptions};

use crate::world::{ESCAPED, SECRET, World, kernels, said};

/// A workspace with everything in it that is closed.
pub(super) fn world() -> World {
    let world = World::new();
    for (path, content) in FILES {
        let path = world.root.join("workspace").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.replace("SECRET", SECRET)).unwrap();
    }
    let inner = |path| world.root.join("workspace").join(path);
    fs::hard_link(inner(".env"), inner("deploy/second-name.txt")).unwrap();
    world
}

const FILES: &[(&str, &str)] = &[
    (".env", "SECRET"),
    ("deploy/server.key", "SECRET"),
    (".ssh/id_ed25519", "SECRET"),
    ("notes.txt", "harmless\n"),
    ("src/main.py", "print('harmless')\n"),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (
        ".git/config",
        "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://SECRET@example.com/a\n",
    ),
    (".git/modules/part/config", "[core]\n\tpassword = SECRET\n"),
    (".git/modules/part/hooks/post-checkout", "#!/bin/sh\n"),
    (".claude/settings.json", "{}\n"),
    (".codex/config.toml", "a = 1\n"),
    (".agent/skills/own/SKILL.md", "---\nname: own\n---\n"),
    ("packages/part/.claude/settings.json", "{}\n"),
    (".mcp.json", "{}\n"),
];

/// Every view that can be had: each kernel, and copies where there could be a layer.
pub(super) fn views(world: impl Fn() -> World, visit: impl Fn(&str, &World, &Kernel, &View)) {
    for (name, kernel) in kernels() {
        let world = world();
        let view = world.view(&kernel);
        visit(name, &world, &kernel, &view);
    }
    // A mount point in the workspace could be the reason; here an earlier copy is.
    let world = world();
    let kernel = Kernel::detect();
    let places = world.places();
    let plain = kernel.clone().without(Feature::Namespaces);
    drop(View::open(&plain, places.clone(), ViewOptions::default()).unwrap());
    let view = View::open(&kernel, places, ViewOptions::default()).unwrap();
    assert_eq!(view.kind(), ViewKind::Copy);
    visit("a copy in namespaces", &world, &kernel, &view);
}

/// Runs a program, given by its name and arguments, in a view.
pub(super) fn run(world: &World, kernel: &Kernel, view: &View, program: &str, code: &str) -> Exit {
    let confinement = Confinement {
        read: vec![world.root.join("skill")],
        network: Network::Private,
        ..Confinement::default()
    };
    let mut invocation = world.invocation(Path::new(program), &["-c", code]);
    invocation.folder = view.folder().into();
    invocation.environment.retain(|(name, _)| name != "HOME");
    invocation.environment.push(("HOME".into(), world.places().home.into()));
    invocation.environment.push(("WS".into(), view.folder().into()));
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    view.run(kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap()
}

/// Tries `code` in every view: it must not say that it got out, nor the secret, and nothing outside may change.
pub(super) fn contained(program: &str, code: &str) {
    views(world, |name, world, kernel, view| {
        let before = world.snapshot();
        let said = said(&run(world, kernel, view, program, code));
        assert!(!said.contains(ESCAPED), "escaped with {name}: {said}");
        assert!(!said.contains(SECRET), "the secret got out with {name}: {said}");
        assert_eq!(world.snapshot(), before, "something outside changed with {name}: {said}");
    });
}

/// The same only where there are mounts.
pub(super) fn contained_by_mounts(program: &str, code: &str) {
    views(world, |name, world, kernel, view| {
        if view.folder() == world.places().workspace {
            let said = said(&run(world, kernel, view, program, code));
            assert!(!said.contains(ESCAPED), "escaped with {name}: {said}");
            assert!(!said.contains(SECRET), "the secret got out with {name}: {said}");
        }
    });
}

/// Runs `code` in every view: it must say this.
pub(super) fn works(program: &str, code: &str, expected: &str) {
    views(world, |name, world, kernel, view| {
        assert_eq!(said(&run(world, kernel, view, program, code)), expected, "{name}");
    });
}

/// The same only where there are namespaces, and so a private network.
pub(super) fn works_in_namespaces(program: &str, code: &str, expected: &str) {
    views(world, |name, world, kernel, view| {
        if view.has_private_network() {
            assert_eq!(said(&run(world, kernel, view, program, code)), expected, "{name}");
        }
    });
}

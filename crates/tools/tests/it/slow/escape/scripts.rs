//! What a skill's script can read of the workspace, and what it can leave behind.

use std::fs;
use std::sync::atomic::AtomicBool;

use skillful_tools::sandbox::{Exit, Kernel, Output, SandboxMode};
use skillful_tools::script::run;

use super::environment::{script, surroundings};
use crate::world::{SECRET, World, kernels, text};

/// Runs a script of the skill; returns what it said.
fn perform(
    world: &World,
    kernel: &Kernel,
    mode: SandboxMode,
    name: &str,
    code: &str,
) -> (Exit, String) {
    let surroundings = surroundings(world, kernel, mode);
    let script = script(world, &format!("scripts/{name}"), code);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    let exit = run(kernel, &script, &surroundings, output, &AtomicBool::new(false)).unwrap();
    (exit, text(&stdout) + &text(&stderr))
}

/// A workspace with secrets and with files that are none.
fn with_secrets() -> World {
    let world = World::new();
    let files = [
        (".env", SECRET),
        ("deploy/server.key", SECRET),
        (".ssh/config", SECRET),
        (
            ".git/config",
            "[remote \"origin\"]\n\turl = https://s3cr3t-0f-th3-0uts1d3@example.com/\n",
        ),
        ("deploy/notes.md", "harmless"),
        (".git/HEAD", "harmless"),
        (".agent/skills/other/SKILL.md", "harmless"),
    ];
    for (path, content) in files {
        let path = world.root.join("workspace").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::write(world.root.join("skill/.env"), "the skill's own").unwrap();
    let in_workspace = |path| world.root.join("workspace").join(path);
    fs::hard_link(in_workspace(".env"), in_workspace("deploy/readme.txt")).unwrap();
    world
}

#[test]
fn what_the_file_tools_hide_is_closed_to_scripts() {
    let code = r#"cd "$WORKSPACE_DIR"
cat .env deploy/server.key .ssh/config .git/config deploy/readme.txt deploy/../.env "$WORKSPACE_DIR/.env"
ln -s "$WORKSPACE_DIR/.env" "$HOME/link"; cat "$HOME/link"
cat deploy/notes.md .git/HEAD .agent/skills/other/SKILL.md data.csv "$SKILL_DIR/.env"
"#;
    for (name, kernel) in kernels() {
        let world = with_secrets();
        let (exit, said) = perform(&world, &kernel, SandboxMode::Required, "read.sh", code);
        assert!(!said.contains(SECRET), "the secret got out with {name}: {said}");
        assert_eq!(said.matches("harmless").count(), 3, "too much is closed with {name}: {said}");
        assert!(said.contains("nut,3") && said.contains("the skill's own"), "{name}: {said}");
        // The records of runs, and four files and folders.
        assert_eq!((exit.applied.hidden, exit.applied.unsearched), (5, 0));
        let world = with_secrets();
        let (_, said) = perform(&world, &kernel, SandboxMode::Off, "read.sh", code);
        assert_eq!(said.matches(SECRET).count(), 8, "fails without a sandbox as well: {said}");
    }
}

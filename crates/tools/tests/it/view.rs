//! What a run sees of its workspace, and what becomes of what it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use skillful_tools::command::{self, Command, CommandFolder};
use skillful_tools::sandbox::{
    Confinement, Ending, Exit, Feature, Kernel, Network, Output, SandboxError, Stdin,
};
use skillful_tools::script::{
    ArgumentLimits, Environment, Interpreters, ScriptError, Surroundings,
};
use skillful_tools::view::{View, ViewKind, ViewOptions, probe};

use crate::world::{World, installed, kernels, said};

fn surroundings(world: &World, kernel: &Kernel) -> Surroundings {
    Surroundings {
        view: world.view(kernel).into(),
        private: world.root.join("private"),
        environment: Environment::default(),
        interpreters: Interpreters::default(),
        arguments: ArgumentLimits::default(),
        confinement: Confinement { network: Network::Private, ..Confinement::default() },
    }
}

/// Runs a command of the world's skill.
fn perform(
    world: &World,
    kernel: &Kernel,
    folder: CommandFolder,
    text: &str,
) -> Result<Exit, ScriptError> {
    let skill = Some(world.root.join("skill"));
    let command = Command { text: text.into(), folder, skill, stdin: Stdin::default() };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    let surroundings = surroundings(world, kernel);
    command::run(kernel, &command, &surroundings, output, &AtomicBool::new(false))
}

#[test]
fn what_is_written_goes_into_the_layer() {
    let world = World::new();
    let kernel = Kernel::detect();
    let view = world.view(&kernel);
    assert_eq!((view.kind(), view.reason()), (ViewKind::Overlay, None));
    let before = world.snapshot();
    let exit =
        world.run_in(&kernel, &view, "pwd; echo new > new.txt; echo x >> data.csv; rm who; ls");
    let workspace = world.root.join("workspace");
    assert_eq!(said(&exit).lines().next(), workspace.to_str());
    assert_eq!(world.snapshot(), before);
    let upper = world.places().layer.join("upper");
    assert_eq!(fs::read_to_string(upper.join("new.txt")).unwrap(), "new\n");
    assert!(fs::read_to_string(upper.join("data.csv")).unwrap().ends_with("x\n"));
    assert_eq!(exit.applied.view, Some(ViewKind::Overlay));
    assert!(exit.applied.private_network);
}

#[test]
fn new_files_get_the_modes_that_the_user_gives_them() {
    let world = World::new();
    let code = "umask; touch new; mkdir folder; stat -c '%a' new folder; rm -r new folder";
    let freely = world.run_freely(&world.invocation(Path::new("/bin/sh"), &["-c", code]));
    for (name, kernel) in kernels() {
        let world = World::new();
        let exit = world.run_in(&kernel, &world.view(&kernel), code);
        assert_eq!(said(&exit), freely, "{name}");
    }
}

#[test]
fn git_does_not_take_what_is_shown_of_the_run_for_the_users() {
    if installed("git").is_none() {
        return;
    }
    let world = World::new();
    let made = world.run_freely(&world.invocation(
        Path::new("/bin/sh"),
        &["-c", "cd @ROOT@/workspace && git init -q . && mkdir -p .agent/runs && echo '*' > .agent/runs/.gitignore"],
    ));
    assert_eq!(made, "");
    let kernel = Kernel::detect();
    let view = world.view(&kernel);
    fs::write(world.places().home.join("cached"), "").unwrap();
    let exit = world.run_in(
        &kernel,
        &view,
        "git add -A && git ls-files .agent && git status --short .agent",
    );
    assert_eq!((said(&exit).as_str(), exit.ending), ("", Ending::Exited(0)));
}

#[test]
fn a_layer_is_for_one_view_at_a_time() {
    let world = World::new();
    let kernel = Kernel::detect();
    let first = world.view(&kernel);
    let second = View::open(&kernel, world.places(), ViewOptions::default());
    assert!(matches!(second, Err(SandboxError::Setup { .. })), "{second:?}");
    drop(first);
    drop(world.view(&kernel));
}

#[test]
fn every_folder_of_a_layer_can_be_listed_by_its_owner() {
    let world = World::new();
    let kernel = Kernel::detect();
    world.run_in(&kernel, &world.view(&kernel), "echo new > new.txt");
    let layer = world.places().layer;
    let found = world.run_freely(&world.invocation(
        Path::new("/bin/sh"),
        &["-c", &format!("find {} -type d ! -perm -700", layer.display())],
    ));
    assert_eq!(found, "");
}

#[test]
fn a_command_starts_in_a_folder_of_workspace_or_skill() {
    let world = World::new();
    let kernel = Kernel::detect();
    let workspace = |inner: &str| CommandFolder::Workspace(inner.into());
    for (folder, text, expected) in [
        (workspace(""), "ls data.csv; echo $0 | grep -c sh", "data.csv\n1\n"),
        (workspace("."), "mkdir made; cd \"$WORKSPACE_DIR\"; ls -d made", "made\n"),
        (workspace("made"), "basename $PWD", "made\n"),
        (
            CommandFolder::Skill(PathBuf::new()),
            "ls; [ $PWD = $SKILL_DIR ] && echo same",
            "SKILL.md\nscripts\nsame\n",
        ),
        (CommandFolder::Skill("scripts".into()), "python3 run.py", "the skill\n"),
    ] {
        let exit = perform(&world, &kernel, folder.clone(), text).unwrap();
        assert_eq!(
            (said(&exit).as_str(), exit.ending),
            (expected, Ending::Exited(0)),
            "{folder:?}"
        );
    }
    for outside in ["..", "/", "made/../.."] {
        let refused = perform(&world, &kernel, workspace(outside), "true");
        assert!(matches!(refused, Err(ScriptError::Outside { .. })), "{outside}");
    }
    assert!(!world.root.join("workspace/made").exists());
}

#[test]
fn a_probe_says_what_a_view_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let found = probe(&Kernel::detect(), folder.path());
    // Whether there is a network depends on where the system's folders are mounted.
    assert!(found[0].available, "{found:?}");
    let without = Kernel::detect().without(Feature::Namespaces);
    let found = probe(&without, folder.path());
    assert!(found.iter().all(|line| !line.available), "{found:?}");
    assert_eq!(found[0].detail, "there are no namespaces");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves nothing");
    let nowhere = probe(&Kernel::detect(), Path::new("/no/such/folder"));
    assert!(nowhere.iter().all(|line| !line.available), "{nowhere:?}");
}

//! What a program could inherit, and the content that was approved.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};
use skillful_tools::sandbox::{Ending, Kernel, Limits, Output, SandboxMode};
use skillful_tools::script::{
    ApprovedContent, ArgumentLimits, Environment, Interpreters, Script, ScriptError, Surroundings,
    run,
};
use skillful_tools::view::{View, ViewOptions};

use super::attempt::Language::Python;
use super::attempt::contained;
use crate::world::{ESCAPED, SECRET, World, installed, kernels, text};

#[test]
fn no_variable_of_the_agent_reaches_a_program() {
    // Set by whoever runs the tests, for this process alone.
    contained(
        Python,
        r#"
if "CARGO_MANIFEST_DIR" in os.environ or "OLDPWD" in os.environ or "SHELL" in os.environ or "USER" in os.environ:
    escaped()
"#,
    );
}

#[test]
fn no_open_file_of_the_agent_reaches_a_program() {
    contained(
        Python,
        r#"
for number in range(3, 200):
    try:
        got(os.pread(number, 100, 0))
    except OSError:
        pass
"#,
    );
}

pub(crate) fn surroundings(world: &World, kernel: &Kernel, mode: SandboxMode) -> Surroundings {
    let options = ViewOptions { mode, ..ViewOptions::default() };
    Surroundings {
        view: View::open(kernel, world.places(), options).unwrap().into(),
        private: world.root.join("private"),
        environment: Environment { path: Some("/usr/bin:/bin".into()), ..Environment::default() },
        interpreters: Interpreters::default(),
        arguments: ArgumentLimits::default(),
        confinement: skillful_tools::sandbox::Confinement {
            mode,
            limits: Limits::default(),
            ..Default::default()
        },
    }
}

pub(crate) fn script(world: &World, path: &str, content: &str) -> Script {
    Script {
        skill: world.root.join("skill"),
        path: path.into(),
        content: ApprovedContent::new(content.into(), Sha256::digest(content).into()).unwrap(),
        arguments: Vec::new(),
        stdin: Vec::new(),
    }
}

fn said_by(world: &World, kernel: &Kernel, script: &Script) -> Result<String, ScriptError> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    let exit = run(
        kernel,
        script,
        &surroundings(world, kernel, SandboxMode::Required),
        output,
        &AtomicBool::new(false),
    )?;
    assert_eq!(exit.ending, Ending::Exited(0), "{}", text(&stderr));
    Ok(text(&stdout))
}

#[test]
fn a_script_gets_the_listed_variables_and_no_others() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let script = script(&world, "scripts/names.sh", "env | cut -d= -f1 | sort | tr '\\n' ' '");
        // The shell adds `PWD` itself.
        let expected = "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_OPTIONAL_LOCKS HOME LANG PATH PWD SKILL_DIR TMPDIR WORKSPACE_DIR ";
        assert_eq!(said_by(&world, &kernel, &script).unwrap(), expected, "{name}");
    }
}

#[test]
fn a_script_that_is_swapped_after_the_approval_does_not_run() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let script = script(&world, "scripts/task.sh", "echo approved");
        let file = world.root.join("skill/scripts/task.sh");
        fs::write(&file, format!("#!/bin/sh\necho {ESCAPED}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(said_by(&world, &kernel, &script).unwrap(), "approved\n", "{name}");
        let swapped = world.run_freely(&world.invocation(&file, &[]));
        assert!(swapped.contains(ESCAPED), "nothing was swapped, so this proves nothing");
    }
}

#[test]
fn a_script_that_replaces_itself_does_not_change_what_was_approved() {
    if installed("python3").is_none() {
        return;
    }
    for (name, kernel) in kernels() {
        let world = World::new();
        let content = "import sys\ntry:\n    open(__file__, 'w').write('evil')\n    print('ESC' + 'APED')\nexcept OSError:\n    print('kept')\n";
        let script = script(&world, "scripts/task.py", content);
        assert_eq!(said_by(&world, &kernel, &script).unwrap(), "kept\n", "{name}");
    }
}

#[test]
fn content_that_was_not_approved_is_refused() {
    let approved = Sha256::digest("echo fine").into();
    let refused = ApprovedContent::new(b"echo evil".to_vec(), approved);
    assert!(matches!(refused, Err(ScriptError::Changed { .. })), "{refused:?}");
}

#[test]
fn a_home_that_became_a_link_is_not_followed() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let home = world.places().home;
        fs::remove_dir(&home).unwrap();
        std::os::unix::fs::symlink(world.root.join("home"), &home).unwrap();
        let script = script(&world, "scripts/task.sh", "cat ~/.ssh/id_ed25519");
        let refused = said_by(&world, &kernel, &script);
        assert!(matches!(refused, Err(ScriptError::Sandbox(_))), "{name}: {refused:?}");
    }
}

#[test]
fn a_secret_in_a_folder_on_the_path_stays_there() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let mut surroundings = surroundings(&world, &kernel, SandboxMode::Required);
        surroundings.environment.path = Some(world.root.join("home").into());
        let script = script(&world, "scripts/task.sh", "echo $PATH; cat @ROOT@/home/.bashrc");
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let output = Output { stdout: &mut stdout, stderr: &mut stderr };
        run(&kernel, &script, &surroundings, output, &AtomicBool::new(false)).unwrap();
        assert_eq!(text(&stdout), "/usr/local/bin:/usr/bin:/bin\n", "{name}");
        assert!(!text(&stderr).contains(SECRET), "{name}");
    }
}

//! What happens where the kernel cannot do everything: nothing runs, or the record says what was
//! missing.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use basics::failure::Explain;
use skillful_tools::sandbox::{
    Applied, Confinement, Ending, Feature, Isolation, Kernel, Limits, Output, SandboxError,
    SandboxMode, run,
};

use crate::world::{World, kernels, said};

fn attempt(kernel: &Kernel, mode: SandboxMode) -> (World, Result<(Ending, Applied), SandboxError>) {
    let world = World::new();
    let confinement = Confinement { mode, ..world.confinement(Limits::default()) };
    let invocation = world.invocation(Path::new("/bin/sh"), &["-c", "echo ran > @SANDBOX@/proof"]);
    let result =
        world.run(kernel, &confinement, &invocation).map(|exit| (exit.ending, exit.applied));
    (world, result)
}

#[test]
fn with_a_required_feature_missing_nothing_runs_and_the_error_helps() {
    for (lacking, named, advice) in [
        (&[Feature::Landlock][..], Feature::Landlock, "lsm="),
        (&[Feature::Seccomp], Feature::Seccomp, "CONFIG_SECCOMP_FILTER"),
        (&[Feature::Namespaces, Feature::Supervision], Feature::Supervision, "user namespaces"),
    ] {
        let kernel =
            lacking.iter().fold(Kernel::detect(), |kernel, feature| kernel.without(*feature));
        let (world, result) = attempt(&kernel, SandboxMode::Required);
        let error = result.unwrap_err();
        assert!(
            matches!(&error, SandboxError::Unavailable { feature, .. } if *feature == named),
            "{error}"
        );
        assert!(
            error.hint().contains(advice) && error.hint().contains("best-effort"),
            "{}",
            error.hint()
        );
        assert!(error.to_string().contains("left out on purpose"), "{error}");
        assert!(!world.sandbox().join("proof").exists(), "it ran without {lacking:?}");
    }
}

#[test]
fn the_best_effort_runs_and_records_what_was_missing() {
    let features = [Feature::Landlock, Feature::Seccomp, Feature::Supervision, Feature::Namespaces];
    for feature in features {
        let kernel = Kernel::detect().without(feature);
        let (world, result) = attempt(&kernel, SandboxMode::BestEffort);
        let (ending, applied) = result.unwrap();
        assert_eq!(ending, Ending::Exited(0), "{feature:?}");
        assert!(applied.missing.contains(&feature), "{applied:?}");
        assert_eq!(applied.landlock_abi.is_none(), feature == Feature::Landlock);
        assert_eq!(applied.seccomp, feature != Feature::Seccomp);
        assert!(world.sandbox().join("proof").exists());
    }
}

#[test]
fn without_anything_the_tree_still_ends_as_a_whole() {
    let features = [Feature::Landlock, Feature::Seccomp, Feature::Supervision, Feature::Namespaces];
    let bare = features.into_iter().fold(Kernel::detect(), Kernel::without);
    for (kernel, mode) in [(bare, SandboxMode::BestEffort), (Kernel::detect(), SandboxMode::Off)] {
        let world = World::new();
        let confinement = Confinement { mode, ..world.confinement(Limits::default()) };
        // The daemon holds the output open: were it alive, this would not return before the
        // timeout.
        let script = "setsid sh -c 'trap \"\" TERM HUP; sleep 600' & echo started";
        let invocation = world.invocation(Path::new("/bin/sh"), &["-c", script]);
        let exit = world.run(&kernel, &confinement, &invocation).unwrap();
        assert_eq!(
            (exit.ending, exit.stdout.head.as_slice()),
            (Ending::Exited(0), &b"started\n"[..])
        );
        assert_eq!(exit.applied.isolation, Isolation::Swept);
    }
}

#[test]
fn every_feature_is_tried_and_reported() {
    let kernel = Kernel::detect();
    let features: Vec<_> = kernel.features().iter().map(|line| line.feature).collect();
    assert_eq!(
        features,
        [
            Feature::Landlock,
            Feature::Seccomp,
            Feature::Supervision,
            Feature::Namespaces,
            Feature::ProcessLimit
        ]
    );
    for line in kernel.features() {
        assert!(!line.detail.is_empty(), "{line:?}");
        println!("{line:?}");
    }
}

#[test]
fn the_record_says_what_was_applied() {
    for (name, kernel) in kernels() {
        let (_, result) = attempt(&kernel, SandboxMode::Required);
        let (_, applied) = result.unwrap();
        let old = name.contains("old Landlock");
        assert!(
            applied.seccomp && applied.no_new_privileges && applied.limits.is_some(),
            "{name}: {applied:?}"
        );
        assert!(!old || applied.landlock_abi == Some(1), "{name}: {applied:?}");
        if name.contains("no namespaces") {
            assert_eq!(applied.isolation, Isolation::Supervised, "{name}");
        }
        let written = serde_json::to_string(&applied).unwrap();
        assert_eq!(serde_json::from_str::<Applied>(&written).unwrap(), applied);
    }
}

#[track_caller]
fn check_refusal(change: impl FnOnce(&World, &mut Confinement), expected: &str) {
    let world = World::new();
    let mut confinement = world.confinement(Limits::default());
    change(&world, &mut confinement);
    let invocation = world.invocation(Path::new("/bin/sh"), &["-c", "echo ran > proof"]);
    let error = world.run(&Kernel::detect(), &confinement, &invocation).unwrap_err();
    let message = error.to_string().replace(world.root.to_str().unwrap(), "");
    assert_eq!(message, expected, "{:?}", error.source());
    assert!(!error.hint().is_empty());
    assert!(!world.sandbox().join("proof").exists(), "it ran");
}

#[test]
fn a_path_that_cannot_be_granted_is_named() {
    check_refusal(
        |world, confinement| confinement.read.push(world.root.join("missing")),
        "cannot grant access to `/missing`",
    );
    check_refusal(
        |_, confinement| confinement.write.push("relative".into()),
        "cannot grant access to `relative`",
    );
    check_refusal(
        |world, confinement| {
            std::os::unix::fs::symlink(world.root.join("home"), world.root.join("link")).unwrap();
            confinement.write.push(world.root.join("link/.ssh"));
        },
        "cannot grant access to `/link/.ssh`",
    );
    check_refusal(
        |world, confinement| confinement.write.push(world.root.join("workspace")),
        "cannot grant writing to `/workspace`: it contains `/workspace/.agent`, which must stay closed",
    );
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    for (name, kernel) in kernels() {
        let world = World::new();
        let confinement = world.confinement(Limits::default());
        let plain = world.root.join("skill/SKILL.md");
        for (program, reason) in
            [(Path::new("/no/such/program"), libc::ENOENT), (&plain, libc::EACCES)]
        {
            let invocation = world.invocation(program, &[]);
            let error = world.run(&kernel, &confinement, &invocation).unwrap_err();
            let SandboxError::Execute { program: named, source } = error else {
                panic!("{name}: {error}")
            };
            assert_eq!((named.as_path(), source.raw_os_error()), (program, Some(reason)), "{name}");
        }
    }
}

#[test]
fn a_nul_byte_is_refused() {
    let world = World::new();
    let invocation = world.invocation(Path::new("/bin/sh"), &["a\0b"]);
    let error = world
        .run(&Kernel::detect(), &world.confinement(Limits::default()), &invocation)
        .unwrap_err();
    assert_eq!(error.to_string(), "a NUL byte in an argument");
}

#[test]
fn output_that_cannot_be_stored_ends_the_program() {
    /// A disk without space.
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for (name, kernel) in kernels() {
        let world = World::new();
        let invocation = world.invocation(Path::new("/bin/sh"), &["-c", "echo x; sleep 600"]);
        let output = Output { stdout: &mut Full, stderr: &mut std::io::sink() };
        let confinement = world.confinement(Limits::default());
        let error =
            run(&kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(error, SandboxError::Store { .. }), "{name}: {error}");
    }
}

#[test]
fn a_write_grant_reaches_what_is_beneath_it_and_nothing_beside_it() {
    for (name, kernel) in kernels() {
        let world = World::new();
        fs::create_dir_all(world.root.join("workspace/out/deep")).unwrap();
        let mut confinement = world.confinement(Limits::default());
        confinement
            .write
            .extend([world.root.join("workspace/out"), world.root.join("workspace/data.csv")]);
        let script = "cd @ROOT@/workspace; for f in out/a out/deep/b data.csv c; do echo x 2>&1 > $f && echo $f; done
chmod 700 out/a && mv out/a out/deep/a && mv out/deep/a @SANDBOX@/a && rm -r out/deep && echo moved";
        let invocation = world.invocation(Path::new("/bin/sh"), &["-c", script]);
        let exit = world.run(&kernel, &confinement, &invocation).unwrap();
        let said = said(&exit);
        let expected = ["out/a", "out/deep/b", "data.csv"];
        assert!(
            expected.iter().all(|path| said.lines().any(|line| line == *path)),
            "{name}: {said}"
        );
        assert!(!said.lines().any(|line| line == "c"), "{name}: {said}");
        // The first version of Landlock lets nothing be moved between folders; `mv` copies instead.
        assert!(said.lines().any(|line| line == "moved"), "{name}: {said}");
    }
}

//! Where packs come from, and what is in the way: repositories, https, other processes, full disks.

mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use server::{Answer, Server};

use crate::turns::{answer, run_script, select};
use crate::world::World;
use crate::world::packs::{refusal, works};

fn skill(world: &World, folder: &str, name: &str, version: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: What {name} does.\nversion: {version}\n---\n# {name} {version}\n"
    );
    world.write(&format!("{folder}/SKILL.md"), text);
}

fn code(world: &World, line: &str) -> String {
    refusal(world, line).0
}

const GIT: &str = "git -c user.name=x -c user.email=x@example.com -c init.defaultBranch=main";

/// A repository with a tag, a branch and a subfolder; answers with the first commit.
fn repository(world: &World) -> String {
    skill(world, "repository/skills/demo", "demo", "1.0.0");
    skill(world, "repository/extra/other", "other", "1.0.0");
    world.write("repository/readme.md", "Not part of a skill.");
    // What would run if anything of the repository were.
    world.write("repository/.gitattributes", "* filter=evil\n");
    let run = |line: &str| {
        let output = world.output(&format!("cd ../repository && {line}"));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run(&format!(
        "{GIT} init -q && {GIT} add . && {GIT} commit -qm one && {GIT} tag v1 && {GIT} tag -am annotated v1a"
    ));
    let first = run("git rev-parse HEAD");
    skill(world, "repository/skills/demo", "demo", "2.0.0");
    run(&format!("{GIT} commit -qam two && {GIT} branch next"));
    skill(world, "repository/skills/demo", "demo", "3.0.0");
    run(&format!(
        "{GIT} commit -qam three && git config filter.evil.smudge 'touch ../evil; cat' && git config core.fsmonitor 'touch ../evil'"
    ));
    world.write("repository/.git/hooks/post-checkout", "#!/bin/sh\ntouch ../evil\n");
    fs::set_permissions(
        world.path("repository/.git/hooks/post-checkout"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    first
}

#[test]
fn a_repository_is_installed_by_tag_branch_commit_and_folder() {
    let world = World::new();
    let first = repository(&world);
    let installed = |source: &str| {
        let done = works(&world, &format!("install '{source}' --force --allow OlderVersion"));
        let skills = done["installed"].as_array().unwrap().clone();
        skills
            .iter()
            .map(|skill| {
                format!(
                    "{}@{}",
                    skill["name"].as_str().unwrap(),
                    skill["version"].as_str().unwrap()
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(installed("../repository"), ["demo@3.0.0", "other@1.0.0"]);
    assert_eq!(installed("../repository#v1"), ["demo@1.0.0", "other@1.0.0"]);
    assert_eq!(installed("../repository#v1a//skills"), ["demo@1.0.0"]);
    assert_eq!(installed("../repository#next//skills/demo"), ["demo@2.0.0"]);
    assert_eq!(installed(&format!("../repository#{first}")), ["demo@1.0.0", "other@1.0.0"]);
    assert_eq!(installed(&format!("../repository#{}//extra", &first[..10])), ["other@1.0.0"]);
    assert_eq!(
        installed(&format!("file://{}//skills", world.path("repository").display())),
        ["demo@3.0.0"]
    );
    assert!(!world.path("evil").exists() && !world.path("project/evil").exists());
    assert_eq!(code(&world, "install ../repository#nothing"), "GitFailed");
    assert_eq!(code(&world, "install ../repository#--upload-pack=touch"), "GitFailed");
    assert_eq!(code(&world, "install ../repository//nothing"), "GitFailed");
    assert_eq!(code(&world, "install ../repository//../x"), "ParentSegment");
}

#[test]
fn a_lockfile_names_the_commit_and_brings_it_back() {
    let world = World::new();
    repository(&world);
    works(&world, "install ../repository#next//skills --scope project");
    let lockfile: Value = serde_json::from_str(&world.read("project/.agent/skills.lock")).unwrap();
    assert_eq!(lockfile["skills"][0]["resolved"].as_str().unwrap().len(), 40);
    // The branch goes on, the lockfile does not.
    world.run(&format!(
        "cd ../repository && {GIT} branch -f next main && rm -r ../project/.agent/skills"
    ));
    works(&world, "install --locked --scope project");
    assert!(world.read("project/.agent/skills/demo/SKILL.md").contains("2.0.0"));
    let outdated = works(&world, "outdated");
    assert_eq!(outdated["outdated"][0]["available"], "3.0.0");
    works(&world, "update");
    assert!(world.read("project/.agent/skills/demo/SKILL.md").contains("3.0.0"));
}

/// A pack of the skill `demo`, as bytes.
fn pack(world: &World) -> Vec<u8> {
    skill(world, "project/demo", "demo", "1.0.0");
    works(world, "pack demo -o demo.zip --force");
    fs::read(world.path("project/demo.zip")).unwrap()
}

#[test]
fn a_pack_comes_over_https_and_nothing_else() {
    let world = World::new();
    let bytes = pack(&world);
    let server = Server::start(vec![
        Answer::Body(bytes.clone()),
        Answer::Redirect("/elsewhere".to_owned()),
        Answer::Body(bytes.clone()),
        Answer::Redirect("http://localhost/x.zip".to_owned()),
        Answer::Redirect("file:///etc/passwd".to_owned()),
        Answer::Loop,
        Answer::Missing,
        Answer::Endless,
        Answer::Body(b"<html>".to_vec()),
    ]);
    let world = world.with("SSL_CERT_FILE", server.certificate.path());
    let install = |world: &World| {
        let line = format!("install {} --force", server.url("/demo.zip"));
        let output = world.output(&format!("skillful {line} --json"));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["error"]["code"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(install(&world), "none");
    assert_eq!(install(&world), "none");
    let lockfile = world.read("home/.agent/skills.lock");
    assert!(
        lockfile.contains(&format!("\"resolved\": \"{}\"", server.url("/elsewhere"))),
        "{lockfile}"
    );
    assert_eq!(install(&world), "RedirectRefused");
    assert_eq!(install(&world), "RedirectRefused");
    assert_eq!(install(&world), "FetchFailed");
    assert_eq!(install(&world), "FetchFailed");
    let small = World::new()
        .with("SSL_CERT_FILE", server.certificate.path())
        .with("SKILLFUL_INSTALL_MAX_BYTES", "1000");
    assert_eq!(install(&small), "TooLarge");
    assert_eq!(install(&world), "NotAZip");
    // A certificate that nobody vouches for.
    let server = Server::start(vec![Answer::Body(bytes)]);
    assert_eq!(
        code(&world, &format!("install {} --force", server.url("/demo.zip"))),
        "FetchFailed"
    );
}

#[test]
fn two_installs_at_once_are_one_after_the_other() {
    let world = World::new();
    for number in 0..6 {
        skill(&world, &format!("project/packs/s{number}"), &format!("s{number}"), "1.0.0");
    }
    let start = |number: usize| {
        let mut command = world.command(&format!("skillful install packs/s{number}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..6).map(start).collect();
    for process in running {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    for number in 0..6 {
        works(&world, &format!("verify s{number}"));
    }
    assert!(!world.path("home/.agent/skills/.staging").exists());
}

#[test]
fn a_pack_of_two_hundred_skills_is_installed_as_one() {
    let world = World::new();
    for number in 0..200 {
        skill(&world, &format!("project/packs/s{number:03}"), &format!("s{number:03}"), "1.0.0");
    }
    works(&world, "pack packs -o all.zip");
    assert_eq!(works(&world, "install all.zip")["installed"].as_array().unwrap().len(), 200);
    assert_eq!(works(&world, "list --source user")["skills"].as_array().unwrap().len(), 200);
    works(&world, "verify s199");
    works(&world, "uninstall s000");
    // One that is in the way keeps all others out.
    assert_eq!(code(&world, "install all.zip"), "AlreadyInstalled");
    assert!(!world.path("home/.agent/skills/s000").exists());
    works(&world, "install all.zip --skill s000");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_run_keeps_its_snapshot_while_something_is_installed() {
    let world = World::new();
    pack(&world);
    works(&world, "install demo.zip");
    // The script waits in the middle of the run until the update is done.
    world.write(
        "home/.agent/skills/waits/SKILL.md",
        "---\nname: waits\ndescription: Waits.\n---\nRun scripts/wait.sh\n",
    );
    world.write(
        "home/.agent/skills/waits/scripts/wait.sh",
        "echo started > $HOME/started; while ! [ -e $HOME/go ]; do sleep 0.05; done; echo done\n",
    );
    let wait = run_script("waits", "scripts/wait.sh", &[]);
    world.turns(&[select(&["waits", "demo"]), wait, answer("finished")]);
    let line = "skillful run --model scripted:turns.json --yes --approve run_script hello";
    let mut run = world.command(line);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = || {
        let runs = fs::read_dir(world.path("project/.agent/runs")).into_iter().flatten().flatten();
        runs.map(|run| run.path().join("sandbox/home"))
            .find(|sandbox| sandbox.join("started").exists())
    };
    let sandbox = loop {
        if let Some(sandbox) = started() {
            break sandbox;
        }
        if run.try_wait().unwrap().is_some() {
            panic!("{:?}", run.wait_with_output());
        }
        std::thread::yield_now();
    };
    skill(&world, "project/demo", "demo", "2.0.0");
    works(&world, "install demo --force");
    fs::write(sandbox.join("go"), "").unwrap();
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "finished");
    let events =
        fs::read_to_string(sandbox.ancestors().nth(2).unwrap().join("events.jsonl")).unwrap();
    assert!(events.contains("# demo 1.0.0") && !events.contains("# demo 2.0.0"), "{events}");
    works(&world, "verify demo --scope user");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn skipped(why: &str) {
    let _ =
        std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {why}\n").as_bytes());
}

/// A small file system at `path`, until this is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(world: &World, path: &str, options: &str) -> Option<Self> {
        let path = world.path(path);
        fs::create_dir_all(&path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&path).output();
        match is_root() && mounted.is_ok_and(|output| output.status.success()) {
            true => Some(Self(path)),
            false => {
                skipped("a file system can only be mounted by root, and not in every container");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let world = World::new();
    let Some(_mounted) = Mounted::new(&world, "home/.agent", "size=256k") else { return };
    pack(&world);
    works(&world, "install demo.zip");
    let before = world.run("cd ../home/.agent && find . -type f | sort | xargs sha256sum");
    skill(&world, "project/big", "demo", "2.0.0");
    // From what is far too much to what nearly fits, with and without many files.
    for size in [400_000, 250_000, 240_000, 236_000, 232_000, 228_000, 224_000, 220_000] {
        world.write("project/big/data", vec![b'x'; size]);
        let output = world.output("skillful install big --force --json");
        if output.status.success() {
            works(&world, "verify demo --scope user");
            return;
        }
        let after = world.run("cd ../home/.agent && find . -type f | sort | xargs sha256sum");
        assert_eq!(before, after, "{size}");
        works(&world, "verify demo --scope user");
    }
}

#[test]
fn a_read_only_folder_leaves_what_was_there() {
    let world = World::new();
    pack(&world);
    works(&world, "install demo.zip");
    skill(&world, "project/demo", "demo", "2.0.0");
    let Some(_mounted) = Mounted::new(&world, "mounted", "size=1m") else { return };
    world.run("cp -r ../home/.agent ../mounted/.agent && mount -o remount,ro ../mounted");
    let home = world.path("mounted");
    let world = world.with("HOME", home);
    for line in ["install demo --force", "uninstall demo", "update", "install demo --backup"] {
        assert_eq!(code(&world, line), if line == "update" { "none" } else { "IOError" }, "{line}");
    }
    works(&world, "verify demo --scope user");
    works(&world, "list");
}

#[test]
fn a_root_on_another_device_is_installed_into() {
    let world = World::new();
    pack(&world);
    let Some(_mounted) = Mounted::new(&world, "home/.agent/skills", "size=1m") else { return };
    works(&world, "install demo.zip");
    works(&world, "verify demo --scope user");
    works(&world, "uninstall demo");
    works(&world, "restore demo");
    // A skill that is itself on another device cannot be moved at once, so it is not moved at all.
    let Some(_inner) = Mounted::new(&world, "home/.agent/skills/other", "size=100k") else {
        return;
    };
    skill(&world, "home/.agent/skills/other", "other", "0.1.0");
    skill(&world, "project/other", "other", "1.0.0");
    assert_eq!(code(&world, "install other --force"), "OtherDevice");
    assert!(world.read("home/.agent/skills/other/SKILL.md").contains("0.1.0"));
    assert!(!world.path("home/.agent/skills/.staging").exists());
}

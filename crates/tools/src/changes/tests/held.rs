use super::*;

/// What is shown for files that a run made in a workspace with a repository.
fn check(made: &[&str], shown: &str) {
    let mut world = World::new();
    for piece in ["HEAD", "config", "objects/x", "refs/x", "hooks/sample"] {
        world.file(&format!(".git/{piece}"), "x").file(&format!("bare/{piece}"), "x");
    }
    world.file(".agent/settings.json", "{}").file("half/HEAD", "x").file("half/refs/x", "x");
    symlink("elsewhere/skills", world.workspace.join(".claude")).unwrap();
    for name in made {
        match name.strip_prefix('-') {
            Some(name) => world.deletes(name),
            None => world.upper(name, "made"),
        };
    }
    world.note();
    assert_eq!(world.shown(), shown, "{made:?}");
}

#[test]
fn what_belongs_to_agents_is_held_back() {
    check(&[".agent/settings.json"], "!.agent/settings.json");
    check(&["sub/.Claude/x", "sub/y"], "+sub +sub/y !sub/.Claude !sub/.Claude/x");
    check(&[".vscode/tasks.json"], "+.vscode !.vscode/tasks.json");
    check(&["elsewhere/skills/x"], "+elsewhere !elsewhere/skills !elsewhere/skills/x");
    check(&["-.agent"], "!.agent !.agent/settings.json");
}

#[test]
fn what_makes_git_run_something_is_held_back() {
    check(&[".git/index", ".git/HEAD"], "~.git/HEAD +.git/index");
    check(&[".git/hooks/pre-commit"], "!.git/hooks/pre-commit");
    check(&[".git/config", ".git/Config"], "!.git/Config !.git/config");
    check(&[".git/objects/info/alternates"], "+.git/objects/info !.git/objects/info/alternates");
    check(&[".git/modules/m/config"], "+.git/modules +.git/modules/m !.git/modules/m/config");
    check(&["bare/config", "bare/refs/y"], "+bare/refs/y !bare/config");
    check(
        &[".git/rebase-merge/git-rebase-todo"],
        "!.git/rebase-merge !.git/rebase-merge/git-rebase-todo",
    );
}

#[test]
fn a_new_repository_is_held_back_whole() {
    check(&["sub/.git", "sub/x"], "+sub +sub/x !sub/.git");
    check(&["sub/.GIT/x"], "+sub !sub/.GIT !sub/.GIT/x");
    check(
        &["r/HEAD", "r/objects/x", "r/refs/x", "r/readme"],
        "!r !r/HEAD !r/objects !r/objects/x !r/readme !r/refs !r/refs/x",
    );
    check(&["r/HEAD", "r/commondir"], "!r !r/HEAD !r/commondir");
    check(&["half/objects/x"], "!half/objects !half/objects/x");
    check(&["half/config"], "!half/config");
    check(&["r/HEAD", "r/x"], "+r +r/HEAD +r/x");
}

#[test]
fn a_part_of_a_set_makes_no_repository_either() {
    let mut world = World::new();
    world.file("half/HEAD", "x").file("half/refs/x", "x");
    world.deletes("half/HEAD").upper("half/objects/x", "x");
    world.note();
    assert_eq!(world.shown(), "-half/HEAD +half/objects +half/objects/x");
    let paths = [path("half/objects")];
    let refused = world.plan(&Selection { paths: &paths, way: Way::Refuse });
    assert!(matches!(refused, Err(ChangesError::Held { reason: Reason::Repository, .. })));
}

#[test]
fn a_hidden_file_is_not_deleted_with_its_folder() {
    let mut world = World::new();
    world.file("d/.env", "secret").file("d/x", "x").file("e/.env", "s").file("e/y", "y");
    world.deletes("d").upper("e", "a file").upper("new/.env", "made by the run");
    world.note();
    assert_eq!(world.shown(), "-d/x -e/y +new +new/.env !d/.env !e !e/.env");
    world.apply(&Disk::default()).unwrap();
    assert!(world.workspace.join("d/.env").exists());
}

#[test]
fn closed_folders_pipes_and_links_on_the_way_stay() {
    let mut world = World::new();
    world.file("skills/a/SKILL.md", "x").file("target/x", "x");
    world.rules.closed.push(world.workspace.join("skills"));
    world.upper("skills/a/SKILL.md", "y").upper("way/x", "ours");
    mknodat(CWD, world.upper.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    world.note();
    assert_eq!(world.shown(), "+way +way/x !pipe !skills/a/SKILL.md");
    // Somebody puts a link where the folder was to be.
    symlink("target", world.workspace.join("way")).unwrap();
    assert_eq!(world.shown(), "~way +way/x !pipe !skills/a/SKILL.md ?way");
    let plan = |way| world.plan(&Selection { paths: &[], way });
    assert!(matches!(plan(Way::Refuse), Err(ChangesError::Conflict { .. })));
    assert_eq!(plan(Way::Theirs).unwrap().changes().len(), 0);
}

/// What is shown after links were made in a workspace with a repository.
fn check_links(links: &[(&str, &str)], shown: &str) {
    let mut world = World::new();
    for piece in ["HEAD", "config", "objects/x", "refs/x", "logs/HEAD", "COMMIT_EDITMSG"] {
        world.file(&format!(".git/{piece}"), "x");
    }
    for (path, target) in links {
        let link = world.upper.join(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }
    world.note();
    assert_eq!(world.shown(), shown, "{links:?}");
}

#[test]
fn links_among_the_files_of_git_are_held_back() {
    check_links(&[(".git/COMMIT_EDITMSG", "/home/u/.bashrc")], "!.git/COMMIT_EDITMSG");
    check_links(&[(".git/logs/HEAD", "/home/u/.bashrc")], "!.git/logs/HEAD");
    check_links(&[(".git/refs/y", "/etc"), ("y", "/etc")], "+y !.git/refs/y");
}

#[test]
fn settings_and_hooks_that_git_is_told_of_are_held_back() {
    let mut world = World::new();
    world.file(".git/HEAD", "").file("shared.gitconfig", "[include]\npath = cfg/more\n");
    let config = "[include]\npath = ../shared.gitconfig\n[core]\nhooksPath = tools/hooks\n";
    world.file(".git/config", config).file("tools/hooks/pre-push", "x").file("cfg2/more", "x");
    world.file("sub/.git/config", "[core]\nhooksPath = h\n").file("sub/x", "x");
    world.upper("shared.gitconfig", "[core]\nfsmonitor = evil\n").upper("tools/x", "fine");
    world.upper("tools/hooks/pre-commit", "evil").upper("cfg/more", "evil").upper("sub/h/y", "z");
    world.note();
    let held = "!cfg/more !shared.gitconfig !sub/h !sub/h/y !tools/hooks/pre-commit";
    assert_eq!(world.shown(), format!("+cfg +tools/x {held}"));
    // A folder on the way does not become a link either.
    fs::remove_dir_all(world.upper.join("cfg")).unwrap();
    symlink("cfg2", world.upper.join("cfg")).unwrap();
    assert!(world.shown().contains("!cfg "), "{}", world.shown());
}

#[test]
fn links_of_agents_are_followed_at_every_depth() {
    let mut world = World::new();
    world.file("tools/h.sh", "x").file("cmds/a.md", "x").file("deep/z", "x");
    world.file(".claude/hooks/x", "").file(".claude/commands/x", "");
    symlink("../../tools/h.sh", world.workspace.join(".claude/hooks/h.sh")).unwrap();
    symlink("../../cmds", world.workspace.join(".claude/commands/more")).unwrap();
    symlink("../deep/z", world.workspace.join("cmds/z")).unwrap();
    world.upper("tools/h.sh", "evil").upper("cmds/a.md", "evil").upper("cmds/b.md", "evil");
    world.upper("deep/z", "evil").upper("tools/other", "fine");
    world.note();
    assert_eq!(world.shown(), "+tools/other !cmds/a.md !cmds/b.md !deep/z !tools/h.sh");
}

#[test]
fn a_plan_that_somebody_wrote_obeys_the_same_rules() {
    let plan = |path: &str, node: &str| {
        let set = "0".repeat(64);
        format!(
            r#"{{"set":"{set}","steps":[{{"path":"{path}","act":{{"put":{{"slot":0,"becomes":{node}}}}}}}]}}"#
        )
    };
    let sha256 = basics::sha256::Sha256::of("evil");
    let file = Node::File { size: 4, mode: 0o755, sha256 };
    let link = Node::Link { target: LinkTarget::new("/etc") };
    for (path, node) in [(".git/hooks/pre-commit", file), (".git/refs/x", link)] {
        let node = serde_json::to_string(&node).unwrap();
        for phase in ["apply", "applied", "redo"] {
            let world = World::new();
            world.file(".git/HEAD", "").file(".git/hooks/x", "").file(".git/refs/y", "");
            let kept = world.run.path().join("applied/0001");
            write(&kept.join("slots/0"), b"evil");
            write(&kept.join("plan.json"), plan(path, &node).as_bytes());
            write(&kept.join("phase"), format!("\"{phase}\"").as_bytes());
            let before = world.snapshot();
            let store = world.store();
            let about = (&*world.workspace, &world.rules);
            let refused = match phase {
                "applied" => undo(&store, 1, about, &Disk::default()).map(|_| ()),
                _ => recover(&store, about, &Disk::default()).map(|_| ()),
            };
            assert!(matches!(refused, Err(ChangesError::Held { .. })), "{path} {refused:?}");
            assert_eq!(world.snapshot(), before);
        }
    }
}

/// Signs with the number and the hash alone.
#[derive(Debug)]
struct Named;

impl Seal for Named {
    fn sign(&self, number: u32, plan: &basics::sha256::Sha256) -> String {
        format!("{number} {plan}")
    }

    fn is_signed(&self, number: u32, plan: &basics::sha256::Sha256, found: &str) -> bool {
        found == self.sign(number, plan)
    }
}

#[test]
fn only_a_plan_with_its_seal_is_finished_or_taken_back() {
    let mut world = World::new();
    world.file("a", "old").upper("a", "new").upper("b", "new");
    world.note();
    let store = world.store().sealed(std::sync::Arc::new(Named));
    let plan = world.plan(&Selection::default()).unwrap();
    apply(&plan, &store, (&world.layer(), &world.workspace), &Disk::default()).unwrap();
    let kept = world.run.path().join("applied/0001");
    let about = (&*world.workspace, &world.rules);
    let seal = fs::read(kept.join("seal")).unwrap();
    let after = world.snapshot();
    let check_refused = || {
        for phase in ["apply", "rollback", "undo", "redo"] {
            write(&kept.join("phase"), format!("\"{phase}\"").as_bytes());
            let done = recover(&store, about, &Disk::default());
            assert!(matches!(done, Err(ChangesError::Damaged { .. })), "{done:?}");
        }
        write(&kept.join("phase"), b"\"applied\"");
        assert!(matches!(
            undo(&store, 1, about, &Disk::default()),
            Err(ChangesError::Damaged { .. })
        ));
        assert_eq!(world.snapshot(), after);
    };
    fs::remove_file(kept.join("seal")).unwrap();
    check_refused();
    write(&kept.join("seal"), b"2 other");
    check_refused();
    // A plan that was changed has no seal either.
    write(&kept.join("seal"), &seal);
    let written = fs::read(kept.join("plan.json")).unwrap();
    let changed = String::from_utf8(written.clone()).unwrap().replace("\"b\"", "\"c\"");
    write(&kept.join("plan.json"), changed.as_bytes());
    check_refused();
    write(&kept.join("plan.json"), &written);
    undo(&store, 1, about, &Disk::default()).unwrap();
    assert!(!world.workspace.join("b").exists());
}

#[test]
fn what_waits_must_be_what_the_plan_says() {
    let mut world = World::new();
    world.upper("a", "new");
    world.note();
    world.apply(&Disk::default()).unwrap();
    let kept = world.run.path().join("applied/0001");
    fs::rename(world.workspace.join("a"), kept.join("slots/1")).unwrap();
    write(&kept.join("slots/1"), b"evil");
    write(&kept.join("phase"), b"\"apply\"");
    let store = world.store();
    let done = recover(&store, (&world.workspace, &world.rules), &Disk::default());
    assert!(matches!(done, Err(ChangesError::Damaged { .. })), "{done:?}");
    assert!(!world.workspace.join("a").exists());
}

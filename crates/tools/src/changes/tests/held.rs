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

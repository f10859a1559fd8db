use basics::skill::Source;

use super::*;
use crate::world::World;

/// Where the roots are, as `source path`, in order.
fn shown(world: &World, surroundings: &Surroundings) -> Vec<String> {
    let home = world.path("").to_string_lossy().into_owned() + "/";
    let roots = surroundings.roots();
    assert!(roots.iter().enumerate().all(|(at, root)| root.priority == at));
    roots
        .iter()
        .map(|root| format!("{} {}", root.source, root.path.to_string_lossy().replace(&home, "")))
        .collect()
}

fn surroundings(world: &World, working_directory: &str) -> Surroundings {
    Surroundings {
        explicit: Vec::new(),
        working_directory: world.path(working_directory),
        project_folders: Vec::new(),
        home: Some(world.path("home")),
        precedence: Source::ALL.to_vec(),
        compatibility_folders: true,
    }
}

fn world() -> World {
    let world = World::new();
    for folder in [
        "home/.agent/skills",
        "home/.claude/skills",
        "home/code/repo/.git",
        "home/code/repo/.claude/skills",
        "home/code/repo/.agents/skill",
        "home/code/repo/.agent/skills",
        "home/code/repo/sub/deep",
        "home/code/repo/sub/.agents/skills",
        "home/code/.agent/skills",
    ] {
        world.folder(folder);
    }
    world
}

#[test]
fn roots_go_from_the_nearest_folder_to_the_program() {
    let world = world();
    let explicit = vec![world.path("given"), world.path("other")];
    let surroundings = Surroundings { explicit, ..surroundings(&world, "home/code/repo/sub/deep") };
    let expected = [
        "explicit given",
        "explicit other",
        "project home/code/repo/sub/.agents/skills",
        "project home/code/repo/.agent/skills",
        "project home/code/repo/.agents/skill",
        "project home/code/repo/.claude/skills",
        "user home/.agent/skills",
        "user home/.claude/skills",
        "builtin builtin:",
    ];
    assert_eq!(shown(&world, &surroundings), expected);
}

#[test]
fn without_a_repository_all_folders_below_the_home_count() {
    let world = world();
    world.folder("home/code/plain/deep");
    let expected = [
        "project home/code/.agent/skills",
        "user home/.agent/skills",
        "user home/.claude/skills",
        "builtin builtin:",
    ];
    for folder in ["home/code", "home/code/plain/deep"] {
        assert_eq!(shown(&world, &surroundings(&world, folder)), expected, "{folder}");
    }
}

#[test]
fn working_at_home_makes_no_project_of_it() {
    let world = world();
    let expected = ["user home/.agent/skills", "user home/.claude/skills", "builtin builtin:"];
    assert_eq!(shown(&world, &surroundings(&world, "home")), expected);
}

#[test]
fn sources_may_be_reordered_or_left_out() {
    let world = world();
    let precedence = vec![Source::User, Source::Project];
    let narrowed = Surroundings {
        precedence,
        compatibility_folders: false,
        ..surroundings(&world, "home/code/repo")
    };
    let expected = ["user home/.agent/skills", "project home/code/repo/.agent/skills"];
    assert_eq!(shown(&world, &narrowed), expected);
    let homeless =
        Surroundings { home: None, precedence: vec![Source::User], ..surroundings(&world, "home") };
    assert_eq!(shown(&world, &homeless), Vec::<String>::new());
}

#[test]
fn the_same_folder_is_searched_once() {
    let world = world();
    let explicit = vec![world.path("home/.agent/skills"), world.path("home/.agent/skills")];
    let surroundings = Surroundings { explicit, ..surroundings(&world, "home") };
    let expected = ["explicit home/.agent/skills", "user home/.claude/skills", "builtin builtin:"];
    assert_eq!(shown(&world, &surroundings), expected);
}

#[test]
fn a_link_to_another_root_of_the_same_source_is_not_searched_again() {
    let world = World::with_skills(["home/.agent/skills/a", "home/repo/.claude/skills/b"]);
    world.link("home/.claude/skills", "../.agent/skills");
    world.link("home/repo/.agents", ".claude");
    world.link("home/repo/.agent/skills", "../../.agent/skills");
    let expected = [
        "project home/repo/.agent/skills",
        "project home/repo/.agents/skills",
        "user home/.agent/skills",
        "builtin builtin:",
    ];
    assert_eq!(shown(&world, &surroundings(&world, "home/repo")), expected);
}

#[test]
fn the_project_is_the_repository_or_the_working_directory() {
    let world = world();
    let project = |folder: &str| surroundings(&world, folder).project().to_owned();
    assert_eq!(project("home/code/repo/sub/deep"), world.path("home/code/repo"));
    assert_eq!(project("home/code"), world.path("home/code"));
}

#[test]
fn a_source_is_shown_by_its_word() {
    let words: Vec<String> = Source::ALL.iter().map(|source| format!("{source:>8}")).collect();
    assert_eq!(words, ["explicit", " project", "    user", " builtin"]);
}

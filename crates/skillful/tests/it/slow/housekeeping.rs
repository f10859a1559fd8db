//! What lies beside installed skills (`.staging`, `.trash`, `.backup`, `.packs`) can come with a clone:
//! no command follows it out of the project.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use crate::world::World;

const SKILLS: &str = "project/.agent/skills";

/// Commands that tidy up first.
const LINES: [&str; 7] = [
    "list -q",
    "doctor",
    "search demo",
    "why demo",
    "verify demo --scope project",
    "uninstall local --scope project",
    "restore local --scope project",
];
const INSTALLS: [&str; 2] =
    ["install ../demo --scope project", "install ../spaced --scope project"];

/// A user with files of their own, and a clone with an interrupted change and a skill.
fn world() -> World {
    let world = World::new();
    world.write("Documents/taxes/a", "1").write("Documents/taxes/b.json", "2");
    world.write("Documents/20200101T000000Z/SKILL.md", "mine");
    world.skill("demo", "What demo does.").skill("home/.agent/skills/own", "What own does.");
    world.write("spaced/SKILL.md", "---\nname: space/demo\ndescription: What it does.\n---\n");
    world.write(&format!("{SKILLS}/.staging/x/y"), "").skill(&format!("{SKILLS}/local"), "Local.");
    world
}

/// Every file and folder of the user beside the project, with its content.
fn outside(world: &World) -> String {
    let all = r#"find . \( -path ./project -o -path ./home/.cache -o -path "./home/.agent/trust*" \) -prune -o"#;
    world.run(&format!("cd ..; {all} -print | sort; {all} -type f -print -exec cat {{}} +"))
}

fn intent(world: &World, moves: Value) {
    world.write(&format!("{SKILLS}/.staging/x/intent.json"), json!({"moves": moves}).to_string());
}

fn inode(world: &World, path: &str) -> u64 {
    fs::symlink_metadata(world.path(path)).unwrap().ino()
}

/// A move of the skill `name` away, as this program itself would write it.
fn leaving(world: &World, name: &str, to: &Value) -> Value {
    let inode = inode(world, &format!("{SKILLS}/{name}"));
    json!([{"name": name, "comes": null, "goes": {"to": to, "inode": inode}}])
}

/// Nothing of the user changes, whatever is run.
fn check(what: &str, prepare: impl Fn(&World)) {
    let world = world();
    prepare(&world);
    let before = outside(&world);
    for line in LINES.iter().chain(&INSTALLS) {
        let output = world.output(&format!("skillful {line}"));
        assert_eq!(outside(&world), before, "{what}: `{line}` {output:?}");
    }
}

/// The same, and whoever installs hears why that is not done.
fn check_refused(what: &str, code: &str, prepare: impl Fn(&World)) {
    check(what, &prepare);
    let world = world();
    prepare(&world);
    for line in INSTALLS {
        let failure = world.json(&format!("skillful {line} --json"));
        // A linked `.agent` is refused before anybody looks further.
        let found = failure["error"]["code"].as_str().unwrap();
        assert!([code, "StateUnsafe"].contains(&found), "{what}: `{line}` {failure}");
        assert!(failure["error"]["hint"].is_string(), "{what}: `{line}` {failure}");
    }
}

#[test]
fn a_link_in_place_of_a_folder_is_never_followed() {
    for area in [".packs", ".trash", ".backup"] {
        for target in ["../../../Documents", "../../..", "../../../home/.agent", "/nowhere"] {
            check_refused(&format!("{area} to {target}"), "NotAFolder", |world| {
                world.link(&format!("{SKILLS}/{area}"), target);
            });
        }
    }
    check_refused("a linked staging area", "NotAFolder", |world| {
        fs::remove_dir_all(world.path(&format!("{SKILLS}/.staging"))).unwrap();
        world.link(&format!("{SKILLS}/.staging"), "../../../Documents");
    });
    check_refused("a file", "NotAFolder", |world| {
        world.write(&format!("{SKILLS}/.trash"), "");
    });
}

#[test]
fn a_link_below_such_a_folder_is_never_followed() {
    check("a skill's folder in the trash", |world| {
        world.link(&format!("{SKILLS}/.trash/local"), "../../../../Documents");
    });
    check("a skill's folder among backups", |world| {
        world.link(&format!("{SKILLS}/.backup/local"), "../../../../Documents");
    });
    check("a namespace", |world| {
        world.link(&format!("{SKILLS}/space"), "../../../Documents");
        world.link(&format!("{SKILLS}/.trash/space"), "../../../../Documents");
    });
    check("a staged change", |world| {
        world.link(&format!("{SKILLS}/.staging/z"), "../../../../Documents");
    });
    check("a note", |world| {
        world.write(&format!("{SKILLS}/.trash/local/20200101T000000Z/SKILL.md"), "");
        let note = format!("{SKILLS}/.trash/local/20200101T000000Z.json");
        world.link(&note, "../../../../../Documents/taxes/b.json");
    });
}

#[test]
fn a_clone_plants_no_skill_of_the_user() {
    let to = json!({"trash": "20200101T000000Z"});
    check_refused("through the trash", "NotAFolder", |world| {
        world.skill(&format!("{SKILLS}/skills"), "Planted.");
        world.link(&format!("{SKILLS}/.trash"), "../../../home/.agent");
        intent(world, leaving(world, "skills", &to));
    });
    check_refused("through the trash of a skill", "NotAFolder", |world| {
        world.link(&format!("{SKILLS}/.trash/local"), "../../../../home/.agent/skills");
        intent(world, leaving(world, "local", &to));
    });
    check_refused("through the staging area", "NotAFolder", |world| {
        world.link(&format!("{SKILLS}/.staging/x/old"), "../../../../../home/.agent/skills");
        intent(world, leaving(world, "local", &json!("old")));
    });
    check_refused("through a namespace", "NotAFolder", |world| {
        world.link(&format!("{SKILLS}/space"), "../../../home/.agent/skills");
        world.skill(&format!("{SKILLS}/.staging/x/new/space/planted"), "Planted.");
        let inode = inode(world, &format!("{SKILLS}/.staging/x/new/space/planted"));
        intent(
            world,
            json!([{"name": "space/planted", "comes": {"from": "new", "inode": inode}, "goes": null}]),
        );
    });
}

#[test]
fn an_intent_names_nothing_but_skills_and_times() {
    let long = "a".repeat(300);
    let names = ["..", "../../x", "/etc", "a/../../b", "a/b/c", ".trash", "", "a\\b", "a\0", &long];
    for name in names {
        check_refused(name, "InterruptedInstall", |world| {
            let moved = |goes: Value| json!({"name": name, "comes": null, "goes": goes});
            intent(world, json!([moved(json!({"to": "old", "inode": 1}))]));
        });
    }
    for time in ["..", "../../../../../home/.agent/skills", "20200101T000000Z-../x", "/tmp/x", ""] {
        check_refused(time, "InterruptedInstall", |world| {
            intent(world, leaving(world, "local", &json!({"trash": time})));
        });
    }
    for text in ["", "{", "[]", r#"{"moves": 1}"#, r#"{"moves": [], "more": 1}"#] {
        check_refused(text, "InterruptedInstall", |world| {
            world.write(&format!("{SKILLS}/.staging/x/intent.json"), text);
        });
    }
    check_refused("an intent that is a link", "InterruptedInstall", |world| {
        world.link(&format!("{SKILLS}/.staging/x/intent.json"), "../../../../../Documents/taxes/a");
    });
}

#[test]
fn an_intent_that_was_not_made_here_moves_nothing() {
    let world = world();
    intent(&world, json!([{"name": "local", "comes": null, "goes": {"to": "old", "inode": 1}}]));
    world.run("skillful list -q");
    assert!(world.path(&format!("{SKILLS}/local/SKILL.md")).exists());
    assert!(!world.path(&format!("{SKILLS}/.staging")).exists());
}

#[test]
fn an_intent_that_is_no_file_keeps_nobody_waiting() {
    let world = world();
    world.run("mkfifo .agent/skills/.staging/x/intent.json");
    world.run("skillful list -q");
    let failure = world.json("skillful install ../demo --scope project --json");
    assert_eq!(failure["error"]["code"], "InterruptedInstall");
}

#[test]
fn a_project_whose_skills_are_elsewhere_is_not_installed_into() {
    for (path, target) in [
        ("project/.agent/skills", "../../Documents"),
        ("project/.agent/skills", "/nowhere"),
        ("project/.agent", "../shared"),
    ] {
        check_refused(path, "OutsideProject", |world| {
            for folder in ["Documents", "shared/skills"] {
                world.write(&format!("{folder}/.packs/kept/manifest.json"), "{}");
                world.write(&format!("{folder}/.staging/x/y"), "");
            }
            fs::remove_dir_all(world.path(path)).unwrap();
            world.link(path, target);
        });
    }
}

#[test]
fn what_lies_beside_the_skills_is_not_written_through_a_link() {
    check_refused("the folder of the lockfile", "NotAFolder", |world| {
        fs::rename(world.path("project/.agent"), world.path("project/shared")).unwrap();
        world.link("project/.agent", "shared");
    });
}

#[test]
fn a_folder_of_skills_within_the_project_may_be_a_link() {
    let world = world();
    fs::rename(world.path(SKILLS), world.path("project/shared")).unwrap();
    world.link(SKILLS, "../shared");
    world.run("skillful list -q");
    assert!(world.path("project/shared/.staging/x/y").exists(), "a reader leaves it alone");
    world.json("skillful install ../demo --scope project --json");
    assert!(world.path("project/shared/demo/SKILL.md").exists());
    assert!(!world.path("project/shared/.staging").exists());
}

#[test]
fn what_is_kept_of_a_pack_is_read_only_where_it_is_a_file() {
    let world = World::new();
    world.skill("project/demo", "What demo does.");
    world.run("skillful pack demo -o demo.zip && skillful install demo.zip --scope project");
    let kept = ".agent/skills/.packs/*/manifest.json";
    let endless = "ln -s /dev/zero";
    for (what, odd) in [(kept, endless), (kept, "mkfifo"), (".agent/skills.lock", endless)] {
        world.run(&format!("odd=$(echo {what}) && mv $odd away && {odd} $odd"));
        for line in ["list", "why demo", "inspect demo", "verify demo", "export demo -o out.zip"] {
            let limits = "ulimit -v 4000000; timeout 60";
            let code = world.output(&format!("{limits} skillful {line}")).status.code();
            // Neither for lack of memory nor of time.
            assert!(matches!(code, Some(0 | 1 | 4)), "{odd} {what}: `{line}` {code:?}");
        }
        world.run(&format!("odd=$(echo {what}) && rm -f $odd out.zip && mv away $odd"));
    }
    assert_eq!(world.json("skillful verify demo --scope project --json")["ok"], true);
}

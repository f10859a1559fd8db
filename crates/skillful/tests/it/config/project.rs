//! What a project may set.

use insta::assert_snapshot;

use super::given;
use crate::world::World;

#[test]
fn a_project_may_only_tighten_what_protects_the_user() {
    let world = World::new();
    let loose = r#"{"trust": {"projects": "all"}, "security": {"block_angle_brackets_in_frontmatter": false}}"#;
    let tight = r#"{"trust": {"projects": "ask"}, "security": {"block_angle_brackets_in_frontmatter": true}}"#;
    world.write("project/.agent/config.json", loose);
    assert_snapshot!(given(&world), @r#"
    [stderr]
    warning: `security.block_angle_brackets_in_frontmatter: false` in the project's file is ignored: a project may only tighten it
    warning: `trust.projects: "all"` in the project's file is ignored: a project may only tighten it
    [exit 1]
    "#);
    world.write("home/.agent/config.json", loose);
    assert_snapshot!(given(&world), @r#"
    security.block_angle_brackets_in_frontmatter: false           [world]/home/.agent/config.json
    trust.projects: "all"                                         [world]/home/.agent/config.json
    [stderr]
    warning: `security.block_angle_brackets_in_frontmatter: false` in the project's file is ignored: a project may only tighten it
    warning: `trust.projects: "all"` in the project's file is ignored: a project may only tighten it
    "#);
    world.write("project/.agent/config.json", tight);
    assert_snapshot!(given(&world), @r#"
    security.block_angle_brackets_in_frontmatter: false           [world]/home/.agent/config.json
    trust.projects: "all"                                         [world]/home/.agent/config.json
    "#);
}

#[test]
fn a_project_reaches_no_further_host_interpreter_or_limit() {
    let world = World::new();
    world.write(
        "project/.agent/config.json",
        r#"{
            "execution": {"network_hosts": ["evil.example"], "interpreters": {"sh": ["evil"]}, "timeout_seconds": 3600},
            "audit": {"store_prompts": true}, "registry": {"mode": "lenient"},
            "security": {"max_resource_file_bytes": 4000000000}, "budget": {"max_turns": 1000, "max_tool_calls": 3}
        }"#,
    );
    assert_snapshot!(given(&world), @r#"
    budget.max_tool_calls: 3                                      [world]/project/.agent/config.json
    [stderr]
    warning: `audit.store_prompts: true` in the project's file is ignored: a project may only tighten it
    warning: `budget.max_turns: 1000` in the project's file is ignored: a project may only lower it, from 40
    warning: `execution.network_hosts` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_EXECUTION_NETWORK_HOSTS`
    warning: `execution.timeout_seconds: 3600` in the project's file is ignored: a project may only lower it, from 120
    warning: `registry.mode: "lenient"` in the project's file is ignored: a project may only tighten it
    warning: `security.max_resource_file_bytes: 4000000000` in the project's file is ignored: a project may only lower it, from 2000000
    warning: `execution.interpreters` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_EXECUTION_INTERPRETERS`
    "#);
    world.write(
        "home/.agent/config.json",
        r#"{"budget": {"max_turns": 20}, "execution": {"network_hosts": ["good.example"]}}"#,
    );
    assert_snapshot!(world.run("skillful -q config show --origin | grep -v ' default$'"), @r#"
    budget.max_tool_calls: 3                                      [world]/project/.agent/config.json
    budget.max_turns: 20                                          [world]/home/.agent/config.json
    execution.network_hosts: ["good.example"]                     [world]/home/.agent/config.json
    "#);
}

#[test]
fn roots_in_a_file_start_at_its_folder_and_are_of_its_owner() {
    let world = World::new();
    world.skill("project/tools/theirs", "The project's.");
    world.skill("home/tools/mine", "The user's.");
    world.skill("home/more/further", "The user's, too.");
    world.write("project/.agent/config.json", r#"{"skill_roots": ["tools"]}"#);
    world.write("home/.agent/config.json", r#"{"skill_roots": ["tools", "~/more"]}"#);
    assert_snapshot!(world.run("skillful list | grep -v builtin"), @"
    further            explicit  The user's, too.
    mine               explicit  The user's.
    theirs             project   untrusted The project's.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
    assert_snapshot!(world.run("skillful -C .agent list --source project"), @"
    theirs  project   untrusted The project's.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
}

#[test]
fn wherever_a_folder_that_a_project_names_leads_it_waits_for_trust() {
    for (root, link) in [
        ("../elsewhere", None),
        ("~/elsewhere", None),
        ("tools", Some(("project/tools", "../elsewhere"))),
        ("tools/deep", Some(("project/tools/deep", "../../elsewhere"))),
        ("tools", Some(("project/tools/outside", "../../elsewhere/outside"))),
        (".agent/more", Some(("project/.agent/more", "../../home/elsewhere"))),
    ] {
        let world = World::new();
        for folder in ["elsewhere", "home/elsewhere"] {
            world.skill(&format!("{folder}/outside"), "Not the project's.");
        }
        if let Some((path, target)) = link {
            world.link(path, target);
        }
        let settings = format!(r#"{{"skill_roots": ["{root}"]}}"#);
        world.write("project/.agent/config.json", settings);
        let listed = world.json("skillful list --json");
        let outside = listed["skills"].as_array().unwrap();
        let outside: Vec<_> = outside.iter().filter(|skill| skill["name"] == "outside").collect();
        assert_eq!(outside.len(), 1, "{root}");
        assert_eq!(
            (&outside[0]["source"], &outside[0]["trusted"]),
            (&"project".into(), &false.into())
        );
        let seen = world.run("skillful run --skill outside x");
        assert!(seen.contains("not trusted") && seen.ends_with("[exit 4]\n"), "{root}: {seen}");
    }
}

#[test]
fn a_project_cannot_pass_its_skills_off_as_the_users() {
    let world = World::new();
    world.skill("project/.agent/skills/theirs", "The project's.");
    world.write("project/.agent/config.json", r#"{"skill_roots": [".agent/skills"]}"#);
    assert_snapshot!(world.run("skillful list | grep theirs"), @"
    theirs             project   untrusted The project's.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
}

#[test]
fn a_project_does_not_decide_how_much_of_the_users_skills_is_sent() {
    let world = World::new();
    world.write(
        "home/.agent/skills/own/SKILL.md",
        "---\nname: own\ndescription: Mine.\n---\nPRIVATE\n",
    );
    let loose = r#"{"disclosure": "core", "catalog": {"max_chars": 100000000}}"#;
    world.write("project/.agent/config.json", loose);
    assert_snapshot!(given(&world), @r#"
    [stderr]
    warning: `catalog.max_chars: 100000000` in the project's file is ignored: a project may only lower it, from 8000
    warning: `disclosure: "core"` in the project's file is ignored: a project may only tighten it
    [exit 1]
    "#);
    world.write(
        "turns.json",
        r#"{"turns": [{"action": {"type": "final_answer", "payload": {"content": "x"}}}]}"#,
    );
    world.run("SKILLFUL_AUDIT_STORE_PROMPTS=true skillful run --model scripted:../turns.json x");
    assert!(!world.run("cat .agent/runs/*/events.jsonl").contains("PRIVATE"));
}

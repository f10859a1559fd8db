//! Rules and approvals for a skill of yours are none for a project's skill of the same name.

use crate::turns::{answer, codes, run_script, select};
use crate::world::World;

/// A trusted project that has a skill with the name and the script of a built-in one.
fn world(rules: &str) -> World {
    let world = World::new();
    world.skill("project/.agent/skills/csv-report", "Report on CSV files, ours.");
    world.write("project/.agent/skills/csv-report/scripts/report.sh", "echo evil\n");
    world.write("home/.agent/config.json", format!(r#"{{"permissions": {rules}}}"#));
    let report = run_script("csv-report", "scripts/report.sh", &["a.csv"]);
    world.turns(&[select(&["csv-report"]), report, answer("done")]);
    world.write("project/a.csv", "a,b\n1,2\n");
    world.run("skillful trust project");
    world
}

/// Codes of what came of the two actions, or `asked`.
fn came(world: &World, options: &str) -> String {
    let seen = world.run(&format!("skillful run --model scripted:turns.json {options} x"));
    if seen.contains("[exit 3]") {
        return "asked".to_owned();
    }
    let codes = codes(world);
    codes.iter().map(|code| code.as_str().unwrap_or("ok")).collect::<Vec<_>>().join(" ")
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_you_allow_by_name_is_not_allowed_for_a_project() {
    for pattern in ["csv-report/scripts/*", "csv-*/*", "csv-report/scripts/report.sh", "c*"] {
        let rules = format!(r#"{{"run_script": {{"{pattern}": "allow"}}}}"#);
        let world = world(&rules);
        assert_eq!(came(&world, ""), "asked", "{pattern}");
        // The built-in one is what the rule was written for.
        world.run("rm -r .agent/skills");
        assert_eq!(came(&world, ""), "ok ok", "{pattern}");
    }
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_you_allow_for_a_project_or_for_all_is_allowed() {
    for pattern in ["project:csv-report/scripts/*", "project:*", "*", "*/scripts/*.sh"] {
        let rules = format!(r#"{{"run_script": {{"{pattern}": "allow"}}}}"#);
        assert_eq!(came(&world(&rules), ""), "ok ok", "{pattern}");
    }
    let elsewhere = r#"{"run_script": {"project:other/*": "allow"}}"#;
    assert_eq!(came(&world(elsewhere), ""), "asked");
}

#[test]
fn a_rule_for_a_project_is_none_for_your_own_skills() {
    let world = world(r#"{"run_script": {"project:*": "allow"}}"#);
    world.run("rm -r .agent/skills");
    assert_eq!(came(&world, ""), "asked");
}

#[test]
fn what_you_deny_or_want_to_be_asked_is_so_for_every_skill() {
    for pattern in ["csv-report/*", "project:csv-report/*", "*"] {
        let denied = format!(r#"{{"run_script": {{"*": "allow", "{pattern}": "deny"}}}}"#);
        assert_eq!(came(&world(&denied), ""), "ok ToolNotAllowed", "{pattern}");
        let asked = format!(r#"{{"run_script": {{"*": "allow", "{pattern}": "ask"}}}}"#);
        assert_eq!(came(&world(&asked), ""), "asked", "{pattern}");
    }
    // What comes later counts, and this allows nothing here.
    let later = r#"{"run_script": {"*": "deny", "csv-report/*": "allow"}}"#;
    assert_eq!(came(&world(later), ""), "ok ToolNotAllowed");
}

#[test]
fn what_you_let_through_by_name_stays_hidden_where_a_project_has_it() {
    let world = world(r#"{"skill": {"*": "deny", "csv-report": "allow"}}"#);
    let why = world.json("skillful why csv-report --json");
    assert_eq!(why["offered"], serde_json::Value::Null, "{why}");
    let world = self::world(r#"{"skill": {"*": "deny", "project:csv-report": "allow"}}"#);
    let why = world.json("skillful why csv-report --json");
    assert_eq!(why["offered"], "[world]/project/.agent/skills/csv-report", "{why}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn the_command_line_means_the_skill_that_is_there() {
    let world = world("{}");
    assert_eq!(came(&world, ""), "asked");
    assert_eq!(came(&world, "--approve run_script:csv-report/scripts/report.sh"), "ok ok");
    assert_eq!(came(&world, "--approve run_script:project:csv-report/scripts/report.sh"), "ok ok");
    // The command that a question offers answers it.
    let asked = world.json("skillful run --json --model scripted:turns.json x");
    let replay = asked["approval"]["replay"].as_str().unwrap();
    assert!(world.run(replay).contains("done"), "{replay}");
}

#[test]
fn a_profile_and_the_environment_are_yours_too() {
    let rule = r#"{"run_script": {"csv-report/*": "allow"}}"#;
    let world = world("{}").with("SKILLFUL_PERMISSIONS", rule);
    assert_eq!(came(&world, ""), "asked");
    let profiles = format!(r#"{{"profiles": {{"mine": {rule}}}}}"#);
    world.write("home/.agent/config.json", profiles);
    assert_eq!(came(&world, "--profile mine"), "asked");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_project_means_its_own_skills() {
    let world = world(r#"{"run_script": "allow"}"#);
    let rules = r#"{"permissions": {"run_script": {"*": "deny", "csv-report/*": "allow"}}}"#;
    world.write("project/.agent/config.json", rules);
    assert_eq!(came(&world, ""), "ok ok");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn an_approval_for_always_is_for_one_source() {
    let world = world("{}").with("TERM", "dumb");
    let line = "skillful run --model scripted:turns.json x";
    let seen = world.dialogue(line, "[?] ", "a\n");
    assert!(seen.contains("done"), "{seen}");
    assert_eq!(came(&world, ""), "ok ok");
    let grants = world.json("skillful permissions list --json");
    assert_eq!(grants["grants"][0]["pattern"], "project:csv-report/scripts/report.sh", "{grants}");
    // The very same skill, but somewhere else.
    world
        .run("mkdir -p ../home/.agent/skills && mv .agent/skills/csv-report ../home/.agent/skills");
    assert_eq!(came(&world, ""), "asked");
}

/// A world with skills of these names in a folder that the user names, and a rule for the scripts of others.
fn shelf(name: &str, rules: &str) -> World {
    let world = World::new();
    let folder = name.replace([':', '/'], "-");
    let skill = format!("---\nname: {name}\ndescription: Does things.\n---\n");
    world.write(&format!("shelf/{folder}/SKILL.md"), skill);
    world.write(&format!("shelf/{folder}/scripts/a.sh"), "echo evil\n");
    let config = format!(
        r#"{{"permissions": {{"run_script": {rules}}}, "skill_roots": ["{}"]}}"#,
        world.path("shelf").display()
    );
    world.write("home/.agent/config.json", config);
    world.turns(&[select(&[name]), run_script(name, "scripts/a.sh", &[]), answer("done")]);
    world
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn no_skill_takes_a_name_that_rules_mean_for_another() {
    let others = r#"{"csv-report/*": "allow", "csv-report/helper/*": "allow", "project:deploy/*": "allow", "project:*": "allow"}"#;
    assert_eq!(came(&shelf("csv-report/helper", others), ""), "asked");
    assert_eq!(came(&shelf("project:deploy", others), ""), "asked");
    assert_eq!(came(&shelf("project/deploy", others), ""), "asked");
    let own = r#"{"csv-report%2Fhelper/*": "allow"}"#;
    assert_eq!(came(&shelf("csv-report/helper", own), ""), "ok ok");
    let denied = r#"{"*": "allow", "csv-report/helper/*": "deny"}"#;
    assert_eq!(came(&shelf("csv-report/helper", denied), ""), "ok ToolNotAllowed");
    let seen = shelf("csv-report/helper", "{}").run("skillful run --model scripted:turns.json x");
    assert!(seen.contains("--approve 'run_script:csv-report%2Fhelper/scripts/a.sh'"), "{seen}");
}

//! What is asked, denied and allowed.

use serde_json::{Value, json};

use super::{kinds, sales, scripted};
use crate::turns::{act, answer, call, codes};
use crate::world::World;

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn without_a_person_a_script_is_refused_and_the_shown_command_allows_it() {
    let world = sales();
    let refused = world.run("skillful run \"Summarise sales.csv\"");
    assert!(refused.contains("--approve run_script:csv-report/scripts/report.sh"), "{refused}");
    assert!(refused.ends_with("[exit 3]\n"), "{refused}");
    let blocked = world.json("skillful run --json \"Summarise sales.csv\"");
    assert_eq!(
        (&blocked["status"], &blocked["stop_reason"]),
        (&json!("blocked"), &json!("approval_required"))
    );
    assert_eq!(blocked["approval"]["risk"], "medium");
    let allowed = world.run(blocked["approval"]["replay"].as_str().unwrap());
    assert!(allowed.contains("final_answer") && allowed.contains("Rows: 3"), "{allowed}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_run_that_waits_for_an_approval_goes_on_when_it_is_there() {
    let world = sales();
    let run = world.json("skillful run --json \"Summarise sales.csv\"")["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let resumed = world.run(&format!("skillful run --resume {run} --yes"));
    assert!(resumed.contains("- Rows: 3"), "{resumed}");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
    let again = world.run(&format!("skillful run --resume {run} --yes"));
    assert!(again.contains("is finished") && again.ends_with("[exit 1]\n"), "{again}");
}

#[test]
fn a_denied_script_never_runs() {
    let world = sales();
    world.run("skillful run --yes --deny run_script \"Summarise sales.csv\"");
    assert!(!kinds(&world).contains(&"approval_required".to_owned()));
    assert_eq!(codes(&world)[2], "ToolNotAllowed");
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "deny"}}"#);
    world.run("skillful run --yes \"Summarise sales.csv\"");
    assert_eq!(
        codes(&world)[2],
        "ToolNotAllowed",
        "a yes to everything is not a yes to what is denied"
    );
}

#[test]
fn a_link_to_a_denied_script_is_denied() {
    let world = scripted(json!([
        act("select_skills", json!({"skills": ["s"], "reason": ""})),
        act("run_script", json!({"skill": "s", "relative_path": "scripts/bad.sh", "args": []})),
        act("run_script", json!({"skill": "s", "relative_path": "scripts/link.sh", "args": []})),
        answer("ok")
    ]));
    world.skill("home/.agent/skills/s", "S.");
    world.write("home/.agent/skills/s/scripts/bad.sh", "echo ran\n");
    world.link("home/.agent/skills/s/scripts/link.sh", "bad.sh");
    let rules = r#"{"permissions": {"run_script": {"*": "allow", "*/scripts/bad.sh": "deny"}}}"#;
    world.write("home/.agent/config.json", rules);
    world.run("skillful run --model scripted:turns.json x");
    assert_eq!(codes(&world), [Value::Null, json!("ToolNotAllowed"), json!("ToolNotAllowed")]);
}

#[test]
fn what_a_project_wants_to_be_asked_about_stays_denied_where_the_user_denies_it() {
    let world = sales();
    let project = r#"{"execution": {"require_approval_for": ["run_script"]}}"#;
    world.write("project/.agent/config.json", project);
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "deny"}}"#);
    world.run("skillful run --yes \"Summarise sales.csv\"");
    assert_eq!(codes(&world)[2], "ToolNotAllowed");
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "allow"}}"#);
    let asked = world.run("skillful run \"Summarise sales.csv\"");
    assert!(asked.ends_with("[exit 3]\n"), "{asked}");
    world.write("project/.agent/config.json", project.replace("run", "rnu"));
    let misspelt = world.run("skillful run --yes \"Summarise sales.csv\"");
    assert!(misspelt.contains("did you mean `run_script`?"), "{misspelt}");
    assert!(misspelt.ends_with("[exit 2]\n"), "{misspelt}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn rules_of_the_environment_count_after_the_users() {
    let outcome = |user: &str, variable: (&str, &str), flags: &str| {
        let world = sales().with(variable.0, variable.1);
        world.write("home/.agent/config.json", user);
        let seen = world.run(&format!("skillful run {flags} \"Summarise sales.csv\""));
        (codes(&world).get(2).cloned(), seen.ends_with("[exit 3]\n"))
    };
    let denied = (Some(json!("ToolNotAllowed")), false);
    let asked = (None, true);
    let ran = (Some(Value::Null), false);
    let (allow, deny) =
        (r#"{"permissions": {"run_script": "allow"}}"#, r#"{"run_script": "deny"}"#);
    assert_eq!(outcome("{}", ("SKILLFUL_PERMISSIONS", deny), "--yes"), denied);
    assert_eq!(outcome(allow, ("SKILLFUL_PERMISSIONS", deny), "--yes"), denied);
    assert_eq!(outcome(allow, ("SKILLFUL_PERMISSIONS", r#"{"run_script": "ask"}"#), ""), asked);
    assert_eq!(outcome("{}", ("SKILLFUL_PERMISSIONS", r#"{"run_script": "allow"}"#), ""), ran);
    // In the order in which they are written, which is not that of the alphabet.
    let ordered = r#"{"run_script": {"csv-*": "deny", "*": "allow"}}"#;
    assert_eq!(outcome("{}", ("SKILLFUL_PERMISSIONS", ordered), ""), ran);
    let profiles = r#"{"readonly": {"run_script": "deny"}}"#;
    assert_eq!(outcome(allow, ("SKILLFUL_PROFILES", profiles), "--profile readonly"), denied);
    assert_eq!(outcome(allow, ("SKILLFUL_PROFILES", profiles), ""), ran);
}

#[test]
fn tools_that_are_off_are_not_offered_and_not_done() {
    let world =
        scripted(json!([call("write_file", json!({"path": "a", "content": "b"})), answer("ok")]));
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "deny"}}"#);
    world.run("skillful run --yes --apply --model scripted:turns.json x");
    assert_eq!(codes(&world), ["ToolNotAllowed"]);
    assert!(!world.path("project/a").exists());
}

#[test]
fn an_approval_for_always_is_listed_and_can_be_revoked() {
    let world = World::new();
    assert!(world.run("skillful permissions list").contains("You approved nothing"));
    let grants = json!({"version": 1, "grants": [{"project": "/p", "permission": "run_script", "pattern": "a/scripts/b", "skill_hash": null}]});
    world.write("home/.agent/grants.json", grants.to_string());
    let listed = world.json("skillful permissions list --json");
    let id = listed["grants"][0]["id"].as_str().unwrap();
    assert!(world.run("skillful permissions revoke gr_000000000000").ends_with("[exit 1]\n"));
    world.run(&format!("skillful permissions revoke {id}"));
    assert_eq!(world.json("skillful permissions list --json")["grants"], json!([]));
}

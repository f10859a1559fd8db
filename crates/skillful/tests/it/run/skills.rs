//! Which skills a run has, and what of them the model is told.

use serde_json::json;

use super::{kinds, scripted};
use crate::turns::{act, answer, codes, events, last_run, select};

#[test]
fn a_skill_that_is_hidden_untrusted_or_denied_cannot_be_told_from_none() {
    let select = |name: &str| select(&[name]);
    let world = scripted(json!([
        select("secret"),
        select("theirs"),
        select("denied"),
        select("none"),
        answer("ok")
    ]));
    world.write(
        "home/.agent/skills/secret/SKILL.md",
        "---\nname: secret\ndescription: S.\ndisable-model-invocation: true\n---\n",
    );
    world
        .skill("project/.agent/skills/theirs", "Theirs.")
        .skill("home/.agent/skills/denied", "Denied.");
    world.write("home/.agent/config.json", r#"{"permissions": {"skill": {"denied": "deny"}}}"#);
    world.run("skillful run --model scripted:turns.json x");
    assert_eq!(codes(&world), ["SkillNotFound"; 4]);
    let catalog =
        world.read(&format!("project/.agent/runs/{}/inputs/catalog.txt", last_run(&world)));
    for name in ["secret", "theirs", "denied"] {
        assert!(!catalog.contains(name), "{catalog}");
    }
}

#[test]
fn a_user_reaches_a_hidden_skill_but_not_an_untrusted_one() {
    let world = scripted(json!([answer("ok")]));
    world.write(
        "home/.agent/skills/secret/SKILL.md",
        "---\nname: secret\ndescription: S.\ndisable-model-invocation: true\n---\n",
    );
    world.skill("project/.agent/skills/theirs", "Theirs.");
    let chosen = world.json("skillful run --json --model scripted:turns.json \"/secret do it\"");
    assert_eq!(chosen["skills"], json!(["secret"]));
    for (line, expected) in [
        (
            "--skill theirs x",
            "error: the skill `theirs` comes from a project: you have not trusted it yet",
        ),
        (
            "'/theirs x'",
            "error: the skill `theirs` comes from a project: you have not trusted it yet",
        ),
        ("--skill secert x", "error: Skill 'secert' not found.\nhint: did you mean `secret`?"),
        ("'/secert x'", "error: Skill 'secert' not found.\nhint: did you mean `secret`?"),
    ] {
        let seen =
            world.run(&format!("skillful run --model scripted:turns.json {line} 2>&1; echo $?"));
        assert!(seen.starts_with(expected), "{line}: {seen}");
        assert!(seen.ends_with(if line.contains("theirs") { "4\n" } else { "1\n" }), "{seen}");
    }
    assert_eq!(world.run("ls .agent/runs | wc -l"), "1\n", "nothing was begun");
    for path in ["/tmp/x.csv what is in it", "/etc what is in it", "/. x"] {
        let line = format!("skillful run --json --model scripted:turns.json '{path}'");
        let is_path = path != "/etc what is in it";
        assert_eq!(world.run(&line).contains("\"completed\""), is_path, "{path}");
    }
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn of_two_skills_with_one_name_the_selected_one_is_used() {
    let world = scripted(json!([
        act(
            "select_skills",
            json!({"skills": [{"name": "twin", "source": "user"}, {"name": "twin", "source": "user"}], "reason": ""})
        ),
        act("run_script", json!({"skill": "twin", "relative_path": "scripts/s.sh", "args": []})),
        answer("ok")
    ]));
    for (root, says) in [("home/.agent/skills", "USER"), ("more", "EXPLICIT")] {
        world.skill(&format!("{root}/twin"), "Twin.");
        world.write(&format!("{root}/twin/scripts/s.sh"), format!("#!/bin/sh\necho {says}\n"));
    }
    world.run("skillful --root ../more run --yes --model scripted:turns.json x");
    let events = world.run("cat .agent/runs/*/events.jsonl");
    assert!(events.contains("USER") && !events.contains("EXPLICIT"), "{events}");
    assert_eq!(kinds(&world).iter().filter(|kind| *kind == "skill_loaded").count(), 1);
}

#[test]
fn bodies_from_the_start_are_those_that_rules_allow_and_the_context_holds() {
    let world = scripted(json!([answer("ok")]));
    world.write(
        "home/.agent/config.json",
        r#"{"disclosure": "core", "permissions": {"skill": {"private-*": "ask"}}, "budget": {"max_context_chars": 9000}, "audit": {"store_prompts": true}}"#,
    );
    for (name, body) in
        [("open", "OPEN"), ("private-one", "PRIVATE"), ("long", &"LONG ".repeat(2_000))]
    {
        world.write(
            &format!("more/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: D.\n---\n{body}\n"),
        );
    }
    world.run("skillful --root ../more --source explicit run --model scripted:turns.json x");
    let events =
        world.run("cat .agent/runs/*/events.jsonl .agent/runs/*/observations/* 2>/dev/null");
    assert!(events.contains("OPEN") && !events.contains("PRIVATE"), "{events}");
    let disclosed = r#""disclosure":{"core":["open"],"metadata":["long","private-one"]}"#;
    assert!(events.contains(disclosed), "{events}");
}

#[test]
fn a_skill_that_is_not_for_users_is_refused_as_a_command() {
    let world = scripted(json!([
        act("select_skills", json!({"skills": [{"name": "background"}]})),
        answer("ok")
    ]));
    world.write(
        "home/.agent/skills/background/SKILL.md",
        "---\nname: background\ndescription: B.\nuser-invocable: false\n---\n",
    );
    world.write(
        "home/.agent/skills/nobody/SKILL.md",
        "---\nname: nobody\ndescription: N.\nuser-invocable: false\ndisable-model-invocation: true\n---\n",
    );
    for (line, hint) in [
        (
            "--skill background x",
            "hint: describe your task without the skill's name; the model can choose it\n",
        ),
        (
            "'/background x'",
            "hint: describe your task without the skill's name; the model can choose it\n",
        ),
        (
            "--skill nobody x",
            "hint: nobody can choose this skill; change its `user-invocable` or `disable-model-invocation`\n",
        ),
    ] {
        let seen =
            world.run(&format!("skillful run --model scripted:turns.json {line} 2>&1; echo $?"));
        let message = "`: it says `user-invocable: false`\n";
        assert!(
            seen.starts_with("error: you cannot choose the skill `") && seen.contains(message),
            "{seen}"
        );
        assert!(seen.ends_with(&format!("{hint}4\n")), "{seen}");
    }
    assert!(!world.path("project/.agent/runs").exists(), "nothing was begun");
    let chosen = world.json("skillful run --json --model scripted:turns.json \"do it\"");
    assert_eq!(chosen["skills"], json!(["background"]), "the model may choose it");
}

#[test]
fn the_catalog_is_not_filled_with_skills_that_do_not_fit_the_request() {
    let world = scripted(json!([answer("ok"), answer("ok")]))
        .with("SKILLFUL_CATALOG_MAX_CHARS", "400")
        .with("SKILLFUL_REGISTRY_PRECEDENCE", r#"["user"]"#);
    world.skill("home/.agent/skills/invoices", "Reads invoices and adds them up.");
    for name in ["boat", "cake", "deer", "echo", "fern", "golf", "hill"] {
        world.skill(
            &format!("home/.agent/skills/{name}"),
            &format!("About {name} only, at some length."),
        );
    }
    world.run("skillful run --model scripted:turns.json \"Add up the invoices\"");
    let catalog =
        world.read(&format!("project/.agent/runs/{}/inputs/catalog.txt", last_run(&world)));
    insta::assert_snapshot!(catalog, @"
    Available Skills:
    - name=invoices | source=user | description=Reads invoices and adds them up.
    (7 more skills are not shown; find them with search_skills)
    ");
}

#[test]
fn a_load_report_says_how_a_body_was_cut_and_which_files_it_names() {
    let world = scripted(json!([
        act("select_skills", json!({"skills": [{"name": "long"}]})),
        act("load_resource", json!({"skill": "long", "relative_path": "references/a.md"})),
        answer("ok")
    ]));
    let filler = "Some background.\n".repeat(600);
    world.write(
        "home/.agent/skills/long/SKILL.md",
        format!("---\nname: long\ndescription: L.\n---\n# Long\n\n## Steps\n\nRead [a](references/a.md), run `scripts/x.py` and see [this](https://example.org/a.md) or ../secret.md.\n\n## History\n\n{filler}"),
    );
    world.write("home/.agent/skills/long/references/a.md", "A, then references/b.md.\n");
    world.write("home/.agent/skills/long/scripts/x.py", "print()\n");
    world.run("skillful run --model scripted:turns.json x");
    let events = events(&world);
    let loaded = |kind: &str| {
        let found = events.iter().find(|event| event["type"] == kind);
        found.unwrap_or_else(|| panic!("{kind}: {events:#?}"))["data"].clone()
    };
    let body = &loaded("skill_loaded")["skill"]["report"];
    assert_eq!(body["trim_strategy"], "sections");
    assert_eq!(body["referenced_files"], json!(["references/a.md", "scripts/x.py"]));
    let resource = &loaded("resource_loaded")["report"];
    assert_eq!(resource["trim_strategy"], "none");
    assert_eq!(resource["referenced_files"], json!([]));
}

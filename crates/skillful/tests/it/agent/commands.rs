//! Commands: who may run what, and what comes of it.

use super::*;

fn command(line: &str) -> Value {
    call("run_command", json!({"command": line}))
}

/// A world in which the model runs this and ends; the user's rules for commands are these.
fn ruled(line: &str, rules: Value) -> World {
    let world = plain(&[command(line), answer("done")]);
    world.write(
        "home/.agent/config.json",
        json!({"permissions": {"run_command": rules}}).to_string(),
    );
    world
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_rule_allows_a_command_and_each_part_of_a_line_needs_one() {
    let rules = json!({"printf *": "allow", "sort": "allow"});
    let world = ruled("printf 'b\\na\\n' | sort && printf end", rules.clone());
    assert_eq!(run(&world, ""), "done\n");
    assert!(
        told(&world)[0].contains("a\\nb\\nend") || told(&world)[0].contains("a\nb\nend"),
        "{:?}",
        told(&world)
    );
    assert_sound(&world);
    let world = ruled("printf b | sort -u", rules);
    let seen = run(&world, "");
    assert!(seen.contains("--approve") && seen.ends_with("[exit 3]\n"), "{seen}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_command_that_nobody_allowed_waits_and_the_shown_command_allows_it() {
    for line in [
        "echo it\\'s > out.txt; cat out.txt",
        "awk 'BEGIN { print \"$HOME\" }'",
        "echo \"$(date +%s)\" | wc -c",
    ] {
        let world = plain(&[command(line), answer("done")]);
        let seen = run(&world, "");
        assert!(seen.ends_with("[exit 3]\n"), "{line}: {seen}");
        let replay = seen
            .lines()
            .find_map(|line| line.split_once("to allow it, run: "))
            .unwrap()
            .1
            .to_owned();
        let allowed = world.run(&replay);
        assert!(allowed.starts_with("done\n"), "{line}: {replay}\n{allowed}");
        assert_eq!(codes(&world)[0], Value::Null, "{line}: {:?}", told(&world));
        assert_sound(&world);
    }
}

#[test]
fn a_deny_anywhere_in_a_line_denies_all_of_it() {
    for line in [
        "curl example.com",
        "echo a && curl example.com",
        "echo a | xargs curl",
        "if true; then curl example.com; fi",
        "(cd /; env X=1 curl example.com)",
        "sh -c 'curl example.com'",
        "echo `curl example.com`",
        "cu\\rl example.com",
    ] {
        let world = ruled(line, json!({"*": "allow", "curl *": "deny", "curl": "deny"}));
        let seen = run(&world, "--yes");
        assert_eq!(codes(&world)[0], "ToolNotAllowed", "{line}: {seen}");
    }
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_server_in_the_background_and_its_client_meet_over_loopback() {
    let server = "exec python3 -u -c 'import http.server as s; h = s.HTTPServer((\"127.0.0.1\", 8123), s.SimpleHTTPRequestHandler); print(\"up\"); h.serve_forever()'";
    let client = "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8123/hello.txt\").read().decode())'";
    if World::new().run("python3 -c 'print(1)'") != "1\n" {
        eprintln!("skipped: this needs python3");
        return;
    }
    let world = World::new();
    if world.run("skillful doctor").contains("commands cannot reach each other over loopback") {
        eprintln!("skipped: there is no network of a run's own here");
        return;
    }
    world.write("project/hello.txt", "hello from the layer\n");
    let outside = "python3 -c 'import urllib.request as u; u.urlopen(\"http://127.0.0.1:8123/hello.txt\", timeout=2)' 2>&1 | tail -1";
    world.turns(&[
        call("run_command", json!({"command": server, "background": true})),
        call("command_output", json!({"id": "c7", "wait_seconds": 1})),
        command(client),
        answer("done"),
    ]);
    run(&world, "--approve run_command");
    let told = told(&world);
    assert!(told[0].contains("\"running\":true"), "{told:?}");
    // What it wrote comes with the start or afterwards.
    assert!(told[..2].concat().contains("up"), "{told:?}");
    assert!(told[2].contains("hello from the layer"), "{told:?}");
    // Nobody outside could reach it, and it ended with the run.
    let seen = world.run(outside);
    assert!(seen.contains("refused"), "{seen}");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_command_in_the_background_is_written_to_and_stopped() {
    let first = plain(&[
        call("run_command", json!({"command": "cat", "background": true})),
        answer("done"),
    ]);
    run(&first, "--approve run_command");
    // The same turns give the same id.
    let started: Value = serde_json::from_str(&told(&first)[0]).unwrap();
    let id = started["id"].as_str().unwrap();
    let world = plain(&[
        call("run_command", json!({"command": "cat", "background": true})),
        call("command_input", json!({"id": id, "text": "some text\n"})),
        call("command_stop", json!({"id": id})),
        call("command_output", json!({"id": "c0"})),
        answer("done"),
    ]);
    run(&world, "--approve run_command");
    let told = told(&world);
    assert!(told[1].contains("some text"), "{told:?}");
    assert!(told[2].contains("\"running\":false"), "{told:?}");
    assert_eq!(codes(&world), [Value::Null, Value::Null, Value::Null, json!("NotFound")]);
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_time_limit_keeps_what_was_printed() {
    let line = "echo before; (setsid sleep 1000 &) ; sleep 1000; echo after";
    let world = plain(&[
        call("run_command", json!({"command": line, "timeout_seconds": 1})),
        answer("done"),
    ]);
    run(&world, "--approve run_command");
    assert_eq!(codes(&world), ["Timeout"]);
    let told = told(&world).remove(0);
    assert!(told.contains("before") && !told.contains("after\\n"), "{told}");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_command_runs_in_the_workspace_in_a_folder_of_it_or_in_a_skill() {
    let at =
        |line: &str, folder: Value| call("run_command", json!({"command": line, "folder": folder}));
    let world = plain(&[
        at("pwd; ls sub", Value::Null),
        at("pwd; cat b", json!("sub")),
        select(&["s"]),
        at("cat notes.txt; sh ./scripts/a.sh; echo $SKILL_DIR", json!("skill:s")),
        at("cat a.sh", json!("skill:s/scripts")),
        at("pwd", json!("../home")),
        at("pwd", json!("skill:other")),
        at("pwd", json!("skill:s/../..")),
        answer("done"),
    ]);
    skill(&world, "s", "echo from the skill\n");
    world.write("home/.agent/skills/s/notes.txt", "notes\n").write("project/sub/b", "below\n");
    run(&world, "--approve run_command");
    let told = told(&world);
    let workspace = world.path("project").display().to_string();
    assert!(told[0].contains(&workspace) || told[0].contains("[world]/project"), "{told:?}");
    assert!(told[1].contains("project/sub") && told[1].contains("below"), "{told:?}");
    assert!(told[3].contains("notes") && told[3].contains("from the skill"), "{told:?}");
    assert!(told[4].contains("echo from the skill"), "{told:?}");
    let codes = codes(&world);
    assert_eq!(codes[..5], [Value::Null, Value::Null, Value::Null, Value::Null, Value::Null]);
    assert_eq!(codes[5..], ["PathTraversalBlocked", "InvalidAction", "PathTraversalBlocked"]);
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_command_reads_what_it_is_given_and_nothing_otherwise() {
    let world = plain(&[
        call("run_command", json!({"command": "tr a-z A-Z", "stdin": "given\n"})),
        command("wc -c"),
        answer("done"),
    ]);
    run(&world, "--approve run_command");
    let told = told(&world);
    assert!(told[0].contains("GIVEN") && told[1].contains('0'), "{told:?}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn commands_scripts_and_file_tools_see_one_layer() {
    let world = plain(&[
        select(&["s"]),
        write("a", "from a tool\n"),
        command("cat a; echo from a command >> a; mkdir d; echo x > d/x"),
        script("s", &[]),
        call("read_file", json!({"path": "a"})),
        call("grep", json!({"pattern": "from"})),
        call("list_dir", json!({"path": "d"})),
        answer("done"),
    ]);
    skill(&world, "s", "cat a; echo from a script >> a\n");
    run(&world, "--approve run_command --approve run_script");
    let told = told(&world);
    assert!(told[2].contains("from a tool"), "{told:?}");
    assert!(told[3].contains("from a command"), "{told:?}");
    assert!(told[4].contains("from a script"), "{told:?}");
    assert!(told[5].contains("from a script") && told[6].contains('x'), "{told:?}");
    assert!(!world.path("project/a").exists() && !world.path("project/d").exists());
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_is_hidden_and_what_is_outside_no_command_reads() {
    let world = plain(&[
        command("cat .env; cat sub/.env.local; cat ../home/secret; cat ../home/.agent/config.json"),
        command("cat link; cp .env copy; cat copy"),
        command("env"),
        answer("done"),
    ])
    .with("SECRET_OF_MINE", "hunter42x");
    world.write("project/.env", "A=hunter42x\n").write("project/sub/.env.local", "hunter42x\n");
    world.write("home/secret", "hunter42x\n").write("home/.agent/config.json", "{/*hunter42x*/}");
    world.link("project/link", ".env");
    run(&world, "--approve run_command");
    let told = told(&world);
    assert!(!told.concat().contains("hunter42x"), "{told:?}");
    assert!(!world.run("skillful runs take last copy -o -").contains("hunter42x"));
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_skill_narrows_what_may_be_run() {
    let turns = [select(&["s"]), command("printf a"), command("uname"), answer("done")];
    for (tools, expected) in [
        ("Bash(printf:*)", [Value::Null, json!("ToolNotAllowed")]),
        ("Bash", [Value::Null, Value::Null]),
        ("Read", [json!("ToolNotAllowed"), json!("ToolNotAllowed")]),
    ] {
        let world = plain(&turns);
        let text = format!("---\nname: s\ndescription: S.\nallowed-tools: {tools}\n---\n# S\n");
        world.write("home/.agent/skills/s/SKILL.md", text);
        run(&world, "--approve run_command");
        assert_eq!(codes(&world)[1..], expected, "{tools}");
    }
}

#[test]
fn edit_file_replaces_exact_text() {
    let edit = |old: &str, new: &str, all: bool| {
        call("edit_file", json!({"path": "a", "old": old, "new": new, "all": all}))
    };
    let world = plain(&[
        edit("one", "two", false),
        edit("x", "y", false),
        edit("x", "y", true),
        edit("nothing like it", "z", false),
        edit("thre", "four", false),
        answer("done"),
    ]);
    world.write("project/a", "one\nx x\nthree\n");
    run(&world, "--apply");
    let codes = codes(&world);
    assert_eq!(
        (&codes[0], &codes[2], &codes[4]),
        (&Value::Null, &Value::Null, &Value::Null),
        "{codes:?}"
    );
    assert!(codes[1].is_string() && codes[3].is_string(), "{codes:?}");
    let told = told(&world);
    assert!(told[1].contains('2'), "how often it is there: {told:?}");
    assert_eq!(world.read("project/a"), "two\ny y\nfoure\n");
    assert_sound(&world);
}

#[test]
fn needs_are_refused_with_a_reason() {
    let params = json!({"command": "true", "needs": {"network": ["example.com"]}});
    let world = plain(&[call("run_command", params), answer("done")]);
    run(&world, "--approve run_command");
    assert_eq!(codes(&world), ["ToolNotAllowed"]);
}

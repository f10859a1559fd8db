//! What no tool changes or shows, whatever was approved and however its path is spelled.

use super::*;
use crate::turns::read;

/// A world in which the model writes `path`, or deletes it, with everybody's leave, by a tool of that name or by a
/// command; and what was changed is applied. `lines` of shell set it up.
fn attempt(lines: &str, folder: &str, tool: &str, path: &str) -> (World, String) {
    let params = match tool {
        "write_file" => json!({"path": path, "content": "evil\n"}),
        "delete_file" => json!({"path": path}),
        line => json!({"command": format!("{line} '{path}'")}),
    };
    let tool = if tool.ends_with("_file") { tool } else { "run_command" };
    let world = scripted(json!([call(tool, params), answer("done")]));
    let rules = r#"{"permissions": {"write_file": "ask", "delete_file": "ask"}, "skill_roots": ["../project/tools"]}"#;
    world.write("home/.agent/config.json", rules);
    let ready = world.run(&format!("set -e; {lines}"));
    assert!(!ready.contains("[exit"), "{lines}: {ready}");
    let turns = world.path("project/turns.json");
    let seen = world.run(&format!(
        "skillful -C {folder} run --model scripted:{} --approve write_file --approve delete_file --approve run_command --apply x",
        turns.display()
    ));
    (world, seen)
}

/// Whatever the model tries there is refused, and no file of the world says something else than before.
fn check(lines: &str, folder: &str, path: &str) {
    let commands = ["echo evil >", "rm -f", "echo evil > /tmp/new; mv /tmp/new"];
    for tool in ["write_file", "delete_file"].into_iter().chain(commands) {
        let (world, seen) = attempt(lines, folder, tool, path);
        // State with a second name is not even read, so nothing begins.
        let is_refused = ["links are not followed here", "it is a hard link"]
            .iter()
            .any(|words| seen.contains(words));
        // In a copy of the workspace a file has no second name; what is written there is held when it is applied.
        let is_seen_through = cfg!(all(target_os = "linux", not(portable)));
        if !is_refused && tool.ends_with("_file") && is_seen_through {
            let events = world.json(&format!("skillful -C {folder} runs show last --json"));
            assert_eq!(
                observed(events.as_array().unwrap()),
                ["ToolNotAllowed"],
                "{tool} {path} after `{lines}`: {seen}"
            );
        }
        let changed = world.run("grep -rlx evil .. --exclude-dir=runs --exclude=innocent || true");
        assert_eq!(changed, "", "{tool} {path} after `{lines}`");
        let missing = world.run("while read file; do test -s \"$file\" || echo $file; done < kept");
        assert_eq!(missing, "", "{tool} {path} after `{lines}`");
    }
}

/// A line of shell that makes a file, and notes that it must stay.
fn keep(path: &str) -> String {
    let content = match path.rsplit('/').next() {
        Some("grants.json" | "linked.json") => r#"{"version": 1, "grants": []}"#,
        _ => "{}",
    };
    format!("mkdir -p \"$(dirname '{path}')\"; echo '{content}' > '{path}'; echo '{path}' >> kept")
}

#[test]
fn what_agents_and_git_keep_is_not_changed_however_it_is_spelled() {
    for path in [
        ".agent/config.json",
        ".agent/skills/s/scripts/a.sh",
        ".agent/runs/x/events.jsonl",
        ".AGENT/config.json",
        ".Agent./config.json",
        ".a\u{200d}gent/config.json",
        "．agent/config.json",
        ".agentſ/skills/s/SKILL.md",
        "sub/.claude/settings.json",
        ".codex/config.toml",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        ".github/skills/s/SKILL.md",
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/modules/a/config",
        "sub/.GIT/config",
        ".hg/hgrc",
    ] {
        check(&keep(path), ".", path);
    }
}

#[test]
fn a_link_to_what_is_closed_is_closed_and_so_is_what_a_closed_link_leads_to() {
    for (lines, kept, path) in [
        ("ln -s .agent dot", ".agent/config.json", "dot/config.json"),
        (
            "mv ../home/.agent dot; ln -s ../project/dot ../home/.agent",
            "dot/grants.json",
            "dot/grants.json",
        ),
        ("mkdir .agent; ln -s ../conf.json .agent/config.json", "conf.json", "conf.json"),
        ("mkdir .claude; ln -s ../mine .claude/skills", "mine/s/SKILL.md", "mine/s/SKILL.md"),
        ("ln -s ../hooks .git/hooks", "hooks/pre-commit", "hooks/pre-commit"),
        ("mkdir .git/hooks; ln -s ../../hook.sh .git/hooks/pre-commit", "hook.sh", "hook.sh"),
        ("rmdir .git; echo 'gitdir: .bare' > .git", ".bare/config", ".bare/config"),
        (
            "rmdir .git; echo gitdir: .bare/worktrees/a > .git; mkdir -p .bare/worktrees/a; echo ../.. > .bare/worktrees/a/commondir",
            ".bare/hooks/pre-commit",
            ".bare/hooks/pre-commit",
        ),
        ("git init -q --separate-git-dir=$PWD/meta sub", "meta/config", "meta/config"),
        ("git init -q --bare b.git", "b.git/hooks/post-update", "b.git/hooks/post-update"),
        (
            "ln -s ../../project/linked.json ../home/.agent/grants.json",
            "linked.json",
            "linked.json",
        ),
    ] {
        check(&format!("{lines}; {}", keep(kept)), ".", path);
    }
}

#[test]
fn another_name_of_a_closed_file_is_closed() {
    for kept in
        [".agent/config.json", ".git/config", ".git/hooks/pre-commit", "../home/.agent/trust.json"]
    {
        // A command may replace the other name; the file that is closed stays as it is.
        check(&format!("{}; ln '{kept}' innocent", keep(kept)), ".", "innocent");
    }
}

#[test]
fn a_closed_folder_that_is_mounted_elsewhere_is_closed() {
    let world = scripted(json!([write("dot/config.json", "evil\n"), answer("done")]));
    world.write("project/.agent/config.json", "{}").write("project/dot/here", "");
    let line = "unshare --map-root-user --mount sh -c 'mount --bind .agent dot && skillful run --model scripted:turns.json --approve write_file --apply x'";
    let seen = world.run(line);
    if seen.contains("unshare:") || seen.contains("mount:") {
        #[allow(clippy::print_stderr, reason = "whoever runs the tests should know")]
        {
            eprintln!("skipped: this machine lets nobody mount (`unshare --mount`): {seen}");
        }
        return;
    }
    // A layer does not show what is mounted there, and what was written into it is not applied.
    assert_eq!(world.read("project/.agent/config.json"), "{}", "{seen}");
    assert!(!world.path("project/dot/config.json").exists(), "{seen}");
}

#[test]
fn with_the_home_as_workspace_what_decides_over_runs_is_not_changed() {
    for path in [
        ".agent/grants.json",
        ".agent/trust.json",
        ".agent/key.sec",
        ".agent/keys/other",
        ".agent/skills/s/SKILL.md",
        ".claude/settings.json",
        ".cache/skillful/index",
        ".config/opencode/opencode.json",
    ] {
        check(&keep(&format!("../home/{path}")), "../home", path);
    }
}

#[test]
fn the_folders_of_skills_are_not_changed_by_a_run_that_could_use_them() {
    let skill = "---\\nname: s\\ndescription: Does things.\\n---\\n";
    for (folder, link, path) in [
        // The user's settings name the folder.
        ("tools/s", "true", "tools/s/scripts/a.sh"),
        ("tools/s", "true", "tools/new/SKILL.md"),
        // A skill of the home leads here.
        (
            "dev/s",
            "mkdir ../home/.agent/skills; ln -s ../../../project/dev/s ../home/.agent/skills/s",
            "dev/s/scripts/a.sh",
        ),
        (
            "dev/s",
            "mkdir -p .agents/skills; ln -s ../../dev/s .agents/skills/s",
            "dev/s/scripts/a.sh",
        ),
        // The project names the folder.
        (
            "dev/s",
            "mkdir .agent; echo '{\"skill_roots\": [\"dev\"]}' > .agent/config.json",
            "dev/s/scripts/a.sh",
        ),
    ] {
        let lines = format!(
            "mkdir -p '{folder}'; printf '%b' '{skill}' > '{folder}/SKILL.md'; {link}; {}",
            keep(&format!("{folder}/scripts/a.sh"))
        );
        check(&lines, ".", path);
    }
}

#[test]
fn the_rest_of_the_workspace_can_be_written() {
    for (lines, folder, path) in [
        ("true", ".", "src/new/a.txt"),
        ("true", ".", ".github/workflows/ci.yml"),
        ("true", ".", ".gitignore"),
        ("true", ".", "agent/config.json"),
        ("mkdir .agent; ln -s ../.. .agent/here", ".", "a.txt"),
        ("true", "../home", "notes.txt"),
        // Searched for skills as a whole, and only its skills are closed.
        ("ln -s . tools", ".", "a.txt"),
        ("echo one > a.txt; ln a.txt b.txt", ".", "a.txt"),
    ] {
        let (world, _) = attempt(lines, folder, "write_file", path);
        assert_eq!(world.read(&format!("project/{folder}/{path}")), "evil\n", "{lines}: {path}");
    }
}

#[test]
fn the_files_of_a_namespaced_skill_are_its_own() {
    let world = World::new();
    world.write(
        "home/.agent/skills/acme/deploy/SKILL.md",
        "---\nname: acme/deploy\ndescription: Deploys.\n---\n",
    );
    world.write("home/.agent/skills/acme/deploy/notes.md", "real\n");
    world.write("project/skill:/acme/deploy/notes.md", "forged\n");
    let folder = world.path("home/.agent/skills/acme/deploy");
    let notes = folder.join("notes.md");
    world.turns(&[
        select(&["acme/deploy"]),
        read(notes.to_str().unwrap()),
        read("skill://acme/deploy/notes.md"),
        write(folder.join("new.md").to_str().unwrap(), "x"),
        answer("done"),
    ]);
    run(&world, "--approve write_file");
    let [null, refused] = [Value::Null, json!("ToolNotAllowed")];
    assert_eq!(codes(&world), [null.clone(), null.clone(), null, refused]);
    let seen = world.run("skillful runs show last --json");
    assert!(seen.contains("real") && !seen.contains("forged"), "{seen}");
    assert!(!world.path("project/skill:/acme/deploy/new.md").exists());
}

#[test]
fn a_path_without_end_does_not_end_the_run() {
    let world = scripted(json!([read(&"a/".repeat(10_000)), answer("done")]));
    assert_eq!(run(&world, ""), "done\n");
    assert_eq!(codes(&world), [json!("InvalidAction")]);
}

/// What `read_file` says to each path.
fn read_codes(world: &World, paths: &[&str]) -> Vec<(String, bool)> {
    let mut turns: Vec<Value> =
        paths.iter().map(|path| call("read_file", json!({"path": path}))).collect();
    turns.push(answer("done"));
    world.turns(&turns);
    world.write(
        "home/.agent/config.json",
        r#"{"budget": {"max_turns": 99, "max_tool_calls": 99}, "patience": {"same_failures": 99}}"#,
    );
    run(world, "");
    let hidden = codes(world).into_iter().map(|code| match code {
        Value::Null => false,
        code if code == "ToolNotAllowed" => true,
        code => panic!("{code}"),
    });
    paths.iter().map(|path| (*path).to_owned()).zip(hidden).collect()
}

#[test]
fn copies_and_variants_of_secret_files_are_hidden_and_templates_are_not() {
    let secret = [
        ".env",
        ".env.local",
        ".ENV",
        "prod.env",
        "config/prod.env",
        ".env.bak",
        "key.pem.bak",
        "server.key.old",
        "server.key.orig",
        "server.key.save",
        "server.key.2",
        "server.key-backup",
        ".netrc~",
        ".netrc.~1~",
        ".npmrc.bak",
        ".npmrc.bak2",
        ".server.key.swp",
        ".id_rsa.swp",
        "#.netrc#",
        "id_rsa.old",
        ".git/config",
        ".git/config.old",
        ".git/modules/a/config",
        ".git/modules/lib/a/config",
        ".docker/config.json.bak",
        "key.sec",
        "prod.env.20260101",
        ".ssh/known_hosts",
        ".e\u{200d}nv",
        "credentials.json.tmp",
        ".agent/keys/record",
    ];
    let open = [
        "example.env.md",
        ".env.example",
        ".env.sample",
        ".env.local.example",
        "example.env",
        ".env.template",
        ".env.example.bak",
        "environment.py",
        "keys.md",
        "old.txt",
        "a.bak",
        "pem.txt",
        ".git/HEAD",
        "modules/a/config",
        "notes~",
        "monkey.txt",
        "monkey.old",
    ];
    let world = World::new();
    for path in secret.iter().chain(&open) {
        world.write(&format!("project/{path}"), "TOKEN=1\n");
    }
    let expect = |paths: &[&str], hidden: bool| -> Vec<(String, bool)> {
        paths.iter().map(|path| ((*path).to_owned(), hidden)).collect()
    };
    assert_eq!(read_codes(&world, &secret), expect(&secret, true));
    assert_eq!(read_codes(&world, &open), expect(&open, false));
}

#[test]
fn another_name_of_a_hidden_file_is_hidden_and_that_of_another_file_is_not() {
    let world = World::new();
    world.write("project/deep/er/.env", "TOKEN=1\n").write("project/.ssh/config", "TOKEN=2\n");
    world.write("project/one.txt", "TOKEN=3\n");
    world.run("ln deep/er/.env notes.txt; ln .ssh/config settings.txt; ln one.txt two.txt");
    let read = read_codes(&world, &["notes.txt", "settings.txt", "two.txt"]);
    assert_eq!(read.iter().map(|(_, hidden)| *hidden).collect::<Vec<_>>(), [true, true, false]);
    world.turns(&[call("grep", json!({"pattern": "TOKEN="})), answer("done")]);
    run(&world, "");
    let seen = world.run("skillful runs show last --json");
    assert!(seen.contains("TOKEN=3"), "{seen}");
    assert!(!seen.contains("TOKEN=1") && !seen.contains("TOKEN=2"), "{seen}");
}

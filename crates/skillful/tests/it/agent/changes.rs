//! What a run changes, kept apart from the user's files until it is applied.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use super::*;

/// A run that changes `a`, makes `sub/b` and deletes `c`.
fn changing() -> World {
    let world = plain(&[
        write("a", "two\n"),
        write("sub/b", "new\n"),
        call("delete_file", json!({"path": "c"})),
        answer("done"),
    ]);
    world.write("project/a", "one\n").write("project/c", "gone\n");
    world
}

/// All files of the workspace that are not this program's, with their content and mode.
fn files(world: &World) -> String {
    world.run(
        "find . -path ./.agent -prune -o -path ./.git -prune -o -type f ! -name turns.json -printf '%P %m ' -exec cat {} ';' | sort",
    )
}

const BEFORE: &str = "a 644 one\nc 644 gone\n";
const AFTER: &str = "a 644 two\nsub/b 644 new\n";

/// The run that the last one was called.
fn shown(world: &World, text: &str) -> String {
    text.replace(&last_run(world), "[run]")
}

#[test]
fn nothing_of_the_workspace_changes_before_it_is_applied() {
    let world = changing();
    let seen = run(&world, "");
    assert_snapshot!(shown(&world, &seen), @"
    done
    [stderr]
    error: 4 changes wait for your approval
    hint: look at the changes (`skillful runs changes [run] --diff`), then run: skillful runs apply [run]
    [exit 3]
    ");
    assert_eq!(files(&world), BEFORE);
    assert_sound(&world);
    // The command that was printed works as it is.
    let line = seen.lines().find_map(|line| line.split_once("then run: ")).unwrap().1.to_owned();
    let applied = world.run(&line);
    assert_snapshot!(shown(&world, &applied), @"
    ~ a
    ~ c
    ~ sub
    ~ sub/b
    [stderr]
    Applied. `skillful runs undo [run]` takes it back.
    ");
    assert_eq!(files(&world), AFTER);
    assert_sound(&world);
    let again = world.run(&line);
    assert!(again.contains("nothing to apply") && again.ends_with("[exit 1]\n"), "{again}");
}

#[test]
fn what_was_changed_is_in_the_document_and_in_the_summary() {
    let world = changing();
    let result = world.json("skillful run --json --model scripted:turns.json x");
    let kept = &result["changes"]["kept"];
    assert_eq!(
        (&kept["added"], &kept["changed"], &kept["deleted"]),
        (&json!(2), &json!(1), &json!(1)),
        "{result:#}"
    );
    assert_eq!(kept["paths"], json!(["a", "c", "sub", "sub/b"]));
    assert_eq!(result["changes"]["apply"], format!("skillful runs apply {}", last_run(&world)));
    assert_eq!(
        world.output("skillful run --json --model scripted:turns.json x").status.code(),
        Some(3)
    );
    let summary: Value =
        serde_json::from_str(&world.read(&format!("{}/run.json", last(&world)))).unwrap();
    assert_eq!(summary["changes"]["kept"]["paths"], kept["paths"], "{summary:#}");
    let applied = world.json("skillful run --json --apply --model scripted:turns.json x");
    assert_eq!(applied["changes"]["applied"][0]["paths"], kept["paths"], "{applied:#}");
    assert_eq!(applied["changes"]["kept"], Value::Null);
}

#[test]
fn apply_on_the_command_line_is_the_approval_for_this_run() {
    let world = changing();
    assert_eq!(run(&world, "--apply"), "done\n");
    assert_eq!(files(&world), AFTER);
    assert_sound(&world);
    assert!(
        world.run("skillful permissions list").contains("You approved nothing"),
        "for this run only"
    );
    let seen = world.run("skillful runs changes last");
    assert_eq!(seen, "[stderr]\nNothing waits to be applied.\n");
    // A deny is a deny.
    let world = changing();
    let seen = run(&world, "--apply --deny apply_changes");
    assert_eq!(files(&world), BEFORE, "{seen}");
    // A yes to what is of medium risk is none to this.
    let world = changing();
    assert!(run(&world, "--yes").ends_with("[exit 3]\n"));
    assert_eq!(files(&world), BEFORE);
}

#[test]
fn some_of_the_changes_are_applied_and_the_others_stay() {
    let world = changing();
    run(&world, "");
    let wrong = world.run("skillful runs apply last nothing");
    assert!(
        wrong.contains("the run did not change `nothing`") && wrong.ends_with("[exit 2]\n"),
        "{wrong}"
    );
    assert_eq!(files(&world), BEFORE);
    world.run("skillful runs apply last ./a");
    assert_eq!(files(&world), "a 644 two\nc 644 gone\n");
    assert_sound(&world);
    assert_eq!(world.run("skillful runs changes last"), "- c  5 bytes\n+ sub/\n+ sub/b  4 bytes\n");
    world.run("skillful runs apply last sub/");
    assert_eq!(files(&world), "a 644 two\nc 644 gone\nsub/b 644 new\n");
    world.run("skillful runs apply last");
    assert_eq!(files(&world), AFTER);
    assert_sound(&world);
    world.run("skillful runs undo last");
    assert_eq!(files(&world), BEFORE);
    assert_sound(&world);
}

#[test]
fn changes_go_to_another_folder_as_often_as_wanted() {
    let world = changing();
    run(&world, "");
    std::fs::create_dir(world.path("elsewhere")).unwrap();
    let seen = world.json("skillful runs apply last --to ../elsewhere --json");
    assert_eq!(seen["applied"], json!(["a", "sub", "sub/b"]), "{seen}");
    assert_eq!(world.run("cd ../elsewhere; find . -type f | sort; cat a"), "./a\n./sub/b\ntwo\n");
    assert_eq!(files(&world), BEFORE);
    assert!(world.run("skillful runs changes last").contains("~ a"));
    assert_sound(&world);
}

/// A run whose changes of `a` meet somebody else's.
fn conflicting(theirs: &str) -> World {
    let world =
        plain(&[write("a", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"), write("b", "new\n"), answer("done")]);
    world.write("project/a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    run(&world, "");
    world.write("project/a", theirs);
    world
}

const THEIRS: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn what_somebody_else_changed_is_a_conflict_and_nothing_is_applied() {
    let world = conflicting(THEIRS);
    assert_snapshot!(world.run("skillful runs changes last"), @"
    ~ a  21 bytes
    + b  4 bytes
    * a  somebody else changed it since the run first saw it
    ");
    assert_snapshot!(world.run("skillful runs apply last"), @"
    [stderr]
    error: somebody else changed `a`
    hint: look at both versions, then choose: yours (`--theirs`), the run's (`--ours`) or a merge
    [exit 1]
    ");
    assert_eq!(
        files(&world),
        format!("a 644 {THEIRS}")
            .lines()
            .map(|line| line.to_owned() + "\n")
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<String>()
    );
    let error = world.json("skillful runs apply last --json");
    assert_eq!(error["error"]["code"], "Conflict");
    assert_eq!(error["error"]["details"]["conflicts"][0]["path"], "a", "{error}");
    assert_sound(&world);
    // What is not in conflict can be had.
    world.run("skillful runs apply last b");
    assert_eq!((world.read("project/a"), world.read("project/b")), (THEIRS.into(), "new\n".into()));
}

#[test]
fn a_conflict_has_three_ways_out() {
    for (way, expected) in [
        ("--ours", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"),
        ("--theirs", THEIRS),
        ("--merge", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"),
    ] {
        let world = conflicting(THEIRS);
        let seen = world.run(&format!("skillful runs apply last {way}"));
        assert!(!seen.contains("[exit"), "{way}: {seen}");
        assert_eq!(world.read("project/a"), expected, "{way}");
        assert_eq!(world.read("project/b"), "new\n", "{way}");
        assert_sound(&world);
        world.run("skillful runs undo last");
        assert_eq!(world.read("project/a"), THEIRS, "{way}");
        assert!(!world.path("project/b").exists(), "{way}");
        assert_sound(&world);
    }
}

#[test]
fn a_merge_that_fails_changes_nothing() {
    let world = conflicting("1\n2\n3\n4\n5\n6\n7\n8\nNINE\n");
    let seen = world.run("skillful runs apply last --merge");
    assert!(seen.contains("`a`") && seen.ends_with("[exit 1]\n"), "{seen}");
    assert!(world.read("project/a").ends_with("NINE\n") && !world.path("project/b").exists());
}

#[test]
fn a_conflict_at_the_end_of_a_run_leaves_both_versions() {
    let world =
        plain(&[write("a", "two\n"), call("read_file", json!({"path": "pause"})), answer("done")]);
    world.write("project/a", "one\n");
    // Somebody else writes while the question waits.
    let seen = world.meanwhile(
        "skillful run --model scripted:turns.json x",
        "[?] ",
        || {
            world.write("project/a", "theirs\n");
        },
        "y\n",
        &[],
    );
    assert_eq!(world.read("project/a"), "theirs\n", "{seen}");
    assert_eq!(world.run("skillful runs take last a -o -"), "two\n");
    assert_sound(&world);
}

#[test]
fn changes_are_shown_as_a_list_a_difference_a_patch_and_a_document() {
    let world = changing();
    run(&world, "");
    assert_snapshot!(world.run("skillful runs changes last"), @"
    ~ a  4 bytes
    - c  5 bytes
    + sub/
    + sub/b  4 bytes
    ");
    assert_snapshot!(world.run("skillful runs changes last --diff"), @"
    ~ a  4 bytes
    - c  5 bytes
    + sub/
    + sub/b  4 bytes
    --- a/a
    +++ b/a
    @@ -1 +1 @@
    -one
    +two
    --- a/c
    +++ /dev/null
    @@ -1 +0,0 @@
    -gone
    --- /dev/null
    +++ b/sub/b
    @@ -0,0 +1 @@
    +new
    ");
    assert_snapshot!(world.run_json("skillful runs changes last --json | sed 's/\\(\"sha256_[a-z]*\":\"\\)[0-9a-f]*/\\1[hash]/g'"), @r#"
    {
      "changes": [
        {
          "change": "changed",
          "kind": "file",
          "mode": "0644",
          "path": "a",
          "sha256_after": "[hash]",
          "sha256_before": "[hash]",
          "size": 4
        },
        {
          "change": "deleted",
          "kind": "file",
          "mode": "0644",
          "path": "c",
          "sha256_after": null,
          "sha256_before": "[hash]",
          "size": 5
        },
        {
          "change": "added",
          "kind": "folder",
          "mode": "0755",
          "path": "sub",
          "sha256_after": null,
          "sha256_before": null
        },
        {
          "change": "added",
          "kind": "file",
          "mode": "0644",
          "path": "sub/b",
          "sha256_after": "[hash]",
          "sha256_before": null,
          "size": 4
        }
      ],
      "conflicts": [],
      "held": []
    }
    "#);
    let diff = world.json("skillful runs changes last --diff --json");
    assert!(diff["diff"].as_str().unwrap().contains("\n-one\n+two\n"), "{diff}");
    // Git takes the patch.
    world.run(
        "mkdir ../copy && cp a c ../copy && skillful runs changes last --patch > ../changes.patch",
    );
    let applied = world
        .run("cd ../copy && git apply ../changes.patch && find . -type f | sort && cat a sub/b");
    assert_eq!(applied, "./a\n./sub/b\ntwo\nnew\n");
    assert_eq!(files(&world), BEFORE);
}

#[test]
fn files_that_a_run_made_are_listed_and_taken() {
    let world = changing();
    run(&world, "");
    assert_snapshot!(world.run("skillful runs files last"), @"
    a  4 bytes  application/octet-stream  kept
    sub/b  4 bytes  application/octet-stream  kept
    ");
    assert_eq!(world.run("skillful runs take last sub/b -o -"), "new\n");
    assert_eq!(world.run("skillful runs take last sub/b"), "[world]/project/b\n");
    assert_eq!(world.read("project/b"), "new\n");
    let again = world.run("skillful runs take last sub/b");
    assert!(again.contains("choose another name") && again.ends_with("[exit 1]\n"), "{again}");
    let wrong = world.run("skillful runs take last turns.json -o -");
    assert!(
        wrong.contains("the run made no file `turns.json`") && wrong.ends_with("[exit 1]\n"),
        "{wrong}"
    );
    let outside = world.run("skillful runs take last ../home/x -o -");
    assert!(outside.ends_with("[exit 2]\n"), "{outside}");
    world.run("rm b; skillful runs apply last");
    assert_snapshot!(world.run("skillful runs files last"), @"
    a  4 bytes  application/octet-stream  applied
    sub/b  4 bytes  application/octet-stream  applied
    ");
    assert_eq!(world.run("skillful runs take last sub/b -o -"), "new\n");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn changes_are_applied_after_each_action_where_the_user_wants_that() {
    let world = plain(&[
        write("a", "two\n"),
        call("run_command", json!({"command": "cat a; echo three > a"})),
        answer("done"),
    ]);
    world.write("project/a", "one\n");
    let settings = r#"{"changes": {"apply": "auto"}, "permissions": {"run_command": "allow"}}"#;
    world.write("home/.agent/config.json", settings);
    assert_eq!(run(&world, ""), "done\n");
    assert_eq!(world.read("project/a"), "three\n");
    let kinds: Vec<Value> = events(&world).iter().map(|event| event["type"].clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "changes_applied").count(), 2, "{kinds:?}");
    assert_sound(&world);
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/a"), "one\n");
    assert_sound(&world);
}

#[test]
fn changes_are_kept_where_the_user_wants_that() {
    let world = changing();
    world.write("home/.agent/config.json", r#"{"changes": {"apply": "keep"}}"#);
    let seen = run(&world, "");
    assert_snapshot!(shown(&world, &seen), @"
    done
    [stderr]
    4 changes wait; to apply: `skillful runs apply [run]`.
    ");
    assert_eq!(files(&world), BEFORE);
    assert_sound(&world);
    world.run("skillful runs apply last");
    assert_eq!(files(&world), AFTER);
    // A project's file has no say in it.
    let world = changing();
    world.write("project/.agent/config.json", r#"{"changes": {"apply": "auto"}}"#);
    let seen = run(&world, "");
    assert!(seen.contains("`changes") && seen.ends_with("[exit 3]\n"), "{seen}");
    assert_eq!(files(&world), BEFORE);
}

#[test]
fn a_model_may_ask_for_its_changes_to_be_applied_in_between() {
    let turns = [
        write("a", "two\n"),
        write("b", "new\n"),
        act("apply_changes", json!({"paths": ["a"], "reason": "look at it"})),
        answer("done"),
    ];
    let world = plain(&turns);
    world.write("project/a", "one\n");
    let allowed = r#"{"permissions": {"apply_changes": {"*": "ask", "a": "allow"}}}"#;
    world.write("home/.agent/config.json", allowed);
    let seen = run(&world, "");
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
    assert_eq!(world.read("project/a"), "two\n", "a rule allows it");
    assert!(!world.path("project/b").exists(), "and this it does not allow");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn changes_of_the_repository_itself_are_asked_on_their_own() {
    let command = "echo mine > .git/description; echo bad > .git/hooks/pre-commit; echo new > a";
    let turns = [call("run_command", json!({"command": command})), answer("done")];
    let world = plain(&turns).with("TERM", "dumb");
    world.run("git init -q . && rm -r .git/hooks && mkdir .git/hooks");
    let before = world.read("project/.git/description");
    let line = "skillful run --model scripted:turns.json --approve run_command x";
    let apply = "[?] ";
    let seen = world.conversation(line, &[(apply, "y\n"), (apply, "n\n")]);
    assert!(seen.contains("below `.git`"), "{seen}");
    assert_eq!(world.read("project/a"), "new\n", "{seen}");
    assert_eq!(world.read("project/.git/description"), before);
    assert!(!world.path("project/.git/hooks/pre-commit").exists());
    assert_eq!(world.run("skillful runs changes last"), "~ .git/description  5 bytes\n");
    assert_sound(&world);
    world.run("skillful runs apply last .git");
    assert_eq!(world.read("project/.git/description"), "mine\n");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn modes_links_and_folders_arrive_as_they_were_made() {
    let command = "mkdir -p d/e; printf '#!/bin/sh\\n' > d/run; chmod 750 d/run; ln -s run d/link; chmod 600 a; mv b d/e/moved";
    let world = plain(&[call("run_command", json!({"command": command})), answer("done")]);
    world.write("project/a", "one\n").write("project/b", "moved\n");
    run(&world, "--approve run_command --apply");
    let found = world.run("stat -c '%n %a' a d/run; readlink d/link; cat d/e/moved; ls b");
    assert!(found.starts_with("a 600\nd/run 750\nrun\nmoved\n"), "{found}");
    assert!(found.ends_with("[exit 2]\n"), "{found}");
    world.run("skillful runs undo last");
    assert_eq!(
        world.run("stat -c '%n %a' a; cat a b; ls"),
        "a 644\none\nmoved\na\nb\nturns.json\n"
    );
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_belongs_to_agents_and_what_is_hidden_is_never_applied() {
    let command = "mkdir -p .claude new/.vscode; echo x > .claude/settings.json; echo x > new/.vscode/tasks.json; echo x > fine; rm -f .env";
    let world = plain(&[call("run_command", json!({"command": command})), answer("done")]);
    world.write("project/.env", "TOKEN=1\n");
    let seen = run(&world, "--approve run_command --apply");
    assert_eq!(world.read("project/fine"), "x\n", "{seen}");
    assert!(!world.path("project/.claude/settings.json").exists());
    assert!(!world.path("project/new/.vscode/tasks.json").exists());
    assert_eq!(world.read("project/.env"), "TOKEN=1\n");
    assert_sound(&world);
}

#[test]
fn a_record_of_somebody_else_is_not_applied() {
    let world = changing();
    run(&world, "");
    world.run("rm -r ../home/.agent/keys");
    let run = last_run_of_anyone(&world);
    for command in ["apply", "undo"] {
        let seen = world.run(&format!("skillful runs {command} {run}"));
        assert!(seen.contains("[exit 4]"), "{command}: {seen}");
    }
    assert_eq!(files(&world), BEFORE);
}

fn last_run_of_anyone(world: &World) -> String {
    world.run("ls .agent/runs | grep -v index | head -1").trim().to_owned()
}

#[test]
fn an_executable_stays_one_when_it_is_rewritten() {
    let world = plain(&[write("tool.sh", "echo two\n"), answer("done")]);
    world.write("project/tool.sh", "echo one\n");
    std::fs::set_permissions(world.path("project/tool.sh"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    run(&world, "--apply");
    assert_eq!(
        (world.mode("project/tool.sh"), world.read("project/tool.sh")),
        (0o755, "echo two\n".into())
    );
    world.run("skillful runs undo last");
    assert_eq!(
        (world.mode("project/tool.sh"), world.read("project/tool.sh")),
        (0o755, "echo one\n".into())
    );
}

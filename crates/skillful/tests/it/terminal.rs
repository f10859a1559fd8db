//! What commands look like on a terminal: colours, columns, wide letters.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::turns::{act, answer, call, select, write};
use crate::world::World;

fn world() -> World {
    let world = World::new().with("TERM", "xterm-256color");
    world.skill("home/.agent/skills/letters", "Write letters to people who have waited for long.");
    world.skill(
        "home/.agent/skills/tables",
        "表格摘要工具，用于汇总任何表格文件的内容并生成报告，适用于所有情况。",
    );
    world.skill(
        "home/.agent/skills/a-name-that-is-longer-than-a-third-of-the-terminal",
        "Not in the way of the others.",
    );
    world
}

/// Escape sequences made visible.
fn plain(text: String) -> String {
    text.replace('\u{1b}', "␛")
}

/// A world with a script for the model.
fn scripted(turns: &[Value]) -> World {
    let world = World::new().with("TERM", "dumb");
    world.turns(turns);
    world
}

/// A script that is run with `args` and `stdin`, once its skill is selected.
fn script(args: Value, stdin: &str) -> World {
    let payload = json!({"skill": "text-stats", "relative_path": "scripts/stats.sh", "args": args, "stdin": stdin});
    scripted(&[select(&["text-stats"]), act("run_script", payload), answer("Done.")])
}

/// Without times and names of runs, which differ from run to run.
fn timeless(text: &str) -> String {
    let part = |part: &str| match part {
        part if part.starts_with("done in ") => "done in [n] s".to_owned(),
        part if part.starts_with("about ") => "[n] tokens".to_owned(),
        part => part.to_owned(),
    };
    let word = |word: &str| match word.trim_matches('`') {
        name if name.len() == 20 && name.starts_with("20") && name.contains('_') => {
            word.replace(name, "[run]")
        }
        _ => word.to_owned(),
    };
    let line = |line: &str| {
        let line = line.split(" · ").map(part).collect::<Vec<_>>().join(" · ");
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

const RUN: &str = "skillful run --model scripted:turns.json count";
const COLOURED: &str = "skillful run --color always --model scripted:turns.json count";

fn without_styles(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn a_list_fits_the_terminal() {
    assert_snapshot!(without_styles(&world().terminal("skillful list --source user", 60)), @"
    a-name-that-is-longer-than-a-third-of-the-terminal
                          user      Not in the way of the other…
    letters               user      Write letters to people who…
    tables                user      表格摘要工具，用于汇总任何…
    ");
}

#[test]
fn a_narrow_terminal_gets_what_fits() {
    assert_snapshot!(without_styles(&world().terminal("skillful list --source user", 30)), @"
    a-name-that-is-longer-than-a-…
                user      Not in…
    letters     user      Write l…
    tables      user      表格摘…
    ");
}

#[test]
fn a_pipe_gets_whole_descriptions() {
    assert_snapshot!(world().run("skillful list --source user"), @"
    a-name-that-is-longer-than-a-third-of-the-terminal  user      Not in the way of the others.
    letters                                   user      Write letters to people who have waited for long.
    tables                                    user      表格摘要工具，用于汇总任何表格文件的内容并生成报告，适用于所有情况。
    ");
}

#[test]
fn search_results_fit_the_terminal() {
    assert_snapshot!(without_styles(&world().terminal("skillful search waited 表格", 40)), @"
    tables  user  description: 表格
      表格摘要工具，用于汇总任何表格文件的…
    letters  user  description: waited
      Write letters to people who have wait…
    ");
}

#[test]
fn descriptions_are_wrapped_between_words() {
    let shown = world().terminal("skillful inspect letters", 30);
    assert_snapshot!(without_styles(&shown), @"
    letters  user/letters
    Write letters to people who
    have waited for long.

                    path  [world]/home/.agent/skills/letters
                 trusted  yes
                   tools  not
                          limited
     model may choose it  yes
      user may invoke it  yes

    Files  with their size in bytes
             96  SKILL.md
    ");
}

#[test]
fn messages_are_wrapped_between_words() {
    let shown = world().terminal("skillful inspect nothing-like-it", 40);
    assert_snapshot!(without_styles(&shown), @"
    error: Skill 'nothing-like-it' not
           found.
    hint: `skillful list` shows every skill,
          `skillful search` finds one
    ");
}

#[test]
fn findings_are_wrapped_between_words() {
    let world = world();
    world.write("home/.agent/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    let shown = world.terminal("cd; skillful validate .agent/skills/broken", 40);
    assert_snapshot!(without_styles(&shown), @"
    invalid  [world]/home/.agent/skills/broken/SKILL.md
      error    no `description`
               (missing-description): add
               `description:` that says what
               the skill does and when to
               use it
    ");
}

#[test]
fn colours_are_for_terminals() {
    let world = world();
    let line = "skillful list --source user | grep letters";
    assert_snapshot!(plain(world.run(line)), @"letters                                   user      Write letters to people who have waited for long.");
    let line = "skillful --color always list --source user | grep letters";
    assert_snapshot!(plain(world.run(line)), @"␛[1mletters␛[0m                                   ␛[2muser␛[0m      Write letters to people who have waited for long.");
    let line = "cd ../home/.agent/skills/letters; skillful validate .";
    assert_snapshot!(plain(world.terminal(line, 80)), @"␛[32mvalid␛[0m    [world]/home/.agent/skills/letters/SKILL.md");
}

#[test]
fn colours_can_be_refused() {
    let refuse = |world: World, line: &str| {
        let shown = world.terminal(line, 80);
        assert!(!shown.contains('\u{1b}'), "{}", plain(shown));
    };
    refuse(world(), "skillful list --color never");
    refuse(world().with("NO_COLOR", "1"), "skillful list; skillful inspect nothing");
    refuse(world().with("TERM", "dumb"), "skillful list");
    refuse(world().with("NO_COLOR", "1"), "skillful --help; skillful nothing");
}

#[test]
fn errors_are_coloured_on_a_terminal_only() {
    let world = world();
    assert_snapshot!(plain(world.terminal("skillful inspect lettres", 80)), @"
    ␛[1m␛[31merror: ␛[0mSkill 'lettres' not found.
    ␛[2mhint: ␛[0mdid you mean `letters`?
    ");
    assert_snapshot!(plain(world.run("skillful inspect lettres")), @"
    [stderr]
    error: Skill 'lettres' not found.
    hint: did you mean `letters`?
    [exit 1]
    ");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_question_shows_what_is_approved() {
    let world = script(json!(["a b.txt", "-"]), "some words");
    assert_snapshot!(timeless(&world.dialogue(RUN, "[?] ", "n too many\n")), @"
    ✓ use skill text-stats

    Allow this? It runs sh in a sandbox, no network; what it writes is shown to you before it reaches your files (medium risk).
      why    count
      with   text-stats/scripts/stats.sh 'a b.txt' -
      stdin  10 characters: some words
      always this script of this skill, in this project, until its files change
    [y]es once  [c]onversation  [a]lways  [n]o  [v]iew all  [?] n too many
    ✗ run text-stats/scripts/stats.sh a b.txt -  ApprovalDenied
    Done.
    done in [n] s · 3 turns · [n] tokens · `skillful runs show [run]`
    [exit 3]
    ");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_question_says_what_it_does_not_show() {
    let world = script(json!(["x".repeat(3_000) + " last"]), &"y".repeat(5_000));
    let shown = timeless(&world.dialogue(RUN, "[?] ", "n\n"));
    assert_snapshot!(shown.replace(&"x".repeat(100), "[100 x]").replace(&"y".repeat(100), "[100 y]"), @"
    ✓ use skill text-stats

    Allow this? It runs sh in a sandbox, no network; what it writes is shown to you before it reaches your files (medium risk).
      why    count
      with   text-stats/scripts/stats.sh '[100 x][100 x][100 x]xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx … 2475 characters not shown … [100 x]xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx last'
      stdin  5000 characters: [100 y][100 y][100 y][100 y] … 4440 characters not shown … [100 y]yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
      always this script of this skill, in this project, until its files change
    [y]es once  [c]onversation  [a]lways  [n]o  [v]iew all  [?] n
    ✗ run text-stats/scripts/stats.sh [100 x]xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  ApprovalDenied
    Done.
    done in [n] s · 3 turns · [n] tokens · `skillful runs show [run]`
    [exit 3]
    ");
}

#[test]
fn the_plan_ticks_on_lines_of_its_own() {
    let step = |status: &str| json!({"mode": "replace", "plan": {"goal": "count", "steps": [{"id": "s1", "title": "Run the script", "status": status}]}});
    let mut look = act("search_skills", json!({"query": "count"}));
    look["plan_update"] = step("in_progress");
    let mut done = answer("It is printed.");
    done["plan_update"] = step("completed");
    assert_snapshot!(timeless(&scripted(&[look, done]).terminal(RUN, 80)), @"
    ▸ Run the script
    ✓ find skills for count
    It is printed.
    ✓ Run the script
    done in [n] s · 2 turns · [n] tokens
    `skillful runs show [run]`
    ");
}

#[test]
fn ctrl_c_at_a_question_stops_the_run() {
    let world = script(json!([]), "");
    let shown = world.dialogue(RUN, "[?] ", "\u{3}");
    assert!(shown.ends_with("[exit 130]\n") && !shown.contains("to allow it, run"), "{shown}");
    let run = &world.json("skillful runs list --json")["runs"][0];
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("cancelled"), &json!("cancelled")));
}

/// A model that changes a file, makes one and deletes one.
fn changing() -> World {
    let world = World::new().with("TERM", "dumb");
    world.turns(&[
        write("a.txt", "one\nthree\n"),
        write("b.txt", "new\u{1b}[31m\n"),
        call("delete_file", json!({"path": "c.txt"})),
        answer("Done."),
    ]);
    world.write("project/a.txt", "one\ntwo\n").write("project/c.txt", "gone\n");
    world
}

const APPLY: &str = "[?] ";

#[test]
fn changes_are_shown_in_colour_before_they_are_applied() {
    let world = changing();
    // The question itself is coloured, too.
    let shown = world.conversation(COLOURED, &[("[?] ", "v\n"), ("[?] ", "y\n")]);
    let question = shown.find("Allow this?").unwrap();
    assert_snapshot!(plain(timeless(&shown[question..])), @r#"
    Allow this?␛[0m It changes your files: 1 added, 1 changed, 1 deleted (19 bytes) (high risk).
      ␛[33m~␛[0m a.txt  10 bytes
      ␛[32m+␛[0m b.txt  9 bytes
      ␛[1m␛[31m-␛[0m c.txt  5 bytes
    ␛[1m--- a/a.txt␛[0m
    ␛[1m+++ b/a.txt␛[0m
    ␛[2m@@ -1,2 +1,2 @@␛[0m
     one
    ␛[1m␛[31m-two␛[0m
    ␛[32m+three␛[0m
    ␛[1m--- /dev/null␛[0m
    ␛[1m+++ b/b.txt␛[0m
    ␛[2m@@ -0,0 +1 @@␛[0m
    ␛[32m+new\u{1b}[31m␛[0m
    ␛[1m--- a/c.txt␛[0m
    ␛[1m+++ /dev/null␛[0m
    ␛[2m@@ -1 +0,0 @@␛[0m
    ␛[1m␛[31m-gone␛[0m
    [y]es, change my files  [n]o, keep them apart  [v]iew all  [?] v
    ␛[1m--- a/a.txt␛[0m
    ␛[1m+++ b/a.txt␛[0m
    ␛[2m@@ -1,2 +1,2 @@␛[0m
     one
    ␛[1m␛[31m-two␛[0m
    ␛[32m+three␛[0m
    ␛[1m--- /dev/null␛[0m
    ␛[1m+++ b/b.txt␛[0m
    ␛[2m@@ -0,0 +1 @@␛[0m
    ␛[32m+new\u{1b}[31m␛[0m
    ␛[1m--- a/c.txt␛[0m
    ␛[1m+++ /dev/null␛[0m
    ␛[2m@@ -1 +0,0 @@␛[0m
    ␛[1m␛[31m-gone␛[0m
    [y]es, change my files  [n]o, keep them apart  [v]iew all  [?] y
    ␛[32mapplied␛[0m 1 added, 1 changed, 1 deleted
    done in [n] s · 4 turns · [n] tokens · 1 added, 1 changed, 1 deleted · `skillful runs undo [run]`
    "#);
    assert_eq!(world.read("project/a.txt"), "one\nthree\n");
    assert!(!world.path("project/c.txt").exists());
}

#[test]
fn who_says_no_keeps_the_changes_apart() {
    let world = changing();
    let shown = world.conversation(RUN, &[(APPLY, "what\n"), (APPLY, "n\n")]);
    let run =
        world.json("skillful runs list --json")["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let question = shown.find("Allow this?").unwrap();
    assert_snapshot!(timeless(&shown[question..]).replace(&run, "[run]"), @r#"
    Allow this? It changes your files: 1 added, 1 changed, 1 deleted (19 bytes) (high risk).
      ~ a.txt  10 bytes
      + b.txt  9 bytes
      - c.txt  5 bytes
    --- a/a.txt
    +++ b/a.txt
    @@ -1,2 +1,2 @@
     one
    -two
    +three
    --- /dev/null
    +++ b/b.txt
    @@ -0,0 +1 @@
    +new\u{1b}[31m
    --- a/c.txt
    +++ /dev/null
    @@ -1 +0,0 @@
    -gone
    [y]es, change my files  [n]o, keep them apart  [v]iew all  [?] what
    Type one of the letters in brackets; ? explains them.
    [y]es, change my files  [n]o, keep them apart  [v]iew all  [?] n
    ✗ apply the changes  ApprovalDenied
    done in [n] s · 4 turns · [n] tokens · `skillful runs show [run]`
    3 changes wait; to apply: `skillful runs apply [run]`.
    [exit 3]
    "#);
    assert_eq!(world.read("project/a.txt"), "one\ntwo\n");
    assert!(world.run("skillful runs changes last").contains("~ a.txt"));
}

#[test]
fn ctrl_c_at_the_changes_keeps_them_apart() {
    let world = changing();
    let shown = world.dialogue(RUN, APPLY, "\u{3}");
    assert_eq!(world.read("project/a.txt"), "one\ntwo\n", "{shown}");
    assert!(world.run("skillful runs changes last").contains("~ a.txt"), "{shown}");
}

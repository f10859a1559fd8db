//! The interactive terminal: what is to be seen while somebody talks with the agent.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use crate::model_server::{Play, Server, whole};
use crate::turns::{act, answer, call, last_run, read, write};
use crate::world::{Sitting, World};

const CHAT: &str = "skillful chat --model scripted:turns.json";

fn world(actions: &[Value]) -> World {
    let world = World::new();
    world.turns(actions);
    world.write("project/src/main.rs", "fn main() {}\n").write("project/a.txt", "one\ntwo\n");
    world
}

/// An answer of a server.
fn said(text: &str) -> Vec<u8> {
    let message = json!({"role": "assistant", "content": answer(text).to_string()});
    let usage = json!({"prompt_tokens": 1_200, "completion_tokens": 34});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
    whole(200, "Content-Type: application/json\r\n", body.to_string().as_bytes())
}

fn chat_with(server: &Server) -> String {
    format!("skillful chat --model openai:slow --base-url {}", server.url())
}

/// Leaves, and the last thing to be seen.
fn leave(mut sitting: Sitting) -> String {
    sitting.press("\u{4}");
    let (screen, code) = sitting.end();
    assert_eq!(code, Some(0), "{screen}");
    screen
}

#[test]
fn a_conversation_shows_actions_answers_and_how_each_request_ended() {
    let world =
        world(&[read("src/main.rs"), answer("# Title\n\nIt is **short**.\n\n- one\n- two")]);
    let mut sitting = world.sit(CHAT, 100, 50);
    sitting.wait("/help lists the commands\n>");
    sitting.press("look at @src/m\t\r");
    let screen = sitting.wait("/runs");
    let run = last_run(&world);
    assert!(screen.contains("> look at @src/main.rs\n✓ read src/main.rs\n"), "{screen}");
    assert!(screen.contains("Title\n\nIt is short.\n\n• one\n• two\n"), "{screen}");
    assert!(screen.contains("done in ") && screen.contains("2 turns · about "), "{screen}");
    assert!(screen.contains(&run), "{screen}");
    // The file is named to the model.
    let events = world.json("skillful runs show last --json");
    let request = events[0]["data"]["setup"]["request"].as_str().unwrap();
    assert!(request.ends_with("Attached files, to be read first: src/main.rs"), "{request}");
    leave(sitting);
    // What was typed is there the next time, for the user alone.
    assert_eq!(world.mode("home/.agent/chat_history.jsonl"), 0o600);
    let mut sitting = world.sit(CHAT, 100, 50);
    sitting.wait("commands\n>");
    sitting.press("\u{1b}[A");
    sitting.wait("> look at @src/main.rs");
    sitting.press("\u{3}\u{12}look");
    sitting.wait("search: look  look at @src/main.rs");
    sitting.press("\r");
    sitting.wait("> look at @src/main.rs");
    sitting.press("\u{3}");
    sitting.wait_until("an empty line", |screen| screen.ends_with("\n>"));
    leave(sitting);
}

#[test]
fn a_slow_model_is_waited_for_in_sight_and_ctrl_c_comes_back() {
    let server = Server::new(vec![Play::Hang(Vec::new()), Play::Send(said("Now."))]);
    let world = World::new();
    let mut sitting = world.sit(&chat_with(&server), 80, 24);
    sitting.wait("commands\n>");
    sitting.press("first\r");
    let screen = sitting.wait("Ctrl-C stops");
    assert!(screen.contains("waiting for openai:slow, "), "{screen}");
    sitting.press("second\r");
    sitting.wait("queued: second\n>");
    sitting.press("\u{3}");
    // What waited is asked for again.
    sitting.wait("stopped in ");
    let screen = sitting.wait("\n> second");
    assert!(!screen.contains("queued"), "{screen}");
    sitting.press("\r");
    let screen = sitting.wait("1,234 tokens");
    assert!(screen.contains("Now.\n"), "{screen}");
    let screen = leave(sitting);
    assert!(!screen.contains("waiting for"), "{screen}");
}

#[test]
fn what_is_typed_meanwhile_is_done_next() {
    let gate = Arc::new(Barrier::new(2));
    let first = Play::Meet(Arc::clone(&gate), said("First answer."));
    let server = Server::new(vec![first, Play::Send(said("Second answer."))]);
    let world = World::new();
    let mut sitting = world.sit(&chat_with(&server), 80, 40);
    sitting.wait("commands\n>");
    sitting.press("one\r");
    sitting.wait("waiting for");
    sitting.press("two\r");
    sitting.wait("queued: two\n>");
    gate.wait();
    let screen = sitting.wait("Second answer.\n");
    assert!(screen.contains("> one\nFirst answer.\n") && screen.contains("> two\n"), "{screen}");
    leave(sitting);
}

#[test]
fn an_answer_is_seen_while_it_is_written() {
    // A call that is not complete.
    let arguments = format!(r#"{{"content": "**Bold** {}"#, "words ".repeat(500));
    let function = json!({"name": "final_answer", "arguments": arguments});
    let call = json!({"index": 0, "id": "c", "type": "function", "function": function});
    let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let event = format!("data: {delta}\n\n");
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let bytes = format!("{head}{:x}\r\n{event}\r\n", event.len());
    let server = Server::new(vec![Play::Hang(bytes.into_bytes())]);
    let world = World::new();
    let mut sitting = world.sit(&chat_with(&server), 80, 24);
    sitting.wait("commands\n>");
    sitting.press("go\r");
    let screen = sitting.wait("openai:slow answers");
    assert!(screen.contains("words words"), "{screen}");
    sitting.press("\u{3}");
    sitting.wait("stopped in ");
    leave(sitting);
}

#[test]
fn changes_are_put_as_a_difference_and_a_no_is_explained_to_nobody_else() {
    let long: String = (0..40).map(|number| format!("line {number}\n")).collect();
    let world = world(&[write("a.txt", "one\nthree\n"), write("b.txt", &long), answer("Done.")]);
    let mut sitting = world.sit(CHAT, 80, 100);
    sitting.wait("commands\n>");
    sitting.press("change it\r");
    let screen = sitting.wait("[?]");
    let question = &screen[screen.find("Allow this?").unwrap()..];
    let sentence = "Allow this? It changes your files: 1 added, 1 changed";
    assert!(question.starts_with(sentence), "{screen}");
    assert!(question.contains("-two\n+three\n"), "{screen}");
    assert!(question.contains("more lines; v shows all\n[y]es, change my files"), "{screen}");
    assert!(!screen.contains("+line 39"), "{screen}");
    sitting.press("?\r");
    let screen = sitting.wait("Ctrl-C  stop the run");
    assert!(screen.ends_with("[v]iew all  [?]"), "the question is still there:\n{screen}");
    sitting.press("v\r");
    let screen = sitting.wait("+line 39");
    assert!(screen.ends_with("[v]iew all  [?]"), "the question is still there:\n{screen}");
    sitting.press("maybe\r");
    sitting.wait("Type one of the letters");
    sitting.press("\u{1b}");
    let screen = sitting.wait("2 changes wait");
    assert!(screen.contains("asked: it changes your files: 1 added, 1 changed"), "{screen}");
    assert_eq!(world.read("project/a.txt"), "one\ntwo\n");
    sitting.press("/apply\r");
    sitting.wait("> /apply");
    sitting.wait_until("a prompt", |screen| screen.ends_with("\n>"));
    assert_eq!(world.read("project/a.txt"), "one\nthree\n");
    sitting.press("/undo\r");
    sitting.wait("> /undo");
    sitting.wait_until("a prompt", |screen| screen.ends_with("\n>"));
    assert_eq!(world.read("project/a.txt"), "one\ntwo\n");
    leave(sitting);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_command_is_shown_before_and_while_it_runs() {
    let run = |command: &str| call("run_command", json!({"command": command}));
    let noisy = "for i in 1 2 3 4 5 6 7 8 9; do echo number $i; done";
    let world = world(&[run(noisy), run("echo again"), run("sleep 1000"), answer("Done.")]);
    let mut sitting = world.sit(CHAT, 120, 60);
    sitting.wait("commands\n>");
    sitting.press("go\r");
    let screen = sitting.wait("[?]");
    assert!(screen.contains(&format!("  run    {noisy}\n")), "{screen}");
    assert!(screen.contains("[y]es once  [c]onversation"), "{screen}");
    sitting.press("y\r");
    let folded = format!("✓ run {noisy}\n  … 6 more lines\n  number 7\n  number 8\n  number 9\n");
    sitting.wait("run    echo again");
    let screen = sitting.screen();
    assert!(screen.contains(&folded), "{screen}");
    assert!(screen.contains("asked: it runs a command in a sandbox"), "{screen}");
    sitting.press("n not twice\r");
    let screen = sitting.wait("run    sleep 1000");
    assert!(screen.contains("✗ run echo again  ApprovalDenied"), "{screen}");
    sitting.press("y\r");
    sitting.wait("running sleep 1000, ");
    sitting.press("\u{3}");
    let screen = sitting.wait("stopped in ");
    assert_eq!(screen.matches("stopped in ").count(), 1, "{screen}");
    leave(sitting);
    let events = world.json("skillful runs show last --json").to_string();
    assert!(events.contains("not twice"), "the model is told why");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn always_says_what_is_remembered_and_ctrl_c_at_a_question_stops() {
    let world = world(&[call("run_command", json!({"command": "echo a"})), answer("Done.")]);
    let mut sitting = world.sit(CHAT, 120, 60);
    sitting.wait("commands\n>");
    sitting.press("go\r");
    sitting.wait("[a]lways");
    sitting.press("\u{3}");
    let screen = sitting.wait("stopped in ");
    assert!(!screen.contains("ApprovalDenied"), "{screen}");
    sitting.press("again\r");
    sitting.wait("[a]lways");
    sitting.press("a\r");
    let screen = sitting.wait("Done.");
    let words = "yes, and remembered: exactly `echo a` in this project, until you revoke it";
    assert!(screen.contains(words), "{screen}");
    sitting.press("once more\r");
    sitting.wait_until("two answers", |screen| screen.matches("Done.").count() == 2);
    leave(sitting);
}

#[test]
fn the_plan_is_one_block_that_ticks() {
    let plan = |status: &str| json!({"mode": "replace", "plan": {"goal": "g", "steps": [{"id": "a", "title": "Look around", "status": status}]}});
    let mut first = act("search_skills", json!({"query": "count"}));
    first["plan_update"] = plan("in_progress");
    let mut last = answer("Done.");
    last["plan_update"] = plan("completed");
    let world = world(&[first, last]);
    let mut sitting = world.sit(CHAT, 80, 30);
    sitting.wait("commands\n>");
    sitting.press("go\r");
    let screen = sitting.wait("done in ");
    assert_eq!(screen.matches("Look around").count(), 1, "{screen}");
    sitting.press("/plan\r");
    sitting.wait("> /plan\n✓ Look around");
    leave(sitting);
}

#[test]
fn a_long_paste_is_a_mark_and_is_sent_whole() {
    let world = world(&[answer("Read.")]);
    let lines: String = (0..10_000).map(|number| format!("{number}\r")).collect();
    let mut sitting = world.sit(CHAT, 80, 24);
    sitting.wait("commands\n>");
    sitting.press(&format!("see \u{1b}[200~{lines}\u{1b}[201~!"));
    sitting.wait("> see [pasted 10000 lines]!");
    sitting.press("\r");
    let screen = sitting.wait("Read.");
    assert!(screen.contains("… 9997 more lines"), "{screen}");
    leave(sitting);
    let events = world.json("skillful runs show last --json");
    let request = events[0]["data"]["setup"]["request"].as_str().unwrap();
    assert_eq!(request.lines().count(), 10_001);
}

#[test]
fn lines_commands_and_skills_are_completed_and_explained() {
    let world = world(&[answer("Done.")]);
    world.skill("home/.agent/skills/letters", "Write letters.");
    world.skill("home/.agent/skills/help", "Never reached by its name.");
    let mut sitting = world.sit(CHAT, 80, 40);
    sitting.wait("commands\n>");
    sitting.press("/le");
    sitting.wait("> /le\n  /letters  Write letters.");
    sitting.press("\tone\u{1b}\rtwo\\\rthree");
    sitting.wait("> /letters one\n  two\n  three");
    sitting.press("\r");
    sitting.wait("Done.");
    assert_eq!(
        world.json("skillful runs show last --json")[0]["data"]["setup"]["request"],
        "one\ntwo\nthree"
    );
    sitting.press("/skills\r");
    sitting.wait("The command /help hides your skill `help`");
    sitting.press("/mode read-only\r");
    sitting.wait("mode read-only");
    sitting.press("/mode nonsense\r");
    sitting.wait("unknown mode `nonsense`");
    sitting.press("/model offline\r");
    sitting.wait("model offline");
    sitting.press("/cost\r");
    sitting.wait("1 request · about");
    sitting.press("/nothing-like-it\r");
    sitting.wait("'nothing-like-it' not found");
    sitting.press("/exit\r");
    assert_eq!(sitting.end().1, Some(0));
}

#[test]
fn ctrl_c_twice_leaves() {
    let world = world(&[answer("Done.")]);
    let mut sitting = world.sit("skillful", 80, 24);
    sitting.wait("commands\n>");
    sitting.press("draft\u{3}");
    sitting.wait_until("an empty line", |screen| screen.ends_with("\n>"));
    sitting.press("\u{3}");
    sitting.wait("Ctrl-C again leaves.");
    sitting.press("\u{3}");
    assert_eq!(sitting.end().1, Some(0));
}

#[test]
fn any_width_will_do_and_it_may_change() {
    let wide = "A sentence with 表格摘要 and e\u{301} that goes on and on, and has to be wrapped at forty columns.";
    for columns in [40, 250] {
        let world = world(&[read("src/main.rs"), write("a.txt", "x\n"), answer(wide)]);
        let mut sitting = world.sit(CHAT, columns, 50);
        sitting.wait("commands");
        sitting.press("go\r");
        sitting.wait("[?]");
        sitting.resize(columns - 5, 40);
        sitting.press("?\r");
        sitting.wait("stop the run");
        sitting.press("y\r");
        let screen = sitting.wait("/undo");
        assert!(screen.contains("✓ read src/main.rs"), "{screen}");
        assert!(screen.contains("表格摘要 and e\u{301}"), "{screen}");
        leave(sitting);
    }
}

#[test]
fn without_colours_there_are_none_and_a_dumb_terminal_gets_no_escapes() {
    let actions = [read("src/main.rs"), answer("# Title\n\n`code`")];
    let quiet = world(&actions).with("NO_COLOR", "1");
    let mut sitting = quiet.sit(CHAT, 80, 30);
    sitting.wait("commands\n>");
    sitting.press("go\r");
    sitting.wait("# Title\n\n`code`\n");
    sitting.wait("/runs");
    let written = String::from_utf8_lossy(&sitting.written).into_owned();
    let mut codes = written.split("\u{1b}[").skip(1);
    assert!(
        codes.all(|code| !code
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')),
        "{written:?}"
    );
    leave(sitting);
    let dumb = world(&actions).with("TERM", "dumb");
    let mut sitting = dumb.sit(CHAT, 80, 30);
    sitting.wait(">");
    sitting.press("go\n");
    let screen = sitting.wait("/runs");
    assert!(screen.contains("✓ read src/main.rs\n# Title\n\n`code`\ndone in "), "{screen}");
    sitting.press("\u{4}");
    sitting.wait_until("an end", |_| true);
    let written = sitting.written.clone();
    assert!(!written.contains(&0x1b), "{}", String::from_utf8_lossy(&written));
    assert_eq!(sitting.end().1, Some(0));
}

#[test]
fn a_pipe_is_read_line_by_line() {
    let world = world(&[answer("# One")]);
    let seen =
        world.run(&format!("printf 'first\\n\\n/cost\\nsecond\\n/exit\\nnever\\n' | {CHAT}"));
    let (out, rest) = seen.split_once("[stderr]\n").unwrap();
    assert_eq!(out, "# One\n# One\n");
    assert!(rest.starts_with("1 request · about "), "{rest}");
    let failed = world.run(&format!("echo /nothing-like-it | {CHAT}"));
    assert!(failed.contains("not found") && failed.ends_with("[exit 1]\n"), "{failed}");
    let nothing = world.run("skillful </dev/null");
    assert!(nothing.contains("Usage:") && nothing.ends_with("[exit 2]\n"), "{nothing}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn the_second_request_continues_the_first_and_so_do_approvals_for_the_conversation() {
    let world = world(&[call("run_command", json!({"command": "echo hello"})), answer("Said.")]);
    let mut sitting = world.sit(CHAT, 100, 40);
    sitting.wait("commands\n>");
    sitting.press("one\r");
    sitting.wait("[c]onversation");
    sitting.press("c\r");
    sitting.wait("done in ");
    let first = last_run(&world);
    // Nobody is asked again.
    sitting.press("two\r");
    sitting.wait_until("a second run", |screen| screen.matches("done in ").count() == 2);
    let second = last_run(&world);
    let events = world.json("skillful runs show last --json");
    assert_eq!(events[0]["data"]["setup"]["continues"]["run"], first.as_str());
    leave(sitting);
    let listed = world.run("skillful runs list --all");
    assert!(listed.contains("2 runs") && listed.contains(&second), "{listed}");
    assert!(world.run(&format!("skillful runs verify {second}")).starts_with("intact"));
}

#[test]
fn a_conversation_is_left_taken_up_shortened_and_exported() {
    let world = world(&[answer("Fine.")]);
    world.run("skillful run -q --model scripted:turns.json 'the first request'");
    let first = last_run(&world);
    let lines = format!("/continue {first}\\n/compact\\nand then?\\n/export\\n/new\\nagain\\n");
    let seen = world.run(&format!("printf '{lines}' | {CHAT} -q"));
    let places = ["Fine.", "## the first request", "## and then?"].map(|text| seen.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{seen}");
    let listed = world.json("skillful --json runs list");
    let continued: Vec<&Value> =
        listed["runs"].as_array().unwrap().iter().map(|run| &run["continues"]).collect();
    assert_eq!(continued, [&Value::Null, &Value::from(first.as_str()), &Value::Null]);
}

#[test]
fn a_conversation_is_picked_from_a_list() {
    let world = world(&[answer("Fine.")]);
    world.run("skillful run -q --model scripted:turns.json 'the first request'");
    let first = last_run(&world);
    world.run("skillful run -q --model scripted:turns.json 'another request'");
    let mut sitting = world.sit(&format!("{CHAT} --continue"), 100, 40);
    let screen = sitting.wait("Which one?");
    assert!(
        screen.contains("1 another request") && screen.contains("2 the first request"),
        "{screen}"
    );
    assert!(screen.contains("1 turn, final_answer"), "{screen}");
    sitting.press("2\r");
    sitting.wait("commands\n>");
    sitting.press("and then?\r");
    sitting.wait("done in ");
    leave(sitting);
    let events = world.json("skillful runs show last --json");
    assert_eq!(events[0]["data"]["setup"]["continues"]["run"], first.as_str());
    // Without a terminal it is the last one.
    let last = last_run(&world);
    assert_eq!(world.run(&format!("echo more | {CHAT} --continue -q")), "Fine.\n");
    let events = world.json("skillful runs show last --json");
    assert_eq!(events[0]["data"]["setup"]["continues"]["run"], last.as_str());
}

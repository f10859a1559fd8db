//! What scripts change for a client: put to the person behind it at once, and in the workspace only if they agree.

#![cfg(all(target_os = "linux", not(portable)))]

use std::path::Path;
use std::sync::Arc;

use runtime::changes::KeptRun;
use runtime::journal::verify;
use serde_json::{Value, json};
use skillful_serve::shelf::Shelf;
use tools::changes::Selection;

use crate::support::{Client, World, closed, read};

const WRITES: &str = "#!/bin/sh\necho made by $1 > made.txt\necho ran\n";
/// Also below `.git`, which is asked about on its own.
const WRITES_TWICE: &str = "#!/bin/sh\necho made > made.txt\necho kept > .git/note\necho ran\n";
const ASKS: &str = r#"{"run_script": "allow"}"#;

fn world(script: &str) -> World {
    let world = World::with_rule_text(ASKS);
    world.skill("alpha", "").write("explicit/alpha/scripts/work.sh", script);
    world
}

fn work() -> Value {
    let arguments = json!({"name": "alpha", "relative_path": "scripts/work.sh", "args": ["x"]});
    json!({"name": "run_skill_script", "arguments": arguments})
}

/// A client whose person can be asked, and which has the skill.
async fn client(shelf: &Arc<Shelf>) -> Client {
    let mut client = Client::connect_with(shelf, json!({"elicitation": {}})).await;
    client.call("skill", json!({"name": "alpha"})).await;
    client
}

async fn run(client: &mut Client) -> String {
    let answer = client.ask("tools/call", work()).await;
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

fn made(world: &World) -> Option<String> {
    std::fs::read_to_string(world.root.join("project/made.txt")).ok()
}

fn id(record: &Path) -> String {
    record.file_name().unwrap().to_string_lossy().into_owned()
}

/// The session's record, once it has ended: it is sound, and says what became of the changes.
async fn record(world: &World, shelf: &Arc<Shelf>) -> Value {
    assert!(closed(shelf).await);
    let [record] = &world.records()[..] else { panic!("one session") };
    let verified = verify(record, None).unwrap();
    assert!(verified.ok, "{:?}", verified.problems);
    assert_eq!(read(&record.join("final.md")), "The client ended the session.");
    serde_json::from_str(&read(&record.join("run.json"))).unwrap()
}

#[tokio::test]
async fn changes_reach_the_clients_files_when_the_person_agrees_and_not_before() {
    let world = world(WRITES);
    let shelf = world.shelf();
    let mut client = client(&shelf).await;
    let called = client.begin("tools/call", work()).await;
    let question = client.hear().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().unwrap();
    for part in ["apply_changes", "+ made.txt", "+made by x"] {
        assert!(message.contains(part), "{message}");
    }
    let scope = &question["params"]["requestedSchema"]["properties"]["scope"];
    assert_eq!(scope, &Value::Null, "each change set is looked at");
    assert_eq!(made(&world), None);
    let yes = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"scope": "session"}}});
    client.say(&yes.to_string()).await;
    let answer = client.hear().await;
    assert_eq!(answer["id"], called);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("ran") && text.ends_with("\n[Changed in the workspace: made.txt]"),
        "{text}"
    );
    assert_eq!(made(&world).as_deref(), Some("made by x\n"));
    // The same again changes nothing, and asks nothing.
    assert!(!run(&mut client).await.contains("workspace"));
    assert_eq!(client.heard.len(), 0);
    // What the client makes of it is what the next script finds.
    std::fs::write(world.root.join("project/made.txt"), "by the client\n").unwrap();
    client.answer = json!({"action": "decline"});
    run(&mut client).await;
    assert_eq!(client.heard.len(), 1, "once was once");
    let message = client.heard[0]["params"]["message"].as_str().unwrap();
    assert!(message.contains("-by the client"), "{message}");
    assert_eq!(made(&world).as_deref(), Some("by the client\n"));
    drop(client);
    let summary = record(&world, &shelf).await;
    assert_eq!(summary["changes"]["applied"][0]["paths"], json!(["made.txt"]));
}

#[tokio::test]
async fn what_the_person_does_not_want_stays_apart() {
    let world = world(WRITES);
    let shelf = world.shelf();
    let mut client = client(&shelf).await;
    client.answer = json!({"action": "decline"});
    let text = run(&mut client).await;
    let [record_folder] = &world.records()[..] else { panic!("one session") };
    let expected = format!(
        "\n[Kept apart from the workspace, because the user did not agree: made.txt. The user applies it with: skillful runs apply {}]",
        id(record_folder)
    );
    assert!(text.ends_with(&expected), "{text}");
    assert_eq!((made(&world), client.heard.len()), (None, 1));
    // Another call that changes nothing does not speak of it, and asks nobody.
    let other = client.call("skill", json!({"name": "alpha"})).await;
    assert_eq!(other, "alpha already loaded; see above.");
    assert_eq!(client.heard.len(), 1);
    drop(client);
    let summary = record(&world, &shelf).await;
    assert_eq!(summary["changes"]["kept"]["paths"], json!(["made.txt"]));
    assert_eq!(made(&world), None);
}

#[tokio::test]
async fn where_nobody_can_be_asked_changes_are_kept_for_the_user_to_apply() {
    let world = world(WRITES);
    let shelf = world.owned_shelf();
    let mut client = Client::connect(&shelf).await;
    client.call("skill", json!({"name": "alpha"})).await;
    let text = run(&mut client).await;
    let [folder] = &world.records()[..] else { panic!("one session") };
    let command = format!("skillful runs apply {}]", id(folder));
    assert!(
        text.contains("nobody could be asked: made.txt.") && text.ends_with(&command),
        "{text}"
    );
    assert_eq!((made(&world), client.heard.len()), (None, 0));
    drop(client);
    record(&world, &shelf).await;
    // What that command does.
    let runtime = world.runtime_at_home();
    let index = runtime.index().unwrap();
    let mut kept = KeptRun::open(&runtime, &index, &id(folder), "runs apply").unwrap();
    let set = kept.collect().unwrap();
    assert_eq!(kept.apply(&set, &Selection::default()).unwrap(), ["made.txt"]);
    drop(kept);
    assert_eq!(made(&world).as_deref(), Some("made by x\n"));
    assert_eq!(record(&world, &shelf).await["changes"]["kept"], Value::Null);
}

#[tokio::test]
async fn what_is_below_git_is_asked_on_its_own_and_each_answer_counts_once() {
    let world = world(WRITES_TWICE);
    let shelf = world.shelf();
    let mut client = client(&shelf).await;
    client.answer = json!({"action": "accept"});
    let text = run(&mut client).await;
    let end = "\n[Changed in the workspace: made.txt]\n[Changed in the workspace: .git/note]";
    assert!(text.ends_with(end), "{text}");
    let messages: Vec<&str> =
        client.heard.iter().filter_map(|heard| heard["params"]["message"].as_str()).collect();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].contains("made.txt") && !messages[0].contains(".git/note"));
    assert!(messages[1].contains(".git/note") && !messages[1].contains("made.txt"));
    assert_eq!(read(&world.root.join("project/.git/note")), "kept\n");
}

#[tokio::test]
async fn a_question_that_was_given_up_leaves_the_changes_and_the_next_call_is_its_own() {
    let world = world(WRITES_TWICE);
    world.skill("beta", "");
    let shelf = world.shelf();
    let mut client = client(&shelf).await;
    let called = client.begin("tools/call", work()).await;
    let question = client.hear().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": called}});
    client.say(&cancel.to_string()).await;
    let beta = client.call("skill", json!({"name": "beta"})).await;
    assert!(beta.starts_with("[Skill: beta"), "{beta}");
    // Too late.
    let late = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    client.say(&late.to_string()).await;
    client.ask("ping", json!({})).await;
    assert_eq!(made(&world), None);
    drop(client);
    let summary = record(&world, &shelf).await;
    assert_eq!(summary["changes"]["kept"]["paths"], json!([".git/note", "made.txt"]));
    assert_eq!((made(&world), read(&world.root.join("project/.git/note"))), (None, String::new()));
}

#[tokio::test]
async fn a_client_that_goes_away_at_the_question_leaves_a_finished_record_and_the_changes() {
    let world = world(WRITES);
    let shelf = world.shelf();
    let mut client = client(&shelf).await;
    client.begin("tools/call", work()).await;
    assert_eq!(client.hear().await["method"], "elicitation/create");
    drop(client);
    let summary = record(&world, &shelf).await;
    assert_eq!(summary["changes"]["kept"]["paths"], json!(["made.txt"]));
    assert_eq!(made(&world), None);
    assert!(world.records()[0].join("layer").is_dir(), "the files are there");
}

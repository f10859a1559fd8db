//! The whole agent with a real language model: it selects a skill, loads it, acts and answers.
//!
//! `SKILLFUL_LIVE_BASE_URL` names an OpenAI-compatible server, such as llama.cpp's; without it there is nothing to test.
//! `SKILLFUL_LIVE_REQUESTS` limits how many requests are made, for a short form.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::turns::events;
use crate::world::World;

/// A skill, what it is for, and something that only its body says.
const SKILLS: [(&str, &str, &str); 8] = [
    (
        "password-policy",
        "The house rules for passwords: length, characters, expiry.",
        "Passwords have at least 17 characters and expire after 400 days.",
    ),
    (
        "unit-converter",
        "Convert lengths and weights between units, also rare ones.",
        "Run the script scripts/convert.sh with two arguments, the number and the unit. It prints the result; answer with it.",
    ),
    (
        "commit-message",
        "How commit messages are written in this repository.",
        "A commit message begins with a ticket number, as in `ZORK-12: Add the thing`.",
    ),
    (
        "invoice-check",
        "Check an invoice, and where invoices are sent.",
        "Invoices are sent to billing@zork.example and to nobody else.",
    ),
    (
        "translate-german",
        "Translate words and short texts into German in the house style.",
        "In the house style a kettle is a `Kochkanne`.",
    ),
    (
        "release-notes",
        "Write release notes for users, and who approves them.",
        "Release notes are approved by Ada Quux before they are published.",
    ),
    (
        "meeting-notes",
        "Turn rough notes of a meeting into minutes, and how decisions are marked in them.",
        "In minutes every decision is marked with the word BESCHLUSS.",
    ),
    (
        "csv-report",
        "Count and summarise the rows of a CSV file.",
        "Run the script scripts/rows.sh with the name of the file as its only argument. It prints the number of rows; answer with it.",
    ),
];

/// A request, the skill it needs, and what a right answer has.
const REQUESTS: [(&str, &str, &str); 8] = [
    ("After how many days does a password expire here?", "password-policy", "400"),
    ("How many metres are 4 Elbonian yards?", "unit-converter", "6.25"),
    ("What does a commit message begin with in this repository?", "commit-message", "ticket"),
    ("Where do I send an invoice?", "invoice-check", "billing@zork.example"),
    ("Translate the word kettle into German.", "translate-german", "Kochkanne"),
    ("Who approves the release notes?", "release-notes", "Quux"),
    ("How is a decision marked in our minutes?", "meeting-notes", "BESCHLUSS"),
    ("How many rows does the file sales.csv have?", "csv-report", "731"),
];

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A user of the server with these skills.
fn world(url: &str, settings: &Value, turns: u32) -> World {
    let world = World::new();
    for (name, description, body) in SKILLS {
        let text =
            format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n");
        world.write(&format!("home/.agent/skills/{name}/SKILL.md"), text);
    }
    let script = |skill: &str, name: &str, text: &str| {
        world.write(
            &format!("home/.agent/skills/{skill}/scripts/{name}"),
            format!("#!/bin/sh\n{text}\n"),
        );
    };
    script("unit-converter", "convert.sh", "echo \"$1 $2 are 6.25 metres\"");
    script("csv-report", "rows.sh", "echo 731 rows");
    world.write("project/sales.csv", "item,amount\npen,3\n");
    let mut model = json!({
        "provider": "openai", "name": "live", "base_url": url, "protocol": "json", "max_tokens": 400,
        // The server would read the rules anew in every turn.
        "params": {"temperature": 0, "seed": 1, "cache_prompt": true},
    });
    let given = settings.as_object().unwrap().clone();
    model.as_object_mut().unwrap().extend(given);
    let budget = json!({"max_turns": turns, "max_wall_seconds": 300});
    let settings = json!({"model": model, "budget": budget, "registry": {"precedence": ["user"]}});
    world.write("home/.agent/config.json", settings.to_string());
    world
}

fn run(world: &World, request: &str) -> Value {
    world.json(&format!("skillful run --yes --json '{request}'"))
}

/// What was done in the last run.
fn actions(world: &World) -> Vec<Value> {
    let events = events(world);
    let planned = events.iter().filter(|event| event["type"] == "action_planned");
    planned.map(|event| event["data"]["action"].clone()).collect()
}

#[test]
fn a_real_model_selects_loads_acts_and_answers() {
    let Some(url) = setting("SKILLFUL_LIVE_BASE_URL") else {
        eprintln!("skipped: SKILLFUL_LIVE_BASE_URL names no server with a language model");
        return;
    };
    let most = setting("SKILLFUL_LIVE_REQUESTS").and_then(|text| text.parse().ok());
    let requests = &REQUESTS[..REQUESTS.len().min(most.unwrap_or(usize::MAX))];
    let (mut selected, mut right, mut read, mut written) = (0, 0, 0, 0);
    let mut time = Duration::ZERO;
    for (request, skill, needle) in requests {
        let world = world(&url, &json!({}), 6);
        let began = Instant::now();
        let result = run(&world, request);
        let took = began.elapsed();
        let answer = result["answer"].as_str().unwrap_or_default();
        let has_skill =
            result["skills"].as_array().is_some_and(|skills| skills.contains(&json!(skill)));
        let is_right = has_skill && result["status"] == "completed" && answer.contains(needle);
        let tokens = |key: &str| result["usage"][key].as_u64().unwrap_or(0);
        selected += usize::from(has_skill);
        right += usize::from(is_right);
        read += tokens("input_tokens");
        written += tokens("output_tokens");
        time += took;
        let kinds: Vec<String> = actions(&world)
            .iter()
            .map(|action| action["type"].as_str().unwrap_or("?").to_owned())
            .collect();
        let mark = if is_right { "right" } else { "WRONG" };
        eprintln!(
            "{mark} {:>5.1} s  {request}  {}  {answer:?}",
            took.as_secs_f64(),
            kinds.join(" ")
        );
        assert!(result["usage"]["estimated"] == false, "the server counts tokens: {result}");
    }
    let count = requests.len();
    eprintln!(
        "{right} of {count} answers right, {selected} of {count} skills; {read} tokens read, {written} written, {:.0} s",
        time.as_secs_f64()
    );
    // Chance would select one skill of eight, and answer nothing right.
    assert!(selected * 4 >= count * 3, "{selected} of {count} skills are right");
    assert!(right * 2 >= count, "{right} of {count} answers are right");
}

#[test]
fn plain_and_streamed_replies_lead_to_the_same_action() {
    let Some(url) = setting("SKILLFUL_LIVE_BASE_URL") else {
        eprintln!("skipped: SKILLFUL_LIVE_BASE_URL names no server with a language model");
        return;
    };
    let [streamed, plain] = [true, false].map(|stream| {
        // Without the cache, so that the same words give the same reply.
        let settings = json!({"stream": stream, "params": {"temperature": 0, "seed": 1}});
        // One turn: what comes later depends on the path of the world, which the model is told with the skill.
        let world = world(&url, &settings, 1);
        run(&world, REQUESTS[0].0);
        let actions = actions(&world);
        assert_eq!(actions.len(), 1, "{actions:?}");
        // The two prompts differ in their marks, so the words of a reason may differ, too.
        (actions[0]["type"].clone(), actions[0]["payload"]["skills"][0]["name"].clone())
    });
    assert_eq!(streamed, plain);
}

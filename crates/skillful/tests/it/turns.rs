//! What a scripted model says, an action a turn, and what a run made of it.

use serde_json::{Value, json};

use crate::world::World;

/// All that it says.
pub(crate) fn turns(actions: &[Value]) -> Value {
    json!({"turns": actions})
}

pub(crate) fn act(kind: &str, payload: Value) -> Value {
    json!({"action": {"type": kind, "payload": payload}})
}

pub(crate) fn answer(content: &str) -> Value {
    act("final_answer", json!({"content": content}))
}

pub(crate) fn call(tool: &str, params: Value) -> Value {
    act("call_tool", json!({"tool": tool, "params": params}))
}

pub(crate) fn read(path: &str) -> Value {
    call("read_file", json!({"path": path}))
}

pub(crate) fn write(path: &str, content: &str) -> Value {
    call("write_file", json!({"path": path, "content": content}))
}

pub(crate) fn select(names: &[&str]) -> Value {
    act("select_skills", json!({"skills": names, "reason": "it fits"}))
}

pub(crate) fn run_script(skill: &str, path: &str, args: &[&str]) -> Value {
    act("run_script", json!({"skill": skill, "relative_path": path, "args": args}))
}

/// The name of the last run.
pub(crate) fn last_run(world: &World) -> String {
    world.json("skillful runs list --json")["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

/// The events of the last run.
pub(crate) fn events(world: &World) -> Vec<Value> {
    world.json("skillful runs show last --json").as_array().unwrap().clone()
}

/// Codes of what the model observed in the last run.
pub(crate) fn codes(world: &World) -> Vec<Value> {
    observed(&events(world))
}

/// Codes of what the model observed, by these events.
pub(crate) fn observed(events: &[Value]) -> Vec<Value> {
    let observed = events.iter().filter(|event| event["type"] == "observation_recorded");
    observed.map(|event| event["data"]["code"].clone()).collect()
}

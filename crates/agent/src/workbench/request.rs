//! What actions would touch, in the words of the permission engine.

use serde_json::{Value, json};
use skill::index::Entry;
use tools::call::Call;
use tools::permission::{Request as Permission, Risk, SkillHash};

use crate::action::Action;
use crate::step::Request;

pub(super) fn search(action: &Action, query: &str) -> Request {
    Request {
        action: action.clone(),
        permission: "search_skills".to_owned(),
        patterns: vec![query.to_owned()],
        risk: Risk::Low,
        effect: "searches the names and descriptions of skills".to_owned(),
        params: json!({"query": query}),
        skill_hash: None,
        read_only: true,
    }
}

/// Reading from skills; allowed or not by their names.
pub(crate) fn of_skills(action: &Action, entries: &[&Entry]) -> Request {
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    Request {
        action: action.clone(),
        permission: "skill".to_owned(),
        effect: format!("reads from the skill {}", names.join(", ")),
        patterns: names,
        risk: Risk::Low,
        params: payload(action),
        skill_hash: Some(metadata_hash(entries)),
        read_only: true,
    }
}

/// What the skills say about themselves: an approval to load them ends when that changes.
fn metadata_hash(entries: &[&Entry]) -> SkillHash {
    let json = serde_json::to_vec(entries).unwrap_or_default();
    SkillHash(format!("sha256:{}", crate::sha256(&json)))
}

pub(super) fn of_call(action: &Action, call: &Call) -> Request {
    Request {
        action: action.clone(),
        permission: call.permission().to_owned(),
        patterns: call.patterns(),
        risk: call.risk(),
        effect: call.effect(),
        params: call.params(),
        skill_hash: None,
        read_only: call.risk() == Risk::Low,
    }
}

pub(super) fn payload(action: &Action) -> Value {
    let json = serde_json::to_value(action).unwrap_or_default();
    json.get("payload").cloned().unwrap_or_default()
}

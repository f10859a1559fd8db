//! What actions would touch, in the words of the permission engine.

use agent::action::Action;
use agent::request::Request;
use permission::{Effect, Engine, Permission, Request as _, SkillHash};
use serde_json::{Value, json};
use skill::index::Entry;
use skill::load::Files;
use tools::call::Call;

pub(super) fn search(action: &Action, query: &str) -> Request {
    Request {
        patterns: vec![query.to_owned()],
        effect: "searches the names and descriptions of skills".to_owned(),
        params: json!({"query": query}),
        ..Request::new(action.clone(), Permission::SearchSkills)
    }
}

pub(super) fn read_back(action: &Action, reference: &str) -> Request {
    Request {
        patterns: vec![reference.to_owned()],
        effect: "reads back what this run was told before".to_owned(),
        params: json!({"ref": reference}),
        ..Request::new(action.clone(), Permission::ReadObservation)
    }
}

/// Reading from skills; allowed or not by their names.
pub(crate) fn of_skills(action: &Action, entries: &[&Entry], engine: &Engine) -> Request {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let patterns: Vec<String> =
        entries.iter().map(|entry| entry.rule_name().into_owned()).collect();
    let asks = |pattern: &String| engine.action(Permission::Skill, pattern) == Effect::Ask;
    // Their files are only read to find out what an approval would be bound to.
    let skill_hash = if patterns.iter().any(asks) { content_hash(entries) } else { None };
    let unbound = skill_hash.is_none() && patterns.iter().any(asks);
    let note = if unbound { "; not all of its files can be checked" } else { "" };
    Request {
        effect: format!("reads from the skill {}{note}", names.join(", ")),
        patterns,
        params: payload(action),
        skill_hash,
        ..Request::new(action.clone(), Permission::Skill)
    }
}

/// Everything that the skills hold: an approval to load them ends when that changes.
fn content_hash(entries: &[&Entry]) -> Option<SkillHash> {
    let hash = |entry: &&Entry| Files::open(entry).ok()?.content().hash().ok().cloned();
    let hashes: Vec<_> = entries.iter().map(hash).collect::<Option<_>>()?;
    match hashes.as_slice() {
        [hash] => Some(SkillHash(hash.to_string())),
        hashes => {
            let json = serde_json::to_vec(hashes).unwrap_or_default();
            Some(SkillHash(format!("sha256:{}", basics::sha256::Sha256::of(&json))))
        }
    }
}

pub(super) fn of_call(action: &Action, call: &Call) -> Request {
    Request {
        patterns: call.patterns(),
        risk: call.risk(),
        effect: call.effect(),
        params: call.params(),
        read_only: matches!(call, Call::ReadFile(_) | Call::ListDir(_) | Call::Grep(_)),
        ..Request::new(action.clone(), call.permission())
    }
}

pub(super) fn payload(action: &Action) -> Value {
    let json = serde_json::to_value(action).unwrap_or_default();
    json.get("payload").cloned().unwrap_or_default()
}

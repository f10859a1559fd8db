//! Events for tests, of which only what matters is given.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use agent::event::{Event, EventData};
use serde_json::{Value, json};

/// What an event of a type says at least.
fn template(kind: &str) -> Value {
    let hash = "0".repeat(64);
    let request = json!({"action": {"type": "final_answer", "payload": {"content": ""}}, "permission": "run_script",
        "patterns": [], "risk": "low", "effect": "", "params": null, "skill_hash": null, "read_only": true});
    let approval = json!({"id": "ap_1", "tool": "run_script", "risk": "medium", "reason": "", "params": null,
        "effect": "", "replay": ""});
    let refusal = json!({"code": "ToolNotAllowed", "message": "", "hint": ""});
    let left =
        json!({"turns": 1, "tool_calls": 1, "script_runs": 1, "context_chars": 1, "seconds": 1});
    let report = json!({"path": "", "bytes_read": 0, "chars_returned": 0, "truncated": false, "file_sha256": hash,
        "text_sha256": "", "dropped_sections": [], "storage_ref": null, "diagnostics": []});
    match kind {
        "run_started" => {
            json!({"setup": {"run_id": "20261115_083000_k3f9", "request": "go", "budget": {}, "patience": {},
            "invoked": null, "preloaded": [], "kind": "own"}, "tools": []})
        }
        "run_finished" => json!({"status": "completed", "usage": {}, "spent": {}}),
        "turn_started" => json!({"budget": left}),
        "model_request" => {
            json!({"attempt": 1, "prompt": {"sha256": hash, "chars": 0, "messages": 0}, "estimated_tokens": 0})
        }
        "model_response" => {
            let reply = json!({"outcome": "failed", "code": "ModelError", "message": ""});
            json!({"elapsed_ms": 1, "attempt": 1, "reply": reply})
        }
        "action_validated" => {
            json!({"elapsed_ms": 1, "prepared": {"verdict": "allowed", "request": request,
            "decision": {"permission": "run_script", "rulings": []}, "question": approval, "refusal": refusal}})
        }
        "action_executed" => {
            json!({"elapsed_ms": 1, "action": "call_tool", "ok": true, "observation": {"text": ""}})
        }
        "observation_recorded" => {
            json!({"number": 1, "action": "call_tool", "ok": true, "code": null, "chars": 0,
            "sha256": hash, "storage_ref": null})
        }
        "budget_updated" => json!({"spent": {}, "left": left}),
        "skill_loaded" => {
            json!({"skill": {"source": "user", "hash": "", "allowed_tools": null, "run_mode": "inline",
            "report": report}})
        }
        "resource_loaded" => json!({"skill": "alpha", "chunk": "c1"}),
        "changes_made" | "changes_applied" | "changes_undone" => {
            json!({"added": 1, "changed": 0, "deleted": 0, "bytes": 1, "paths": ["a.txt"], "ref": "", "sha256": hash})
        }
        "question_asked" => json!({"number": 1, "about": "task", "question": "Which?"}),
        "question_answered" => json!({"elapsed_ms": 1, "number": 1, "answer": "nobody"}),
        "approval_required" => json!({"approval": approval}),
        "approval_granted" | "approval_denied" => {
            json!({"elapsed_ms": 1, "id": "ap_1", "tool": "run_script", "answer": {"answer": "once"}})
        }
        _ => json!({}),
    }
}

fn merge(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                merge(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

/// What an event says, whether or not it makes sense.
pub(crate) fn raw(kind: &str, data: Value) -> EventData {
    let line = json!({"v": 2, "seq": 1, "ts": "", "run_id": "", "turn": 1, "type": kind, "data": data, "prev": ""});
    serde_json::from_value::<Event>(line).unwrap().data
}

/// What an event of a type says, besides what it must.
pub(crate) fn said(kind: &str, data: Value) -> EventData {
    let mut whole = template(kind);
    merge(&mut whole, data);
    let said = raw(kind, whole.clone());
    assert!(!matches!(said, EventData::Unknown(_)), "{kind}: {whole}");
    said
}

/// Changes what an event says.
pub(crate) fn edit(event: &mut Event, change: impl FnOnce(&mut Value)) {
    let mut data = json!(event.data)["data"].take();
    change(&mut data);
    event.data = said(event.data.kind(), data);
}

pub(crate) fn is(event: &Event, kind: &str) -> bool {
    event.data.kind() == kind
}

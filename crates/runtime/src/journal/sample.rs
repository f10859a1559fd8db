//! Events for tests.

use agent::budget::{Left, Spent, Usage};
use agent::event::{ApprovalRequired, BudgetUpdated, Event, EventData, RunFinished, RunStarted};
use agent::outcome::StopReason;
use agent::setup::Setup;
use permission::{ApprovalId, ApprovalRequest, Permission, Risk, ToolSet};
use serde_json::{Value, json};

/// The beginning of a run.
pub(crate) fn started(request: &str) -> EventData {
    let setup = Setup::new("20261115_083000_k3f9", request);
    EventData::RunStarted(Box::new(RunStarted { setup, tools: ToolSet::from_names([]) }))
}

/// The end of a run after so many turns.
pub(crate) fn finished(stop_reason: StopReason, turns: u32) -> EventData {
    EventData::RunFinished(RunFinished {
        status: stop_reason.status(),
        stop_reason,
        answer: "done".to_owned(),
        usage: Usage::default(),
        spent: Spent { turns, ..Spent::default() },
    })
}

/// An account of so many turns.
pub(crate) fn budget_updated(turns: u32) -> EventData {
    EventData::BudgetUpdated(Box::new(BudgetUpdated {
        elapsed_ms: None,
        resumed: None,
        spent: Spent { turns, ..Spent::default() },
        left: Left { turns: 1, tool_calls: 2, script_runs: 3, context_chars: 4, seconds: 5 },
    }))
}

/// A question.
pub(crate) fn asked() -> EventData {
    let approval = ApprovalRequest {
        id: ApprovalId::numbered(1),
        tool: Permission::RunScript,
        risk: Risk::Medium,
        reason: "because".to_owned(),
        params: Value::Null,
        patterns: Vec::new(),
        always: None,
        effect: "runs it".to_owned(),
        replay: "skillful run".to_owned(),
    };
    EventData::ApprovalRequired(Box::new(ApprovalRequired { approval }))
}

/// What an event says, whether or not it makes sense.
pub(crate) fn said(kind: &str, data: Value) -> EventData {
    let line = json!({"v": 2, "seq": 1, "ts": "", "run_id": "", "turn": 1, "type": kind, "data": data, "prev": ""});
    serde_json::from_value::<Event>(line).unwrap().data
}

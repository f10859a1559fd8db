//! What the first version of the format said otherwise.

use serde_json::{Value, json};

/// The data of an event of the first version, as this version writes it.
pub(super) fn upgrade(kind: &str, data: &mut Value) {
    match kind {
        "run_started" => name_kind(data),
        "model_response" => take_from_diagnostics(data),
        "resource_loaded" => data.get_mut("report").and_then(complete_report),
        "action_executed" => {
            let loaded = data.pointer_mut("/observation/loaded").and_then(Value::as_array_mut);
            let reports = loaded.into_iter().flatten().filter_map(|one| one.get_mut("report"));
            reports.filter_map(complete_report).last()
        }
        _ => None,
    };
}

/// Two flags said which kind of run it is.
fn name_kind(data: &mut Value) -> Option<()> {
    let setup = data.get_mut("setup")?.as_object_mut()?;
    let is = |flag: Option<Value>| flag == Some(Value::Bool(true));
    let (child, served) = (is(setup.remove("is_child")), is(setup.remove("is_served")));
    let kind = match (child, served) {
        (true, _) => "child",
        (_, true) => "served",
        _ => "own",
    };
    setup.insert("kind".to_owned(), json!(kind));
    Some(())
}

/// What the program had to say stood among the words of the model.
fn take_from_diagnostics(data: &mut Value) -> Option<()> {
    let reply = data.get_mut("reply")?.as_object_mut()?;
    let decision = reply.get_mut("decision")?.as_object_mut()?;
    let said = decision.get_mut("diagnostics")?.as_object_mut()?;
    let (again, problem) = (said.remove("again"), said.remove("plan_update_error"));
    if said.is_empty() {
        decision.remove("diagnostics");
    }
    if again == Some(Value::Bool(true)) {
        reply.insert("again".to_owned(), json!(true));
    }
    reply.insert("plan_problem".to_owned(), problem?);
    Some(())
}

/// What was handed over byte by byte had a report without everything about texts.
fn complete_report(report: &mut Value) -> Option<()> {
    let report = report.as_object_mut()?;
    let missing = [
        ("chars_returned", json!(0)),
        ("truncated", json!(false)),
        ("text_sha256", json!("")),
        ("dropped_sections", json!([])),
        ("storage_ref", Value::Null),
        ("diagnostics", json!([])),
    ];
    for (key, value) in missing {
        report.entry(key).or_insert(value);
    }
    Some(())
}

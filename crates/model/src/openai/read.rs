//! Reading the answers of Chat Completions.

use serde_json::Value;

use crate::answer::{Answer, Stop, Tokens};
use crate::failure::CallError;
use crate::status::reported;

/// One event of a stream.
pub(super) fn event(
    value: &Value,
    answer: &mut Answer,
    delta: &mut dyn FnMut(&str),
) -> Result<(), CallError> {
    read(value, "delta", answer, delta)
}

/// A whole answer.
pub(super) fn document(
    value: &Value,
    answer: &mut Answer,
    delta: &mut dyn FnMut(&str),
) -> Result<(), CallError> {
    read(value, "message", answer, delta)?;
    if value["choices"].as_array().is_none_or(Vec::is_empty) {
        let reason = format!("no `choices` in {}", crate::excerpt::excerpt(&value.to_string()));
        return Err(CallError::Malformed { reason });
    }
    answer.ended = true;
    Ok(())
}

fn read(
    value: &Value,
    part: &str,
    answer: &mut Answer,
    delta: &mut dyn FnMut(&str),
) -> Result<(), CallError> {
    if !value["error"].is_null() {
        return Err(reported(&value["error"]));
    }
    if let Some(tokens) = tokens(&value["usage"]) {
        answer.tokens = Some(tokens);
    }
    // A second choice was not asked for.
    let first = |choice: &&Value| choice["index"].as_u64().unwrap_or(0) == 0;
    for choice in value["choices"].as_array().into_iter().flatten().filter(first) {
        message(&choice[part], answer, delta);
        match choice["finish_reason"].as_str() {
            None => {}
            Some("length") => answer.stop(Stop::Length),
            Some("content_filter") => {
                answer.stop(Stop::Declined("its content filter stepped in".to_owned()));
            }
            Some(_) => answer.stop(Stop::Done),
        }
    }
    Ok(())
}

/// Reasoning stands beside the content, under several names, and is not looked at.
fn message(message: &Value, answer: &mut Answer, delta: &mut dyn FnMut(&str)) {
    match &message["content"] {
        Value::String(text) => answer.add_text(text, delta),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.for_each(|text| answer.add_text(text, delta));
        }
        _ => {}
    }
    if let Some(refusal) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
        answer.decline(refusal);
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten().enumerate();
    for (place, call) in calls {
        let index = call["index"].as_u64().unwrap_or(place as u64);
        let name = call["function"]["name"].as_str().unwrap_or_default();
        match &call["function"]["arguments"] {
            Value::String(arguments) => answer.add_call(index, name, arguments, delta),
            Value::Null => answer.add_call(index, name, "", delta),
            // Not as it should be, but plain enough.
            arguments => answer.add_call(index, name, &arguments.to_string(), delta),
        }
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |value: &Value| value.as_u64();
    let cached = count(&usage["prompt_tokens_details"]["cached_tokens"]);
    Some(Tokens {
        input: count(&usage["prompt_tokens"])?,
        cached: cached.or(count(&usage["prompt_cache_hit_tokens"])).unwrap_or(0),
        cache_written: 0,
        output: count(&usage["completion_tokens"]).unwrap_or(0),
    })
}

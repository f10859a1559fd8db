//! Reading the answers of Messages.

use serde_json::Value;

use crate::answer::{Answer, Stop};
use crate::failure::CallError;
use crate::status::reported;

/// One event of a stream; kinds that are not known are none of ours.
pub(super) fn event(
    value: &Value,
    answer: &mut Answer,
    delta: &mut dyn FnMut(&str),
) -> Result<(), CallError> {
    let index = value["index"].as_u64().unwrap_or(0);
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => count(&value["message"]["usage"], answer),
        "content_block_start" => block(&value["content_block"], index, answer, delta),
        "content_block_delta" => {
            let piece = &value["delta"];
            if let Some(text) = piece["text"].as_str() {
                answer.add_text(text, delta);
            }
            if let Some(json) = piece["partial_json"].as_str() {
                answer.add_call(index, "", json, delta);
            }
        }
        "message_delta" => {
            count(&value["usage"], answer);
            stop(&value["delta"], answer);
        }
        "message_stop" => answer.ended = true,
        "error" => return Err(reported(&value["error"])),
        _ => {}
    }
    Ok(())
}

/// A whole answer.
pub(super) fn document(
    value: &Value,
    answer: &mut Answer,
    delta: &mut dyn FnMut(&str),
) -> Result<(), CallError> {
    if !value["error"].is_null() {
        return Err(reported(&value["error"]));
    }
    let Some(blocks) = value["content"].as_array() else {
        let reason = format!("no `content` in {}", crate::excerpt::excerpt(&value.to_string()));
        return Err(CallError::Malformed { reason });
    };
    for (index, part) in blocks.iter().enumerate() {
        block(part, index as u64, answer, delta);
    }
    count(&value["usage"], answer);
    stop(value, answer);
    answer.ended = true;
    Ok(())
}

/// Text or a call; what is called begins with an empty input, of which the pieces follow in a stream.
fn block(block: &Value, index: u64, answer: &mut Answer, delta: &mut dyn FnMut(&str)) {
    match block["type"].as_str() {
        Some("text") => answer.add_text(block["text"].as_str().unwrap_or_default(), delta),
        Some("tool_use") => {
            let name = block["name"].as_str().unwrap_or_default();
            let given = block["input"].as_object().filter(|input| !input.is_empty());
            let input = given.map(|_| block["input"].to_string()).unwrap_or_default();
            answer.add_call(index, name, &input, delta);
        }
        // Thinking, among others.
        _ => {}
    }
}

fn stop(value: &Value, answer: &mut Answer) {
    match value["stop_reason"].as_str() {
        None => {}
        Some("max_tokens" | "model_context_window_exceeded") => answer.stop(Stop::Length),
        Some("refusal") => {
            let said = value["stop_details"]["explanation"].as_str();
            answer.stop(Stop::Declined(said.unwrap_or("it gives no reason").to_owned()));
        }
        Some(_) => answer.stop(Stop::Done),
    }
}

/// Later events say how many there are by then.
fn count(usage: &Value, answer: &mut Answer) {
    let mut tokens = answer.tokens.unwrap_or_default();
    let number = |key: &str| usage[key].as_u64();
    let cached = number("cache_read_input_tokens");
    let written = number("cache_creation_input_tokens");
    if let Some(input) = number("input_tokens") {
        // Here, other than elsewhere, what was cached is not part of the input.
        tokens.cached = cached.unwrap_or(tokens.cached);
        tokens.cache_written = written.unwrap_or(tokens.cache_written);
        tokens.input = input + tokens.cached + tokens.cache_written;
    }
    tokens.output = number("output_tokens").unwrap_or(tokens.output);
    if usage.is_object() {
        answer.tokens = Some(tokens);
    }
}

use serde_json::{Value, json};

use super::*;
use crate::conversation::tests::context;
use crate::openai::tests::{body, dialect, options};

fn sent(form: Form) -> Value {
    let context = context();
    let request = request(&context.prompt("[State]".to_owned(), 1), &options(), dialect(form));
    assert_eq!(request.url, "http://127.0.0.1:8080/v1/messages");
    body(&request)
}

#[test]
fn calls_have_results_and_the_cache_is_told_what_stays() {
    let body = sent(Form::Tools);
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(body["tool_choice"], json!({"type": "any", "disable_parallel_tool_use": true}));
    assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [text("=== Request ===\nCount.\n=== end ===")]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "select_skills",
                "input": {"reason": "r", "skills": [{"name": "csv"}]}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "=== Skill csv ===\nBody.\n=== end ==="}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_2", "name": "read_file", "input": {"path": "a"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_2", "content": "[Plan] no"},
                {"type": "text", "text": "=== Observation 2 ===\nRows.\n=== end ===", "cache_control": {"type": "ephemeral"}},
                text("[State]"),
            ]},
        ])
    );
}

#[test]
fn a_later_request_begins_with_the_bytes_that_were_marked() {
    let context = context();
    let shorter = messages(&context.prompt("[State]".to_owned(), 1), Form::Text);
    let mut longer = context;
    longer.decided(r#"{"action":{}}"#.to_owned());
    longer.remark("more".to_owned());
    let longer = messages(&longer.prompt("[Other]".to_owned(), 1), Form::Text);
    // All but the mark, which moves on, and the state.
    let plain = |messages: &[Value]| {
        let mut messages = messages.to_vec();
        let blocks =
            messages.iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
        blocks.for_each(|block| {
            drop(block.as_object_mut().and_then(|block| block.remove("cache_control")))
        });
        messages
    };
    let (mut before, after) = (plain(&shorter), plain(&longer));
    let last = before.last_mut().and_then(|last| last["content"].as_array_mut());
    last.into_iter().for_each(|blocks| drop(blocks.pop()));
    assert_eq!(after[..before.len()], before);
}

#[test]
fn a_schema_and_a_limit_are_always_said() {
    let body = sent(Form::Schema);
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    assert_eq!((&body["max_tokens"], &body["tools"]), (&json!(900), &Value::Null));
    let unlimited = Options { max_tokens: None, ..options() };
    let context = context();
    let request = request(&context.prompt(String::new(), 1), &unlimited, dialect(Form::Text));
    assert_eq!(crate::openai::tests::body(&request)["max_tokens"], MAX_TOKENS);
}

#[test]
fn a_picture_comes_after_what_was_told_with_it() {
    let mut context = context();
    let picture = Picture { media_type: "image/png".to_owned(), base64: "iVBO".into() };
    context.pictured(Some(picture));
    let messages = messages(&context.prompt("[State]".to_owned(), 1), Form::Tools);
    let last = messages.last().and_then(|last| last["content"].as_array()).unwrap();
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBO"});
    let shown = |block: &&Value| block["type"] == "image";
    assert_eq!(last.iter().find(shown).unwrap()["source"], source);
}

use agent::context::{Limits, Prompt};
use permission::ToolSet;
use serde_json::{Map, Value, json};

use super::*;
use crate::conversation::tests::context;
use crate::dialect::{Protocol, TokenLimit};
use crate::request::Choices;
use crate::schema::Offered;

pub(crate) fn options() -> Options {
    Options {
        base_url: "http://127.0.0.1:8080".to_owned(),
        model: "m".to_owned(),
        key: Some(Secret::new("the-key")),
        headers: vec![("X-Team".to_owned(), Secret::new("blue"))],
        max_tokens: Some(900),
        params: Map::from_iter([("temperature".to_owned(), json!(0))]),
        choices: Choices::new(&Offered {
            tools: &ToolSet::from_names(["read_file"]),
            skills: Some(&["csv"]),
            scripts: None,
        }),
    }
}

/// The body of a request, with the marks of this run made short.
pub(crate) fn body(request: &HttpRequest) -> Value {
    let text = String::from_utf8(request.body.clone()).unwrap_or_default();
    let mark = text.split("mark-").nth(1).map(|rest| rest[..12].to_owned()).unwrap_or_default();
    serde_json::from_str(&text.replace(&format!(" [mark-{mark}]"), "")).unwrap_or_default()
}

pub(crate) fn dialect(form: Form) -> Dialect {
    Dialect { form, ..Dialect::first(Protocol::Auto, true, TokenLimit::MaxTokens) }
}

#[test]
fn a_conversation_held_to_a_schema_is_messages_that_take_turns() {
    let context = context();
    let request =
        request(&context.prompt("[State]".to_owned(), 1), &options(), dialect(Form::Schema));
    assert_eq!(request.url, "http://127.0.0.1:8080/v1/chat/completions");
    let mut body = body(&request);
    let format = body["response_format"].take();
    assert_eq!(
        (&format["type"], &format["json_schema"]["strict"]),
        (&json!("json_schema"), &json!(true))
    );
    assert_eq!(format["json_schema"]["schema"]["required"], json!(["action", "plan_update"]));
    assert_eq!(
        body,
        json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0, "max_tokens": 900,
            "response_format": null,
            "messages": [
                {"role": "system", "content": "Rules."},
                {"role": "user", "content": "=== Request ===\nCount.\n=== end ==="},
                {"role": "assistant", "content": r#"{"action":{"payload":{"reason":"r","skills":[{"name":"csv"}]},"type":"select_skills"}}"#},
                {"role": "user", "content": "=== Skill csv ===\nBody.\n=== end ==="},
                {"role": "assistant", "content": r#"{"action":{"payload":{"params":{"path":"a"},"tool":"read_file"},"type":"call_tool"}}"#},
                {"role": "user", "content": "[Plan] no\n\n=== Observation 2 ===\nRows.\n=== end ===\n\n[State]"},
            ],
        })
    );
}

#[test]
fn with_tools_earlier_decisions_are_calls_and_each_has_its_result() {
    let context = context();
    let body =
        body(&request(&context.prompt("[State]".to_owned(), 1), &options(), dialect(Form::Tools)));
    let names: Vec<&Value> = body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(
        names,
        [
            "select_skills",
            "search_skills",
            "load_resource",
            "load_chunk",
            "read_observation",
            "ask_user",
            "apply_changes",
            "final_answer",
            "read_file"
        ]
    );
    assert_eq!(body["tool_choice"], "required");
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    assert!(messages[0]["content"].as_str().is_some_and(|text| text.contains("# Tool calls")));
    assert_eq!(
        messages[2..],
        [
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "select_skills", "arguments": r#"{"reason":"r","skills":[{"name":"csv"}]}"#}}]}),
            json!({"role": "tool", "tool_call_id": "call_1", "content": "=== Skill csv ===\nBody.\n=== end ==="}),
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "call_2", "type": "function",
                "function": {"name": "read_file", "arguments": r#"{"path":"a"}"#}}]}),
            json!({"role": "tool", "tool_call_id": "call_2", "content": "[Plan] no"}),
            json!({"role": "user", "content": "=== Observation 2 ===\nRows.\n=== end ===\n\n[State]"}),
        ]
    );
}

#[test]
fn the_tighter_limit_of_a_reply_counts() {
    let context = context();
    let limited = |output_tokens, dialect| {
        let limits = Limits { output_tokens, ..Limits::default() };
        let prompt = Prompt { limits, ..context.prompt(String::new(), 1) };
        body(&request(&prompt, &options(), dialect))
    };
    let usual = dialect(Form::Text);
    assert_eq!(limited(None, usual)["max_tokens"], 900);
    assert_eq!(limited(Some(20), usual)["max_tokens"], 20);
    assert_eq!(limited(Some(0), usual)["max_tokens"], 1);
    let newer = Dialect { token_limit: TokenLimit::MaxCompletionTokens, ..usual };
    assert_eq!(limited(None, newer)["max_completion_tokens"], 900);
    let plain = limited(None, Dialect { stream: false, token_limit: TokenLimit::Unsaid, ..usual });
    assert_eq!(
        (&plain["stream"], &plain["stream_options"], &plain["max_tokens"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
}

#[test]
fn neither_key_nor_header_nor_text_shows_when_a_request_is_printed() {
    let context = context();
    let request = request(&context.prompt(String::new(), 1), &options(), dialect(Form::Text));
    let printed = format!("{request:?} {:?}", options());
    for secret in ["the-key", "blue", "Rules."] {
        assert!(!printed.contains(secret), "{printed}");
    }
    assert!(request.headers.iter().any(|(_, value)| value.expose() == "Bearer the-key"));
}

#[test]
fn a_picture_is_a_part_of_what_the_user_says() {
    let mut context = context();
    let picture = Picture { media_type: "image/png".to_owned(), base64: "iVBO".into() };
    context.pictured(Some(picture));
    for form in [Form::Tools, Form::Text] {
        let messages = messages(&context.prompt("[State]".to_owned(), 1), form);
        let parts = messages.last().and_then(|last| last["content"].as_array()).unwrap();
        assert!(parts[0]["text"].as_str().unwrap().ends_with("[State]"));
        assert_eq!(parts[1]["image_url"]["url"], "data:image/png;base64,iVBO");
    }
}

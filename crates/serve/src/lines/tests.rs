use serde_json::{Value, json};

use super::*;

/// What a line turns out to be: the method, the error's code and id, or nothing.
fn check(line: &str, expected: Value) {
    let seen = match read_message(line.as_bytes()) {
        Incoming::Message(message) => serde_json::to_value(&message).unwrap()["method"].clone(),
        Incoming::Wrong(error) => {
            let error = serde_json::to_value(&error).unwrap();
            json!([error["error"]["code"], error["id"]])
        }
        Incoming::Nothing => Value::Null,
    };
    assert_eq!(seen, expected, "{line}");
}

#[test]
fn a_line_is_a_message_or_an_error_or_nothing() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, json!("ping"));
    check(r#"{"jsonrpc":"2.0","id":"a","method":"skills/list","params":{}}"#, json!("skills/list"));
    check(
        r#"  {"jsonrpc":"2.0","method":"notifications/initialized"}  "#,
        json!("notifications/initialized"),
    );
    check("", Value::Null);
    check(" \r", Value::Null);
    check("{", json!([-32700, null]));
    check("nonsense", json!([-32700, null]));
    check("{}", json!([-32600, null]));
    check("[]", json!([-32600, null]));
    check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!([-32600, null]));
    check(r#"{"id":1,"method":"ping"}"#, json!([-32600, 1]));
    check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, json!([-32600, 1]));
    check(r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, json!([-32600, null]));
    check(r#"{"jsonrpc":"2.0","id":{},"result":{}}"#, Value::Null);
}

use proptest::prelude::*;
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

/// Lines that are nearly right are more telling than noise.
fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(r#""jsonrpc":"2.0""#.to_owned()),
        Just(r#""jsonrpc":2"#.to_owned()),
        Just(r#""method":"tools/call""#.to_owned()),
        Just(r#""method":{}"#.to_owned()),
        Just(r#""result":{}"#.to_owned()),
        Just(r#""error":{"code":1,"message":"m"}"#.to_owned()),
        "\"id\":(1|null|\"a\"|\\[\\]|-1|1e9|99999999999999999999)",
        "\"params\":(\\{\\}|\\[\\]|null|\\{\"name\":1\\}|\\{\"_meta\":1\\})",
        ".{0,8}",
    ];
    let object =
        prop::collection::vec(piece, 0..5).prop_map(|all| format!("{{{}}}", all.join(",")));
    prop_oneof![object, ".{0,40}"]
}

proptest! {
    #[test]
    fn whatever_a_line_is_it_is_dealt_with(line in line()) {
        match read_message(line.as_bytes()) {
            Incoming::Message(message) => {
                let written = serde_json::to_vec(&message).unwrap();
                prop_assert!(matches!(read_message(&written), Incoming::Message(_)), "{line}");
            }
            Incoming::Wrong(error) => {
                let error = serde_json::to_value(&error).unwrap();
                let is_json = serde_json::from_str::<Value>(&line).is_ok();
                let expected = if is_json { -32600 } else { -32700 };
                prop_assert_eq!(error["error"]["code"].as_i64(), Some(expected));
            }
            Incoming::Nothing => {}
        }
    }
}

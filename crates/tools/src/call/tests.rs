use basics::failure::Explain;
use permission::{Request, Tool};
use serde_json::{Value, json};

use super::Call;

fn check(tool: &str, params: Value, patterns: &[&str], risk: &str, effect: &str) {
    let call = Call::parse(tool, params).unwrap();
    assert_eq!(call.permission().name(), tool);
    assert_eq!(call.patterns(), patterns);
    assert_eq!(serde_json::to_value(call.risk()).unwrap(), risk);
    assert_eq!(call.effect(), effect);
}

#[test]
fn a_call_says_what_it_would_do() {
    check("read_file", json!({"path": "./a//b.txt"}), &["a/b.txt"], "low", "reads `a/b.txt`");
    check("list_dir", json!({}), &["."], "low", "lists `.`");
    check(
        "grep",
        json!({"pattern": "x", "path": "src/"}),
        &["src"],
        "low",
        "searches `src` for `x`",
    );
    let effect = "writes 3 bytes to `a`, in place of what is there";
    check("write_file", json!({"path": "b/../a", "content": "abc"}), &["a"], "low", effect);
    check(
        "delete_file",
        json!({"path": "skill://x//a"}),
        &["skill://x/a"],
        "low",
        "deletes `skill://x/a`",
    );
    check(
        "network_request",
        json!({"url": "HTTP://Example.com:80/a/../b?key=1#part"}),
        &["http://example.com/b"],
        "high",
        "fetches `http://example.com/b?key=1` over the network",
    );
    check(
        "network_request",
        json!({"url": "https://example.com", "method": "POST", "body": "abc"}),
        &["https://example.com/", "POST https://example.com/"],
        "high",
        "sends 3 bytes to `https://example.com/` over the network",
    );
}

#[test]
fn params_are_shown_as_they_will_be_used() {
    let call = Call::parse("list_dir", json!({"path": "a/./b"})).unwrap();
    assert_eq!(call.params(), json!({"path": "a/b", "depth": 1}));
}

fn refused(tool: &str, params: Value, code: &str, message: &str) {
    let error = Call::parse(tool, params).unwrap_err();
    assert_eq!(error.code(), code);
    assert_eq!(error.to_json()["error"]["message"], message);
    assert!(!error.hint().is_empty());
}

#[test]
fn a_call_that_cannot_be_understood_says_why() {
    refused("teleport", json!({}), "InvalidAction", "there is no tool `teleport`");
    refused("run_script", json!({}), "InvalidAction", "there is no tool `run_script`");
    refused(
        "read_file",
        json!({}),
        "InvalidAction",
        "wrong params for `read_file`: missing field `path`",
    );
    refused(
        "read_file",
        json!({"path": 1}),
        "InvalidAction",
        "wrong params for `read_file`: invalid type: integer `1`, expected a string",
    );
    refused(
        "delete_file",
        json!({"path": "a", "recursive": true}),
        "InvalidAction",
        "wrong params for `delete_file`: unknown field `recursive`, expected `path`",
    );
    refused(
        "read_file",
        json!({"path": "a/../../b"}),
        "PathTraversalBlocked",
        "`a/../../b` leads out of the workspace",
    );
    refused(
        "read_file",
        json!({"path": "skill://x/../y"}),
        "PathTraversalBlocked",
        "`skill://x/../y` leads out of the workspace",
    );
}

#[test]
fn a_request_that_cannot_be_sent_says_why() {
    let address = "is not an `http` or `https` address without user name and password";
    for url in [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "http://",
        "http://user:key@example.com/",
    ] {
        refused(
            "network_request",
            json!({"url": url}),
            "InvalidAction",
            &format!("`{url}` {address}"),
        );
    }
    let url = "https://example.com/";
    for (name, value) in
        [("Host", "other"), ("Transfer-Encoding", "chunked"), ("a b", "x"), ("x", "a\r\nHost: b")]
    {
        let message = format!("the header `{name}` cannot be set, or not to this value");
        refused(
            "network_request",
            json!({"url": url, "headers": {name: value}}),
            "InvalidAction",
            &message,
        );
    }
    refused(
        "network_request",
        json!({"url": url, "body": "x"}),
        "InvalidAction",
        "only a `POST` has a body",
    );
}

#[test]
fn every_tool_has_a_schema_that_names_its_params() {
    for (tool, required) in [
        (Tool::ReadFile, json!(["path"])),
        (Tool::ListDir, Value::Null),
        (Tool::Grep, json!(["pattern"])),
        (Tool::WriteFile, json!(["path", "content"])),
        (Tool::DeleteFile, json!(["path"])),
        (Tool::NetworkRequest, json!(["url"])),
    ] {
        let schema = tool.params_schema().unwrap().to_value();
        assert_eq!(schema["required"], required, "{}", tool.name());
        assert_eq!(schema["additionalProperties"], false);
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} of {}", tool.name());
        }
    }
    assert!(Tool::RunScript.params_schema().is_none());
}

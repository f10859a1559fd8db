//! What a server refuses is left out from then on.

use serde_json::Value;
use skillful_model::dialect::{Form, Protocol};
use skillful_model::remote::Wire;

use super::{GIVEN, Given, remote, send};
use crate::server::{Play, Server, recorded, whole};

/// The keys of a request that say how a decision is asked for.
fn asked_with(body: &str) -> Vec<&'static str> {
    let body: Value = serde_json::from_str(body).unwrap();
    let keys = [
        "tools",
        "response_format",
        "output_config",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
    ];
    keys.into_iter().filter(|key| !body[key].is_null()).collect()
}

#[test]
fn what_a_server_refuses_is_left_out_from_then_on_and_remembered() {
    let no = |message: &str| send(400, "", &format!(r#"{{"error": {{"message": "{message}"}}}}"#));
    let good = || Play::Send(whole(200, "", &recorded("openai/text.sse")));
    let server = Server::new(vec![
        no("Unrecognized request argument: stream_options"),
        no("Unsupported parameter: max_tokens"),
        no("this model does not support tools"),
        no("response_format is not known"),
        good(),
        good(),
    ]);
    let mut asked = remote(Wire::OpenAi, server.url(), GIVEN);
    for _ in 0..4 {
        let (line, _) = asked.ask();
        assert!(line.ends_with("asking in another way [again in 0 ms]"), "{line}");
    }
    assert!(asked.learned.borrow().is_empty(), "what was not yet answered is not known");
    assert!(asked.ask().0.starts_with("final_answer"));
    assert!(asked.ask().0.starts_with("final_answer"));
    let seen: Vec<Vec<&str>> = (0..6).map(|_| asked_with(&server.heard().body)).collect();
    assert_eq!(seen[0], ["tools", "stream_options", "max_tokens"]);
    assert_eq!(seen[1], ["tools", "max_tokens"]);
    assert_eq!(seen[2], ["tools", "max_completion_tokens"]);
    assert_eq!(seen[3], ["response_format", "max_completion_tokens"]);
    assert_eq!(seen[4..], [["max_completion_tokens"], ["max_completion_tokens"]]);
    let learned = asked.learned.borrow();
    assert_eq!(learned.len(), 1);
    assert_eq!(learned[0].form, Form::Text);
}

#[test]
fn a_refusal_at_anthropic_goes_down_from_tools_to_a_schema_to_text() {
    let no = || {
        send(
            400,
            "",
            r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "not with this model"}}"#,
        )
    };
    let good = Play::Send(whole(200, "", &recorded("anthropic/text.sse")));
    let server = Server::new(vec![no(), no(), good]);
    let mut asked = remote(Wire::Anthropic, server.url(), GIVEN);
    (0..2).for_each(|_| assert!(asked.ask().0.contains("asking in another way")));
    assert!(asked.ask().0.starts_with("final_answer"));
    let seen: Vec<Vec<&str>> = (0..3).map(|_| asked_with(&server.heard().body)).collect();
    assert_eq!(
        seen,
        [vec!["tools", "max_tokens"], vec!["output_config", "max_tokens"], vec!["max_tokens"]]
    );
}

#[test]
fn tools_that_are_answered_in_text_are_not_offered_again() {
    let text = Play::Send(whole(200, "", &recorded("openai/tools-as-fenced-text.sse")));
    let good = Play::Send(whole(200, "", &recorded("openai/schema.sse")));
    let server = Server::new(vec![text.clone(), good]);
    let mut asked = remote(Wire::OpenAi, server.url(), GIVEN);
    assert_eq!(asked.ask().0, "select_skills csv-report");
    assert_eq!(asked.ask().0, "select_skills csv-report");
    assert!(asked_with(&server.heard().body).contains(&"tools"));
    assert!(asked_with(&server.heard().body).contains(&"response_format"));
    assert_eq!(asked.learned.borrow()[0].form, Form::Schema);
    // Whoever wants tools and nothing else gets tools and nothing else.
    let server = Server::new(vec![text.clone(), text]);
    let mut asked =
        remote(Wire::OpenAi, server.url(), Given { protocol: Protocol::Tools, ..GIVEN });
    (0..2).for_each(|_| assert_eq!(asked.ask().0, "select_skills csv-report"));
    (0..2).for_each(|_| assert!(asked_with(&server.heard().body).contains(&"tools")));
}

//! Servers that fail, fall silent or never end: one clear line, in time.

use std::time::Duration;

use agent::context::{Context, Limits, Prompt};
use agent::model::{Cancel, Model};
use skillful_model::dialect::Form;
use skillful_model::remote::Wire;
use skillful_model::send::Waits;

use super::{GIVEN, Given, WIRES, line, remote, send, told};
use crate::server::{Play, STREAM, Server, chunk, recorded, whole};

#[test]
fn every_failure_is_one_clear_line_with_a_hint() {
    let retry_date = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let json = |message: &str| format!(r#"{{"error": {{"message": "{message}"}}}}"#);
    let page = String::from_utf8(recorded("page.html")).unwrap();
    let table: Vec<(Play, &str)> = vec![
        (
            send(401, "", &json("bad key")),
            "Unauthorized: `SERVER` refused the key (401): bad key; check the key; `skillful doctor` says where it is taken from",
        ),
        (
            send(403, "", &page),
            "Forbidden: `SERVER` does not allow this with your key (403): a web page, \"502 Bad Gateway\"; check at the provider what your key may use, or choose another --model",
        ),
        (
            send(404, "", &json("no such model")),
            "ModelNotFound: `SERVER` does not know the model (404): no such model; check the name in --model",
        ),
        (
            send(429, "", r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#),
            "QuotaExceeded: `SERVER` says that the quota is used up (429): pay; buy more quota at the provider, or choose another --model",
        ),
        (
            send(400, "", &json("context length exceeded")),
            "ContextTooLong: `SERVER` says that the conversation is too long (400): context length exceeded; lower `budget.max_context_chars`",
        ),
        (
            send(418, "", "short\nand stout"),
            "RequestRefused: `SERVER` refused the request (418): short and stout; check `model.params`, or set `model.protocol` to \"json\"",
        ),
        (
            send(302, "Location: https://elsewhere.example/\r\n", ""),
            "Redirected: `SERVER` redirects to `https://elsewhere.example/` (302), and redirects are not followed; set --base-url to the real address",
        ),
        // With no tries left, what could pass is told like what cannot.
        (
            send(429, "Retry-After: 7\r\n", &json("slow down")),
            "RateLimited: `SERVER` says that there are too many requests (429): slow down; wait, then try again, or choose another --model",
        ),
        (
            send(503, retry_date, ""),
            "ServerError: `SERVER` has a problem (503): nothing; try again later",
        ),
        (
            send(502, "", &page),
            "ServerError: `SERVER` has a problem (502): a web page, \"502 Bad Gateway\"; try again later",
        ),
        (
            send(200, "", &page),
            "MalformedAnswer: `SERVER` sent something that is not a model's answer: a web page, \"502 Bad Gateway\"; check that --base-url is the address of a model server",
        ),
        (
            send(200, "", ""),
            "StreamBroken: `SERVER` broke the connection: the answer is empty; try again later",
        ),
        (
            send(200, "", "data: \u{0}garbage\n\n"),
            "MalformedAnswer: `SERVER` sent something that is not a model's answer: an event that is not JSON: garbage; check that --base-url is the address of a model server",
        ),
        (
            Play::Reset,
            "StreamBroken: `SERVER` broke the connection: connection closed before message completed; try again later",
        ),
        (
            Play::Pieces(vec![STREAM.to_vec(), chunk(b"data: {\"choices\": []}\n\n")]),
            "StreamBroken: `SERVER` broke the connection: unexpected EOF during chunk size line; try again later",
        ),
    ];
    for (wire, _) in WIRES {
        for (play, expected) in &table {
            let given = Given { form: Form::Text, ..GIVEN };
            assert_eq!(&told(wire, play.clone(), given), expected);
        }
    }
}

#[test]
fn a_server_that_falls_silent_or_never_ends_is_left_in_time() {
    let soon = Duration::from_millis(150);
    let waits = Waits { idle: soon, ..GIVEN.waits };
    let piece = chunk(b": still here\n\n");
    let flood = || Play::Flood(STREAM.to_vec(), piece.clone());
    for (wire, _) in WIRES {
        let given = Given { waits, ..GIVEN };
        for play in [Play::Hang(Vec::new()), Play::Hang(STREAM.to_vec())] {
            let seen = told(wire, play, given);
            assert_eq!(
                seen,
                "Timeout: `SERVER` sent nothing within 0.15 s; raise `model.idle_timeout_seconds` or `model.timeout_seconds` for a slow model"
            );
        }
        let waits = Waits { total: soon, ..GIVEN.waits };
        let seen = told(wire, flood(), Given { waits, ..GIVEN });
        assert!(
            seen.starts_with("Timeout: `SERVER` did not finish its answer within 0.15 s"),
            "{seen}"
        );
        // The run has less time than the settings would give. However busy the machine is: the server gets the
        // time to begin its answer.
        let begun = (0..8).any(|attempt| {
            let soon = soon * (1 << attempt);
            let server = Server::new(vec![flood()]);
            let context = Context::new("20261115_083000_k3f9", String::new(), "x");
            let limits = Limits { time: Some(soon), ..Limits::default() };
            let prompt = Prompt { limits, ..context.prompt(String::new(), 1) };
            let (seen, _) = remote(wire, server.url(), GIVEN).ask_with(&prompt, &Cancel::default());
            let expected = format!("did not finish its answer within {} s", soon.as_secs_f32());
            assert!(seen.contains(&expected), "{seen}");
            let heard = server.others() > 0;
            if heard {
                server.wait_until_left();
            }
            heard
        });
        assert!(begun, "the server never heard the request");
    }
}

#[test]
fn a_huge_answer_is_not_taken_in() {
    let text = "x".repeat(100_000);
    for (wire, event) in [
        (Wire::OpenAi, format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)),
        (
            Wire::Anthropic,
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
            ),
        ),
    ] {
        let event = chunk(format!("data: {event}\n\n").as_bytes());
        let given = Given { form: Form::Text, ..GIVEN };
        let seen = told(wire, Play::Flood(STREAM.to_vec(), event), given);
        assert_eq!(
            seen,
            "invalid: the reply has 1100000 bytes, the limit is 1000000; write a shorter reply"
        );
        // One that says nothing at all, but much of it.
        let noise = chunk(&[b":".repeat(1 << 20), b"\n".to_vec()].concat());
        let seen = told(wire, Play::Flood(STREAM.to_vec(), noise), given);
        assert_eq!(
            seen,
            "AnswerTooLong: `SERVER` sent more than 67108864 bytes; check that --base-url is the address of a model server"
        );
        let page = whole(200, "", &[b"<".to_vec(), b"x".repeat(9 << 20)].concat());
        let seen = told(wire, Play::Send(page), given);
        assert!(seen.starts_with("AnswerTooLong: `SERVER` sent more than 8388608 bytes"), "{seen}");
    }
}

#[test]
fn a_call_can_be_cancelled_in_the_middle_of_the_answer() {
    for (wire, folder) in WIRES {
        let body = recorded(&format!("{folder}/text.sse"));
        let begun = [STREAM.to_vec(), chunk(&body[..body.len() / 2])].concat();
        let server = Server::new(vec![Play::Hang(begun)]);
        let cancel = Cancel::default();
        let context = Context::new("20261115_083000_k3f9", String::new(), "x");
        let given = Given { form: Form::Text, ..GIVEN };
        let mut asked = remote(wire, server.url(), given);
        let reply = asked.remote.decide(&context.prompt(String::new(), 1), &cancel, &mut |_| {
            cancel.request();
        });
        assert!(line(&reply).starts_with("Cancelled: "), "{}", line(&reply));
        server.wait_until_left();
    }
}

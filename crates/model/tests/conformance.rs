//! What a model behind a network does with everything that a server can do to it, for both interfaces.
//!
//! Each line of the tables is a server that does something, and what the run is told: one line for the user.
#![allow(clippy::unwrap_used, reason = "a test fails where its server cannot work")]

mod server;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use agent::action::Action;
use agent::context::{Context, Limits, Prompt};
use agent::model::{Cancel, Model};
use agent::reply::Reply;
use model::dialect::{Dialect, Form, Protocol, TokenLimit};
use model::remote::{Backoff, Price, Remote, Setup, Wire};
use model::request::{Choices, Options};
use model::schema::Offered;
use model::secret::Secret;
use model::send::{Connection, Sender, Waits};
use permission::ToolSet;
use serde_json::{Map, Value};

use server::{Play, STREAM, Server, chunk, recorded, stream, whole};

const WIRES: [(Wire, &str); 2] = [(Wire::OpenAi, "openai"), (Wire::Anthropic, "anthropic")];

/// How a model is set up in a test.
#[derive(Clone, Copy)]
struct Given {
    protocol: Protocol,
    form: Form,
    stream: bool,
    retries: u32,
    waits: Waits,
}

const GIVEN: Given = Given {
    protocol: Protocol::Auto,
    form: Form::Tools,
    stream: true,
    retries: 0,
    waits: Waits { idle: Duration::from_secs(30), total: Duration::from_secs(60) },
};

struct Asked {
    remote: Remote,
    learned: Rc<RefCell<Vec<Dialect>>>,
}

fn remote(wire: Wire, base_url: String, given: Given) -> Asked {
    let learned = Rc::new(RefCell::new(Vec::new()));
    let told = Rc::clone(&learned);
    let first = Dialect::first(given.protocol, given.stream, TokenLimit::MaxTokens);
    let setup = Setup {
        wire,
        options: Options {
            base_url,
            model: "test-model".to_owned(),
            key: Some(Secret::new("key-4711-of-the-test")),
            headers: vec![("x-team".to_owned(), Secret::new("blue"))],
            max_tokens: Some(500),
            params: Map::from_iter([("temperature".to_owned(), Value::from(0))]),
            choices: Choices::new(&Offered {
                tools: &ToolSet::named(["grep", "run_script"]),
                skills: Some(&["csv-report"]),
                scripts: None,
            }),
        },
        protocol: given.protocol,
        dialect: Dialect { form: given.form, ..first },
        price: Some(Price { input: 1.0, output: 10.0, cached_input: Some(0.1), cache_write: None }),
        waits: given.waits,
        backoff: Backoff { retries: given.retries, ..Backoff::default() },
        random: Box::new(|| 1.0),
        learned: Box::new(move |dialect| told.borrow_mut().push(dialect)),
    };
    Asked { remote: Remote::new(setup, Sender::new(Connection::default())), learned }
}

/// What a reply comes to, in one line.
fn line(reply: &Reply) -> String {
    match reply {
        Reply::Decided { decision, .. } => match &decision.action {
            Action::FinalAnswer { content } => format!("final_answer {content}"),
            action => action.summary(),
        },
        Reply::Invalid { problem, .. } => format!("invalid: {problem}"),
        Reply::Failed { code, message, retry_after_ms } => {
            let again = retry_after_ms.map(|wait| format!(" [again in {wait} ms]"));
            format!("{code}: {message}{}", again.unwrap_or_default())
        }
    }
}

impl Asked {
    fn ask(&mut self) -> (String, String) {
        let context = Context::new("20261115_083000_k3f9", "Rules.".to_owned(), "Count the rows.");
        self.ask_with(&context.prompt("[Run State]".to_owned(), 1), &Cancel::default())
    }

    fn ask_with(&mut self, prompt: &Prompt<'_>, cancel: &Cancel) -> (String, String) {
        let mut shown = String::new();
        let reply = self.remote.decide(prompt, cancel, &mut |text| shown.push_str(text));
        (line(&reply), shown)
    }
}

/// Asks a server that does one thing; the address is left out of what the user is told.
fn told(wire: Wire, play: Play, given: Given) -> String {
    let server = Server::new(vec![play]);
    let (line, _) = remote(wire, server.url(), given).ask();
    line.replace(&server.address.to_string(), "SERVER")
}

fn send(status: u16, headers: &str, body: &str) -> Play {
    Play::Send(whole(status, headers, body.as_bytes()))
}

#[test]
fn both_interfaces_give_the_same_decisions_plain_and_streamed_with_tools_and_a_schema() {
    let script = "run_script csv-report/scripts/report.sh sales.csv";
    let table = [
        ("tools.sse", Form::Tools, true, script),
        ("tools.json", Form::Tools, false, script),
        ("schema.sse", Form::Schema, true, "select_skills csv-report"),
        ("schema.json", Form::Schema, false, "select_skills csv-report"),
        ("text.sse", Form::Text, true, "final_answer Zwölf Zeilen – 3 × 4 😀 ✓"),
    ];
    for (wire, folder) in WIRES {
        for (name, form, streams, expected) in table {
            let body = recorded(&format!("{folder}/{name}"));
            let given = Given { form, stream: streams, ..GIVEN };
            assert_eq!(told(wire, Play::Send(whole(200, "", &body)), given), expected);
            // What a server says of its content is not believed.
            let odd = whole(200, "Content-Type: image/png\r\n", &body);
            assert_eq!(told(wire, Play::Send(odd), given), expected);
            // A slow drip.
            assert_eq!(told(wire, Play::Pieces(stream(&body, 3)), given), expected);
        }
    }
}

#[test]
fn every_failure_is_one_clear_line_with_a_hint() {
    let retry_date = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let json = |message: &str| format!(r#"{{"error": {{"message": "{message}"}}}}"#);
    let page = String::from_utf8(recorded("page.html")).unwrap();
    let table: Vec<(Play, &str)> = vec![
        (
            send(401, "", &json("bad key")),
            "Unauthorized: `SERVER` does not accept the key (401): bad key; check the key; `skillful doctor` says where it is taken from",
        ),
        (
            send(403, "", &page),
            "Unauthorized: `SERVER` does not accept the key (403): a web page, \"502 Bad Gateway\"; check the key; `skillful doctor` says where it is taken from",
        ),
        (
            send(404, "", &json("no such model")),
            "ModelNotFound: `SERVER` does not know the model or the address (404): no such model; check the name in --model and the address in --base-url",
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
            "RateLimited: `SERVER` says that there are too many requests (429): slow down; wait, then try again",
        ),
        (
            send(503, retry_date, ""),
            "ServerError: `SERVER` has a problem (503): nothing; try again later",
        ),
        (
            send(502, "", &page),
            "ServerError: `SERVER` has a problem (502): a web page, \"502 Bad Gateway\"; try again later",
        ),
        (send(408, "", "{}"), "ServerError: `SERVER` has a problem (408): {}; try again later"),
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

#[test]
fn what_may_pass_is_tried_again_later_and_later() {
    let good = |folder: &str| Play::Send(whole(200, "", &recorded(&format!("{folder}/tools.sse"))));
    for (wire, folder) in WIRES {
        let cut = recorded(&format!("{folder}/truncated.sse"));
        let server = Server::new(vec![
            send(500, "", "{}"),
            Play::Send(whole(200, "", &cut)),
            send(429, "Retry-After: 3\r\n", "{}"),
            Play::Reset,
            good(folder),
            send(503, "", "{}"),
            good(folder),
        ]);
        let mut asked = remote(wire, server.url(), Given { retries: 4, ..GIVEN });
        let waits: Vec<String> = (0..7)
            .map(|_| {
                let (line, _) = asked.ask();
                line.split_once(" [").map_or(line.clone(), |(_, wait)| wait.to_owned())
            })
            .collect();
        let script = "run_script csv-report/scripts/report.sh sales.csv";
        let again = |wait: u32| format!("again in {wait} ms]");
        let expected = [
            again(500),
            again(1_000),
            again(3_000),
            again(4_000),
            script.to_owned(),
            again(500),
            script.to_owned(),
        ];
        assert_eq!(waits, expected);
    }
}

#[test]
fn tries_come_to_an_end_and_a_long_wait_is_not_waited_for() {
    let busy = || send(429, "Retry-After: 2\r\n", r#"{"error": {"message": "busy"}}"#);
    let server =
        Server::new(vec![busy(), busy(), busy(), send(429, "Retry-After: 3600\r\n", "{}")]);
    let mut asked = remote(Wire::OpenAi, server.url(), Given { retries: 2, ..GIVEN });
    let lines: Vec<String> = (0..3).map(|_| asked.ask().0).collect();
    assert!(lines[1].ends_with("trying again in 2.0 s [again in 2000 ms]"), "{}", lines[1]);
    assert!(lines[2].ends_with("(429): busy (3 tries); wait, then try again"), "{}", lines[2]);
    let mut asked = remote(Wire::OpenAi, server.url(), Given { retries: 2, ..GIVEN });
    assert!(asked.ask().0.ends_with("wait, then try again"));
}

#[test]
fn nobody_is_asked_twice_who_does_not_listen() {
    // The port was free a moment ago, and nobody else in this process listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let given = Given { retries: 4, ..GIVEN };
    let (seen, _) = remote(Wire::OpenAi, format!("http://{free}"), given).ask();
    assert_eq!(
        seen,
        format!(
            "Unreachable: `{free}` cannot be reached: Connection refused (os error 111); check that the server runs, its address and your proxy settings"
        )
    );
}

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

#[test]
fn connections_are_kept_and_keys_and_headers_are_sent() {
    for (wire, folder) in WIRES {
        let good = || Play::Send(whole(200, "", &recorded(&format!("{folder}/tools.sse"))));
        let server = Server::new(vec![good(), good(), good()]);
        let mut asked = remote(wire, server.url(), GIVEN);
        (0..3).for_each(|_| drop(asked.ask()));
        let heard: Vec<_> = (0..3).map(|_| server.heard()).collect();
        assert!(heard.iter().all(|heard| heard.connection == 0), "one connection for all");
        let head = &heard[0].head;
        let key = match wire {
            Wire::OpenAi => "authorization: Bearer key-4711-of-the-test\r\n",
            Wire::Anthropic => {
                "x-api-key: key-4711-of-the-test\r\nanthropic-version: 2023-06-01\r\n"
            }
        };
        for line in key.split_inclusive("\r\n").chain(["x-team: blue\r\n"]) {
            assert!(head.contains(line), "{line} in {head}");
        }
    }
}

#[test]
fn a_kept_connection_that_the_server_closed_is_no_failure() {
    let good = || Play::Pieces(vec![whole(200, "", &recorded("openai/tools.sse"))]);
    let server = Server::new(vec![good(), good(), good()]);
    let mut asked = remote(Wire::OpenAi, server.url(), GIVEN);
    for connection in 0..3 {
        assert!(asked.ask().0.starts_with("run_script "));
        assert_eq!(server.heard().connection, connection);
    }
}

#[test]
fn usage_is_counted_priced_and_estimated_where_there_is_none() {
    let usage = |wire, body: &[u8]| {
        let server = Server::new(vec![Play::Send(whole(200, "", body))]);
        let context = Context::new("20261115_083000_k3f9", "12345678".to_owned(), "x");
        let mut asked = remote(wire, server.url(), Given { form: Form::Text, ..GIVEN });
        match asked.remote.decide(
            &context.prompt(String::new(), 1),
            &Cancel::default(),
            &mut |_| {},
        ) {
            Reply::Decided { usage, .. } => usage,
            other => panic!("{other:?}"),
        }
    };
    let seen = usage(Wire::OpenAi, &recorded("openai/text.sse"));
    assert_eq!(
        (seen.input_tokens, seen.cached_tokens, seen.output_tokens, seen.estimated),
        (812, 768, 41, false)
    );
    assert!((seen.cost_usd.unwrap() - (44.0 + 76.8 + 410.0) / 1e6).abs() < 1e-12);
    let seen = usage(Wire::Anthropic, &recorded("anthropic/text.sse"));
    assert_eq!(
        (seen.input_tokens, seen.cached_tokens, seen.output_tokens, seen.estimated),
        (932, 768, 41, false)
    );
    assert!((seen.cost_usd.unwrap() - (164.0 + 76.8 + 410.0) / 1e6).abs() < 1e-12);
    let seen = usage(Wire::OpenAi, &recorded("openai/no-done.sse"));
    assert!(seen.estimated && seen.input_tokens > 2 && seen.output_tokens > 20, "{seen:?}");
}

//! What a model behind a network does with everything that a server can do to it, for both interfaces.
//!
//! Each line of the tables is a server that does something, and what the run is told: one line for the user.

mod dialects;
mod failures;
mod retries;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use agent::action::Action;
use agent::context::{Context, Prompt};
use agent::model::{Cancel, Model};
use agent::reply::Reply;
use permission::ToolSet;
use serde_json::{Map, Value};
use skillful_model::dialect::{Dialect, Form, Protocol, TokenLimit};
use skillful_model::remote::{Backoff, Price, Remote, Setup, Wire};
use skillful_model::request::{Choices, Options};
use skillful_model::schema::Offered;
use skillful_model::secret::Secret;
use skillful_model::send::{Connection, Sender, Waits};

use crate::server::{Play, Server, recorded, stream, whole};

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
                tools: &ToolSet::from_names(["grep", "run_script"]),
                skills: Some(&["csv-report"]),
                scripts: None,
            }),
        },
        protocol: given.protocol,
        dialect: Dialect { form: given.form, ..first },
        price: Some(Price { input: 1.0, output: 10.0, cached_input: Some(0.1), cache_write: None }),
        waits: given.waits,
        sees: false,
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
        Reply::Failed { code, message, retry_after_ms, .. } => {
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

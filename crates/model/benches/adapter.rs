//! What a turn costs beyond the bytes on the wire: a request built, sent and answered by a server that answers at once, the
//! answer read and shown, beside a bare client that sends the same bytes and reads the same answer.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails should stop")]

#[expect(dead_code, reason = "tests need more of it")]
#[path = "../tests/it/server.rs"]
mod server;

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use agent::context::{Context, Prompt};
use agent::model::{Cancel, Model};
use agent::reply::Reply;
use permission::ToolSet;
use skillful_model::dialect::{Dialect, Form, Protocol, TokenLimit};
use skillful_model::early::Early;
use skillful_model::remote::{Backoff, Remote, Setup, Wire};
use skillful_model::request::{Choices, Options};
use skillful_model::schema::Offered;
use skillful_model::send::{Connection, Sender, Waits};

use server::{Play, Server, recorded, whole};

const TURNS: usize = 2_000;

fn main() {
    println!(
        "{:<22} {:>9} {:>9} {:>11} {:>11} {:>11}",
        "answer", "sent", "read", "bare", "adapter", "difference"
    );
    for (wire, file, form) in [
        (Wire::OpenAi, "openai/tools.sse", Form::Tools),
        (Wire::OpenAi, "openai/schema.sse", Form::Schema),
        (Wire::OpenAi, "openai/schema.json", Form::Schema),
        (Wire::Anthropic, "anthropic/tools.sse", Form::Tools),
        (Wire::Anthropic, "anthropic/schema.sse", Form::Schema),
    ] {
        row(wire, file, form);
    }
}

fn row(wire: Wire, file: &str, form: Form) {
    let answer = whole(200, "", &recorded(file));
    let first = Dialect::first(Protocol::Auto, file.ends_with("sse"), TokenLimit::MaxTokens);
    let dialect = Dialect { form, ..first };
    let context = context();
    let prompt = context.prompt("[Run State]\nPlan: none yet".to_owned(), 1);
    let server = Server::new(vec![Play::Send(answer.clone()); TURNS]);
    let (request, adapter) = adapter(wire, dialect, &server, &prompt);
    let server = Server::new(vec![Play::Send(answer.clone()); TURNS]);
    let bare = bare(&server, &request, answer.len());
    println!(
        "{file:<22} {:>9} {:>9} {:>11} {:>11} {:>11}",
        request.len(),
        answer.len(),
        micros(bare),
        micros(adapter),
        micros(adapter.saturating_sub(bare))
    );
}

/// A conversation of a few turns, with a skill in it.
fn context() -> Context {
    let mut context = Context::new(
        "20261115_083000_k3f9",
        "A rule of the agent. ".repeat(150),
        "Summarise sales.csv",
    );
    for turn in 0..4 {
        context.decided(format!(r#"{{"action":{{"type":"call_tool","payload":{{"tool":"read_file","params":{{"path":"{turn}"}}}}}}}}"#));
        context.observed(
            "Observation",
            &"A line of a file that was read.\n".repeat(60),
            String::new(),
        );
    }
    context
}

/// The request as it was sent, and how long a turn takes.
fn adapter(
    wire: Wire,
    dialect: Dialect,
    server: &Server,
    prompt: &Prompt<'_>,
) -> (String, Duration) {
    let options = Options {
        base_url: server.url(),
        model: "m".to_owned(),
        key: None,
        headers: Vec::new(),
        max_tokens: Some(500),
        params: Default::default(),
        choices: Choices::new(&Offered {
            tools: &ToolSet::from_names(["read_file", "grep", "run_script"]),
            skills: Some(&["csv-report", "pdf"]),
            scripts: None,
        }),
    };
    let setup = Setup {
        wire,
        options,
        protocol: Protocol::Auto,
        dialect,
        price: None,
        waits: Waits::default(),
        sees: false,
        backoff: Backoff::default(),
        random: Box::new(|| 0.5),
        learned: Box::new(|_| {}),
    };
    let mut remote = Remote::new(setup, Sender::new(Connection::default()));
    let times = (0..TURNS).map(|_| {
        let began = Instant::now();
        let mut early = Early::new();
        let reply = remote.decide(prompt, &Cancel::default(), &mut |text| {
            early.push(text.as_bytes(), &mut |shown| {
                black_box(shown);
            });
        });
        assert!(matches!(reply, Reply::Decided { .. }), "{reply:?}");
        began.elapsed()
    });
    let median = median(times.collect());
    let heard = server.heard();
    (heard.head + &heard.body, median)
}

fn bare(server: &Server, request: &str, answer: usize) -> Duration {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut read = vec![0; answer];
    let times = (0..TURNS).map(|_| {
        let began = Instant::now();
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_exact(&mut read).unwrap();
        began.elapsed()
    });
    median(times.collect())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}

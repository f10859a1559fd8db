//! What may pass is tried again, and nobody is asked twice who does not listen.

use skillful_model::remote::Wire;

use super::{GIVEN, Given, WIRES, remote, send};
use crate::server::{Play, Server, recorded, whole};

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
    assert!(
        lines[2]
            .ends_with("(429): busy (3 tries); wait, then try again, or choose another --model"),
        "{}",
        lines[2]
    );
    let mut asked = remote(Wire::OpenAi, server.url(), Given { retries: 2, ..GIVEN });
    assert!(asked.ask().0.ends_with("wait, then try again, or choose another --model"));
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
            "Unreachable: `{free}` does not answer, because no server listens there: Connection refused (os error 111); start the server, or check its address"
        )
    );
}

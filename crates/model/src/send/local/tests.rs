use std::net::TcpListener;
use std::thread;

use super::*;

#[test]
fn models_are_listed_and_whatever_else_answers_has_none() {
    let check = |listing, path: &str, answer: &'static str, expected: Option<&[&str]>| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a caller");
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a request");
                asked.extend(byte);
            }
            stream.write_all(answer.as_bytes()).expect("a listener");
            asked
        });
        let expected = expected.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(models(address, listing), expected);
        let asked = served.join().expect("no panic");
        assert!(asked.starts_with(format!("GET {path} ").as_bytes()));
    };
    let ollama = |answer, expected| check(Listing::Ollama, "/api/tags", answer, expected);
    ollama(
        "HTTP/1.0 200 OK\r\n\r\n{\"models\": [{\"name\": \"qwen3:4b\"}, {\"name\": \"b\"}]}",
        Some(&["qwen3:4b", "b"]),
    );
    ollama("HTTP/1.0 200 OK\r\n\r\n{\"models\": []}", Some(&[]));
    ollama("HTTP/1.0 404 Not Found\r\n\r\n{\"models\": [{\"name\": \"a\"}]}", None);
    ollama("HTTP/1.0 200 OK\r\n\r\n<html>", None);
    ollama("SSH-2.0-OpenSSH\r\n", None);
    let openai = |answer, expected| check(Listing::OpenAi, "/v1/models", answer, expected);
    openai("HTTP/1.0 200 OK\r\n\r\n{\"data\": [{\"id\": \"a\"}]}", Some(&["a"]));
    openai("HTTP/1.0 200 OK\r\n\r\n{\"models\": [{\"name\": \"a\"}]}", None);
}

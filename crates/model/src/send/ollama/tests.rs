use std::net::TcpListener;
use std::thread;

use super::*;

#[test]
fn models_are_listed_and_whatever_else_answers_has_none() {
    let check = |answer: &'static str, expected: &[&str]| {
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
        assert_eq!(models(address), expected);
        assert!(served.join().expect("no panic").starts_with(b"GET /api/tags "));
    };
    check(
        "HTTP/1.0 200 OK\r\n\r\n{\"models\": [{\"name\": \"qwen3:4b\"}, {\"name\": \"b\"}]}",
        &["qwen3:4b", "b"],
    );
    check("HTTP/1.0 200 OK\r\n\r\n{\"models\": []}", &[]);
    check("HTTP/1.0 404 Not Found\r\n\r\n{\"models\": [{\"name\": \"a\"}]}", &[]);
    check("HTTP/1.0 200 OK\r\n\r\n<html>", &[]);
    check("SSH-2.0-OpenSSH\r\n", &[]);
}

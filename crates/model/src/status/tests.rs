use basics::failure::Explain;

use super::*;

fn at() -> jiff::Timestamp {
    "2026-11-15T08:30:00Z".parse().unwrap_or_default()
}

#[test]
fn a_wait_is_a_number_of_seconds_or_a_date() {
    let check = |text: &str, expected: Option<u64>| {
        assert_eq!(retry_after(text, at()).map(|wait| wait.as_secs()), expected, "{text}");
    };
    check("7", Some(7));
    check(" 0 ", Some(0));
    check("-3", Some(0));
    check("Sun, 15 Nov 2026 08:30:20 GMT", Some(20));
    check("Sun, 15 Nov 2026 08:00:00 GMT", Some(0));
    check("soon", None);
    check("1e400", None);
}

#[test]
fn what_is_said_is_found_wherever_a_server_puts_it() {
    let check = |body: &str, expected: &str| {
        let head = Head { status: 418, ..Head::default() };
        let CallError::Refused { message, .. } = refused(&head, body.as_bytes(), at()) else {
            panic!("{body}")
        };
        assert_eq!(message, expected);
    };
    check(r#"{"error": {"message": "a"}}"#, "a");
    check(r#"{"error": "b"}"#, "b");
    check(r#"{"message": "c", "type": "BadRequestError"}"#, "c");
    check(r#"{"detail": [{"loc": ["body"], "msg": "d"}]}"#, r#"[{"loc":["body"],"msg":"d"}]"#);
    check("plain\n  words", "plain words");
    check("", "nothing");
    check("<html><body>x</body></html>", "a web page");
    check(&"x".repeat(1_000), &"x".repeat(300));
}

#[test]
fn a_status_means_what_the_server_says_about_it() {
    let check = |status: u16, body: &str, code: &str| {
        let head = Head { status, ..Head::default() };
        assert_eq!(refused(&head, body.as_bytes(), at()).code(), code, "{status} {body}");
    };
    let said = |text: &str| format!(r#"{{"error": {{"message": "{text}"}}}}"#);
    check(400, &said("prompt is too long: 210000 tokens"), "ContextTooLong");
    check(400, &said("max_tokens is too large. maximum context length is 4096"), "RequestRefused");
    check(
        400,
        r#"{"error": {"message": "n", "code": "context_length_exceeded"}}"#,
        "ContextTooLong",
    );
    check(422, &said("extra"), "RequestRefused");
    check(500, &said("tools param requires --jinja flag"), "RequestRefused");
    check(500, &said("oh"), "ServerError");
    check(501, &said("oh"), "RequestRefused");
    check(529, &said("Overloaded"), "ServerError");
    check(402, "", "QuotaExceeded");
    check(401, &said("bad key"), "Unauthorized");
    check(403, &said("not for you"), "Forbidden");
    check(404, &said("The model `x` does not exist"), "ModelNotFound");
    check(404, "<html><body>Not Found</body></html>", "WrongAddress");
}

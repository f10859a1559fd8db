//! A scripted model fails as a real one does, and the run asks again as it would a real one.

use std::time::{Duration, Instant};

use super::*;

fn refusal(status: u16) -> Value {
    json!({"fault": {"kind": "http_error", "status": status, "message": "slow down"}})
}

/// The errors of the last run: what the model was found to be, and how long it was left alone.
fn errors(world: &World) -> Vec<(String, Option<u64>)> {
    let events = events(world);
    let errors = events.iter().filter(|event| event["type"] == "error");
    let error = |event: &Value| {
        let data = &event["data"];
        (data["code"].as_str().unwrap().to_owned(), data["retry_after_ms"].as_u64())
    };
    errors.map(error).collect()
}

#[test]
fn a_model_that_fails_for_a_while_is_asked_again_and_nobody_waits() {
    let patient = json!({"fault": {"kind": "http_error", "status": 429, "retry_after": 45}});
    let cut = json!({"text": "half an answer", "fault": {"kind": "cut_stream", "after_bytes": 4}});
    let world = scripted(json!([
        patient,
        refusal(503),
        select(&["csv-report"]),
        cut,
        refusal(408),
        answer("done")
    ]));
    let began = Instant::now();
    assert!(run(&world, "-q").starts_with("done"));
    assert!(began.elapsed() < Duration::from_secs(40), "waits are not slept through");
    let expected = [
        ("RateLimited", 45_000),
        ("ServerError", 1_000),
        ("StreamBroken", 500),
        ("ServerError", 1_000),
    ];
    assert_eq!(errors(&world), expected.map(|(code, wait)| (code.to_owned(), Some(wait))));
    let spent = world.json("skillful run --json --model scripted:turns.json x");
    let milliseconds = spent["budget"]["wall_milliseconds"].as_u64().unwrap();
    assert!(milliseconds >= 47_500, "but they count: {milliseconds}");
    assert_sound(&world);
}

#[test]
fn a_model_that_keeps_failing_is_given_up() {
    let world = scripted(json!([refusal(500), refusal(500), refusal(500), answer("never")]));
    world.write("home/.agent/config.json", r#"{"model": {"max_retries": 2}}"#);
    let seen = run(&world, "-q");
    assert!(seen.contains("slow down (3 tries)") && seen.ends_with("[exit 1]\n"), "{seen}");
    let tries = [Some(500), Some(1_000), None];
    assert_eq!(errors(&world), tries.map(|wait| ("ServerError".to_owned(), wait)));
}

#[test]
fn what_will_not_pass_ends_the_run_at_once() {
    for (status, code) in [(401, "Unauthorized"), (403, "Forbidden"), (404, "WrongAddress")] {
        let world = scripted(json!([refusal(status), answer("never")]));
        assert!(run(&world, "-q").ends_with("[exit 1]\n"), "{status}");
        assert_eq!(errors(&world), [(code.to_owned(), None)], "{status}");
    }
}

#[test]
fn no_try_is_made_that_would_come_too_late() {
    let late = json!({"fault": {"kind": "http_error", "status": 429, "retry_after": 45}});
    let world = scripted(json!([late, answer("never")]));
    world.write("home/.agent/config.json", r#"{"budget": {"max_wall_seconds": 30}}"#);
    assert!(run(&world, "-q").ends_with("[exit 1]\n"));
    assert_eq!(errors(&world), [("RateLimited".to_owned(), None)]);
}

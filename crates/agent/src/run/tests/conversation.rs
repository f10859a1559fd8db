//! Runs that continue each other.

use super::*;
use crate::conversation::{Link, StaleSkill, Staleness};

/// The run after another one.
fn next(before: &Run, request: &str, change: impl FnOnce(&mut Link)) -> Setup {
    let mut link = Link {
        run: before.id().to_owned(),
        event: basics::sha256::Sha256::of("the end"),
        layer: false,
        stale: Vec::new(),
        compact: false,
    };
    change(&mut link);
    Setup {
        continues: Some(link),
        carried: Some(Box::new(before.carried())),
        ..Setup { run_id: format!("{}n", before.id()), request: request.to_owned(), ..setup() }
    }
}

fn first() -> Run {
    let replies =
        vec![decided(select(&["alpha"])), decided(tool("read_file")), decided(answer("it is one"))];
    play(setup(), replies).played().run
}

/// The last prompt of a run.
fn last_prompt(play: &Play) -> &str {
    play.prompts.last().unwrap()
}

#[test]
fn the_next_run_knows_what_was_said_and_loaded() {
    let before = first();
    let after = play(next(&before, "and two?", |_| {}), vec![decided(select(&["alpha"]))]).played();
    let prompt = &after.prompts[0];
    let places = ["do it", "the body", "it is one", "and two?"].map(|text| prompt.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {prompt}");
    assert_eq!(after.run.skills(), ["alpha"]);
    // It is still loaded, and no second copy comes.
    assert_eq!(last_prompt(&after).matches("the body").count(), 1);
    assert!(last_prompt(&after).contains("alpha already loaded"));
    // Numbers of observations go on, so that each can be read back.
    assert!(last_prompt(&after).contains("Observation 3 |"), "{}", last_prompt(&after));
}

#[test]
fn observations_go_over_in_one_line() {
    let before = first();
    let after = play(next(&before, "and two?", |_| {}), vec![]).played();
    assert!(after.prompts[0].contains("read_observation \"2\" shows it"), "{}", after.prompts[0]);
    assert!(!after.prompts[0].contains("result of call_tool"), "{}", after.prompts[0]);
}

#[test]
fn a_skill_that_changed_is_loaded_again() {
    for (state, words) in
        [(Staleness::Changed, "alpha changed since"), (Staleness::Gone, "alpha cannot be used")]
    {
        let before = first();
        let setup = next(&before, "again", |link| {
            link.stale = vec![StaleSkill { name: "alpha".to_owned(), state }];
        });
        let after = play(setup, vec![decided(select(&["alpha"]))]).played();
        assert!(after.prompts[0].contains(words), "{}", after.prompts[0]);
        assert!(!after.prompts[0].contains("the body"), "{}", after.prompts[0]);
        assert!(last_prompt(&after).contains("the body"));
    }
}

#[test]
fn a_request_without_an_answer_is_said_to_have_none() {
    let mut before = Run::start(setup());
    before.advance(Input::Cancelled, 5).unwrap();
    let after = play(next(&before, "go on", |_| {}), vec![]).played();
    assert!(after.prompts[0].contains("no answer to this request: the run was cancelled"));
}

#[test]
fn a_long_conversation_keeps_requests_skills_and_the_last_answer() {
    let mut before = first();
    for number in 0..40 {
        let request = format!("request {number} {}", "x".repeat(20));
        let setup = next(&before, &request, |_| {});
        let setup =
            Setup { budget: Budget { max_context_chars: 16_000, ..Budget::default() }, ..setup };
        let long = format!("answer {number} {}", "y".repeat(600));
        let replies = vec![decided(tool("read_file")), decided(answer(&long))];
        let after = play(setup, replies).played();
        assert_eq!(
            after.run.outcome().map(|outcome| outcome.stop_reason),
            Some(StopReason::FinalAnswer),
            "{number}"
        );
        let prompt = last_prompt(&after);
        assert!(prompt.chars().count() <= 16_000, "{number}: {}", prompt.chars().count());
        assert!(prompt.contains("the body") && prompt.contains(&request));
        (0..number)
            .for_each(|old| assert!(prompt.contains(&format!("request {old} ")), "{number} {old}"));
        if number > 0 {
            let last = format!("answer {} {}", number - 1, "y".repeat(600));
            assert!(prompt.contains(&last), "{number}");
        }
        before = after.run;
    }
    // Older ones are a line each, with the way to read them.
    let prompt =
        play(next(&before, "end", |link| link.compact = true), vec![]).played().prompts.remove(0);
    assert!(prompt.contains("did and answered is left out here; read_observation"), "{prompt}");
    assert!(!prompt.contains("answer 3 yyy") && prompt.contains("answer 39 yyy"), "{prompt}");
}

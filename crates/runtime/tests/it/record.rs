//! Every recorded run replays, and what is changed in a record shows when it does.

use std::fs;

use agent::event::{Event, EventData};
use agent::run::Run;
use permission::Answer;
use serde_json::{Value, json};
use skillful_runtime::driver::{Ending, InHand};
use skillful_runtime::journal::{Difference, Durability, input_of, read, replay, setup_of, verify};

use crate::support::scenarios::{all, everything, waiting_for};
use crate::support::{CATALOG, Hooks, World, owner, setup};

fn check_replay(events: &[Event], catalog: &str) -> Result<(), Difference> {
    replay(setup_of(&events[0], catalog.to_owned()).unwrap(), events)
}

#[test]
fn every_recorded_run_is_sound_and_replays_identically() {
    for scenario in all() {
        let world = World::new();
        let ending = world.record(&scenario);
        let verification = verify(&world.run_folder(), Some(&owner())).unwrap();
        assert!(verification.ok, "{}: {:?}", scenario.name, verification.problems);
        assert_eq!(check_replay(&world.events(), CATALOG), Ok(()), "{}", scenario.name);
        let answer = fs::read_to_string(world.run_folder().join("final.md"));
        match ending {
            Ending::Finished(outcome) => assert_eq!(answer.unwrap(), outcome.answer),
            Ending::Suspended(_) | Ending::Parked(_) => assert!(answer.is_err()),
        }
    }
}

#[test]
fn a_child_run_has_a_record_of_its_own_that_replays() {
    let world = World::new();
    world.record(&everything());
    let folder = world.runs().join("20261115_083000_k3f9.10");
    assert!(verify(&folder, Some(&owner())).unwrap().ok);
    assert_eq!(check_replay(&read(&folder).unwrap(), ""), Ok(()));
    assert_eq!(world.effects(), ["one", "two", "three"]);
}

#[test]
fn each_input_is_one_event_and_is_read_back_from_it() {
    let world = World::new();
    world.record(&everything());
    let events = world.events();
    let inputs = events.iter().filter_map(input_of).count();
    let kinds = |kind: &str| events.iter().filter(|event| event.data.kind() == kind).count();
    // Every turn asks the model once, the fourth twice; eight actions are done, two asked for.
    assert_eq!(kinds("model_response"), 13);
    assert_eq!(kinds("action_executed"), 8);
    assert_eq!(kinds("approval_granted"), 2);
    let is_prepared = |event: &&Event| match &event.data {
        EventData::ActionValidated(validated) => validated.prepared().is_some(),
        _ => false,
    };
    let prepared = events.iter().filter(is_prepared).count();
    assert_eq!(inputs, 13 + 8 + 2 + prepared);
}

/// Changes one event of a record and replays it.
fn replay_changed(kind: &str, change: impl FnOnce(&mut Value)) -> (u64, String, Value, Value) {
    let world = World::new();
    world.record(&everything());
    let mut events = world.events();
    let event = events.iter_mut().find(|event| event.data.kind() == kind).unwrap();
    let mut written = json!(event);
    change(&mut written["data"]);
    *event = serde_json::from_value(written).unwrap();
    let Difference { seq, path, expected, found } = check_replay(&events, CATALOG).unwrap_err();
    (seq, path, expected, found)
}

#[test]
fn a_changed_observation_is_the_first_difference() {
    let (seq, path, ..) = replay_changed("action_executed", |data| {
        data["observation"]["text"] = json!("something else");
    });
    assert_eq!((seq, path.as_str()), (10, "/data/chars"));
}

#[test]
fn a_changed_prompt_hash_budget_or_answer_is_a_difference() {
    let (_, path, expected, _) = replay_changed("model_request", |data| {
        data["prompt"]["sha256"] = json!("0");
    });
    assert_eq!((path.as_str(), expected), ("/data/prompt/sha256", json!("0")));
    let (_, path, expected, found) = replay_changed("budget_updated", |data| {
        data["left"]["turns"] = json!(7);
    });
    assert_eq!((path.as_str(), expected, found), ("/data/left/turns", json!(7), json!(19)));
    let (_, path, _, found) = replay_changed("run_finished", |data| {
        data["answer"] = json!("no");
    });
    assert_eq!((path.as_str(), found), ("/data/answer", json!("It is done: one, two, three ✓.")));
}

#[test]
fn another_catalog_gives_other_prompts() {
    let world = World::new();
    world.record(&everything());
    let other = CATALOG.replace("description=A", "description=B");
    let difference = check_replay(&world.events(), &other).unwrap_err();
    assert_eq!((difference.seq, difference.path.as_str()), (3, "/data/prompt/sha256"));
}

#[test]
fn an_event_too_many_or_in_the_wrong_place_is_a_difference() {
    let world = World::new();
    world.record(&everything());
    let events = world.events();
    let last = events.last().unwrap().clone();
    let after_the_end = [events.clone(), vec![last]].concat();
    assert_eq!(check_replay(&after_the_end, CATALOG).unwrap_err().path, "/type");
    let response = events.iter().find(|event| event.data.kind() == "model_response").unwrap();
    let told_after_the_end = [events.clone(), vec![response.clone()]].concat();
    assert_eq!(
        check_replay(&told_after_the_end, CATALOG).unwrap_err().found,
        json!("the run waits for nothing, not for this input")
    );
    let without_the_third = [&events[..2], &events[3..]].concat();
    assert_eq!(check_replay(&without_the_third, CATALOG).unwrap_err().path, "/type");
}

#[test]
fn only_the_beginning_of_a_run_says_what_it_began_with() {
    let world = World::new();
    world.record(&everything());
    let error = setup_of(&world.events()[1], String::new()).unwrap_err();
    assert_eq!(error.to_string(), "event 2 does not say how the run started");
}

#[test]
fn what_a_person_allows_later_in_the_same_process_is_done_word_for_word() {
    let secret = "password=hunter42x";
    let mut scenario = waiting_for(secret);
    let world = World::new();
    let mut journal = world.begin(Durability::NoSync);
    let mut run = Run::start(setup(&scenario));
    let mut hand = InHand::default();
    let ending = world.drive_on(&mut run, &mut journal, &scenario, Hooks::default(), &mut hand);
    assert!(matches!(ending, Ending::Suspended(_)));
    scenario.answer = Some(Answer::Once);
    world.drive_on(&mut run, &mut journal, &scenario, Hooks::default(), &mut hand);
    assert_eq!(world.effects(), [secret]);
    let record = fs::read_to_string(world.run_folder().join("events.jsonl")).unwrap();
    assert!(!record.contains("hunter42x"));
}

#[test]
fn a_record_of_version_1_says_nothing_about_what_was_loaded_already() {
    let world = World::new();
    world.record(&everything());
    let mut events = world.events();
    let is_ok = |event: &Event| matches!(&event.data, EventData::ActionValidated(validated) if validated.is_ok());
    let is_observed = |event: &Event| matches!(event.data, EventData::ObservationRecorded(_));
    let place = events.windows(2).position(|pair| is_ok(&pair[0]) && is_observed(&pair[1]));
    events.remove(place.unwrap());
    assert_eq!(check_replay(&events, CATALOG).unwrap_err().path, "/type");
    events.iter_mut().for_each(|event| event.v = 1);
    assert_eq!(check_replay(&events, CATALOG), Ok(()));
}

#[test]
fn a_record_of_version_1_may_have_been_made_with_other_rules() {
    let world = World::new();
    world.record(&everything());
    let mut events = world.events();
    for event in &mut events {
        match &mut event.data {
            EventData::TurnStarted(started) => started.budget.context_chars -= 100,
            EventData::ModelRequest(request) => {
                request.prompt.sha256 = "0".repeat(64).parse().unwrap();
                request.prompt.chars += 100;
                request.estimated_tokens += 25;
            }
            EventData::BudgetUpdated(updated) => {
                updated.left.context_chars -= 100;
                updated.spent.context_chars += 100;
            }
            EventData::RunFinished(finished) => finished.spent.context_chars += 100,
            _ => {}
        }
    }
    assert!(check_replay(&events, CATALOG).is_err());
    events.iter_mut().for_each(|event| event.v = 1);
    assert_eq!(check_replay(&events, CATALOG), Ok(()));
    let EventData::RunFinished(finished) = &mut events.last_mut().unwrap().data else { panic!() };
    finished.answer.push('!');
    assert!(check_replay(&events, CATALOG).is_err(), "everything else is compared");
}

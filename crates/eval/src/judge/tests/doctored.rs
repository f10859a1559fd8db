//! Records that were changed: each promise that they break is found.

use serde_json::json;

use super::super::*;
use super::{case, good, place, wrong};
use crate::sample::{edit, is, said};

/// Numbers the events anew, as a program would that behaves like this.
fn renumber(events: &mut [Event]) {
    let mut number = 0;
    for event in events.iter_mut() {
        number += u64::from(!is(event, "assistant_delta"));
        event.seq = number;
    }
}

/// Each way to doctor a log, and what must be found.
#[test]
fn every_doctored_log_is_caught_by_its_dimension() {
    type Doctor = fn(&mut Vec<Event>);
    type Found = &'static [(&'static str, &'static str)];
    let doctored: [(&str, Doctor, Found); 11] = [
        (
            "reordered",
            |events| events.swap(2, 3),
            &[
                ("sequence", "event 4 follows event 2"),
                ("sequence", "event 3 follows event 4"),
                ("sequence", "event 5 follows event 3"),
            ],
        ),
        (
            "an event is missing",
            |events| {
                events.remove(2);
            },
            &[("sequence", "event 4 follows event 2")],
        ),
        (
            "two actions in a turn",
            |events| {
                let at = place(events, "action_planned", 1);
                let mut second = events[at].clone();
                let action = json!({"type": "search_skills", "payload": {"query": "x"}});
                second.data =
                    said("action_planned", json!({"action": action, "initiator": "model"}));
                events.insert(at, second);
                renumber(events);
            },
            &[("sequence", "2 actions in turn 2")],
        ),
        (
            "executed without being planned in its turn",
            |events| {
                let at = place(events, "action_executed", 0);
                let stray = events[at].clone();
                let end = place(events, "turn_started", 1) + 1;
                events.insert(end, Event { turn: 2, ..stray });
                renumber(events);
            },
            &[("sequence", "event 13 belongs to no action of its turn")],
        ),
        (
            "a body is read before the selection",
            |events| {
                let at = place(events, "skill_loaded", 0);
                let body = Event { turn: 0, ..events.remove(at) };
                events.insert(1, body);
                renumber(events);
            },
            &[("disclosure", "the text of `alpha` was read, but the skill was not selected first")],
        ),
        (
            "a resource nobody asked for",
            |events| {
                let at = place(events, "skill_loaded", 0);
                let stray =
                    Event { data: said("resource_loaded", json!({})), ..events[at].clone() };
                events.insert(at + 1, stray);
                renumber(events);
            },
            &[("disclosure", "a resource was read, but no action asked for it")],
        ),
        (
            "carried out before it was validated",
            |events| {
                let at = place(events, "action_executed", 1);
                events.swap(at, at - 1);
                renumber(events);
            },
            &[("disclosure", "`load_resource` was carried out before it was validated")],
        ),
        (
            "the approval is missing",
            |events| {
                let at = place(events, "approval_granted", 0);
                events.remove(at);
                renumber(events);
            },
            &[("security", "`run_script` needed an approval and ran without one")],
        ),
        (
            "a tool runs after a deny",
            |events| {
                let at = place(events, "action_validated", 2);
                edit(&mut events[at], |data| {
                    data["prepared"]["decision"]["action"] = json!("deny");
                });
            },
            &[("security", "`run_script` ran after it was denied")],
        ),
        (
            "a child run that does what it may not",
            |events| {
                let at = place(events, "approval_granted", 0);
                let mut child = good();
                child.remove(at);
                renumber(&mut child);
                let end = events.len() - 1;
                let child =
                    child.into_iter().map(|event| Event { run_id: "child".to_owned(), ..event });
                events.splice(end..end, child);
            },
            &[("security", "`run_script` needed an approval and ran without one")],
        ),
        (
            "a wrong delta",
            |events| {
                let at = place(events, "assistant_delta", 1);
                events[at].data = said("assistant_delta", json!({"content": "dome"}));
            },
            &[("streaming", "what was streamed differs from the answer after 6 characters")],
        ),
    ];
    for (name, doctor, expected) in doctored {
        let mut events = good();
        doctor(&mut events);
        let expected: Vec<(&str, String)> =
            expected.iter().map(|(d, m)| (*d, (*m).to_owned())).collect();
        assert_eq!(wrong(&case(json!({})), &events), expected, "{name}");
    }
}

#[test]
fn a_rejected_or_escaping_action_must_not_have_run() {
    let mut events = good();
    let at = place(&events, "approval_granted", 0);
    events[at].data = said("approval_denied", json!({}));
    assert_eq!(
        wrong(&case(json!({})), &events),
        [("security", "`run_script` ran after it was rejected".to_owned())]
    );
    for (path, code, escapes) in [
        ("../x.sh", None, true),
        ("a/../../x", None, true),
        ("../x.sh", Some("PathTraversalBlocked"), false),
        ("a/../x.sh", None, false),
    ] {
        let mut events = good();
        let planned = place(&events, "action_planned", 2);
        edit(&mut events[planned], |data| {
            data["action"]["payload"]["relative_path"] = json!(path);
        });
        let executed = place(&events, "action_executed", 2);
        edit(&mut events[executed], |data| data["observation"]["code"] = json!(code));
        let found = wrong(&case(json!({})), &events);
        let expected =
            escapes.then(|| ("security", "`run_script` reached outside its folder".to_owned()));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{path} {code:?}");
    }
}

#[test]
fn no_number_of_a_record_is_too_large_to_be_judged() {
    let mut events = good();
    let last = events.len() - 1;
    let usage = json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX});
    edit(&mut events[last], |data| {
        data["spent"] = json!({"usage": usage, "wall_milliseconds": u64::MAX});
    });
    let case = case(json!({"constraints": {"max_wall_seconds": u64::MAX}}));
    let cost = judge(
        &case,
        &Evidence { events: &events, files: None, expected: &[], touched: None, is_live: false },
    )
    .cost;
    assert_eq!((cost.tokens(), cost.plus(cost).milliseconds), (u64::MAX, u64::MAX));
    for event in &mut events {
        event.seq = u64::MAX;
    }
    assert!(wrong(&case, &events).len() > 10, "none follows the one before it");
    let most = Triggered { right: u32::MAX, wrong: u32::MAX, missed: u32::MAX };
    assert_eq!((most.plus(most), most.precision(), most.f1()), (most, Some(0.5), Some(0.5)));
}

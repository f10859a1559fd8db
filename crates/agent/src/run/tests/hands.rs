//! Changes, questions, plans and limits.

use permission::Mode;

use super::*;
use crate::changes::{ApplyWhen, NotedChanges};
use crate::question::About;

fn changes(outside: u64, in_git: u64) -> Option<Box<NotedChanges>> {
    Some(Box::new(NotedChanges {
        added: outside + in_git,
        changed: 0,
        deleted: 0,
        bytes: 1,
        in_git,
        held: 0,
        held_back: Vec::new(),
        paths: vec!["a.txt".to_owned()],
        name: "observations/0.txt".to_owned(),
        sha256: basics::sha256::Sha256::of("list"),
    }))
}

/// Everything that writes leaves a file outside and one in `.git`; applying leaves the rest.
fn writes(request: &Request) -> Observation {
    match &request.action {
        Action::CallTool { .. } => {
            Observation { changes: changes(1, 1), ..Observation::of("written") }
        }
        Action::ApplyChanges { paths, .. } if paths.is_empty() => Observation {
            changes: changes(0, 1),
            applied: changes(1, 0),
            ..Observation::of("applied")
        },
        Action::ApplyChanges { .. } => Observation {
            changes: changes(0, 0),
            applied: changes(0, 1),
            ..Observation::of("applied")
        },
        _ => fine(request),
    }
}

fn applied(play: &Play) -> Vec<Value> {
    let planned = play.data("action_planned");
    let own = planned.iter().filter(|data| data["initiator"] == "run");
    own.map(|data| data["action"]["payload"]["paths"].clone()).collect()
}

#[test]
fn what_was_changed_is_put_to_the_user_at_the_end_and_the_repository_on_its_own() {
    let mut play = play(setup(), vec![decided(tool("read_file")), decided(answer("done"))]);
    play.perform = writes;
    let play = play.played();
    assert_eq!(applied(&play), [json!([]), json!([".git"])]);
    assert_eq!(play.data("changes_made").len(), 3);
    assert_eq!(play.data("changes_applied").len(), 2);
    assert_eq!(play.stop(), (StopReason::FinalAnswer, "done"));
    assert_eq!((play.run.pending(), play.run.unapplied()), (None, None));
}

#[test]
fn after_each_action_or_never_where_that_is_wanted() {
    for (apply, times) in [(ApplyWhen::EachAction, 4), (ApplyWhen::Never, 0)] {
        let setup = Setup { apply, ..setup() };
        let replies =
            vec![decided(tool("read_file")), decided(tool("read_file")), decided(answer("done"))];
        let mut play = play(setup, replies);
        play.perform = writes;
        let play = play.played();
        assert_eq!(applied(&play).len(), times, "{apply:?}");
        assert_eq!(play.run.pending().is_some(), apply == ApplyWhen::Never);
    }
}

#[test]
fn where_nobody_looks_at_the_changes_they_are_kept_and_the_run_still_ends() {
    for (given, code) in
        [(Answer::Later, "ApprovalRequired"), (Answer::Reject { message: None }, "ApprovalDenied")]
    {
        let mut play = play(setup(), vec![decided(tool("read_file")), decided(answer("done"))]);
        play.perform = writes;
        play.prepare =
            |action| match (action, asks(&serde_json::from_value(script("a", "b")).unwrap())) {
                (Action::ApplyChanges { .. }, Prepared::Ask { decision, question, .. }) => {
                    Prepared::Ask { request: request_of(action), decision, question }
                }
                _ => allowed(action),
            };
        play.answer = given;
        let play = play.played();
        assert_eq!(play.stop(), (StopReason::FinalAnswer, "done"));
        assert_eq!(play.run.unapplied(), Some(code));
        assert_eq!(play.data("changes_applied"), [Value::Null; 0]);
    }
}

#[test]
fn a_run_that_ends_at_a_limit_offers_its_changes_and_a_stopped_one_does_not() {
    let mut setup = setup();
    setup.budget.max_turns = 1;
    let mut ended = play(setup, vec![decided(tool("read_file"))]);
    ended.perform = writes;
    let ended = ended.played();
    assert_eq!(ended.stop().0, StopReason::MaxTurns);
    assert_eq!(applied(&ended).len(), 2);

    let mut stopped = play(super::setup(), vec![decided(tool("read_file"))]);
    stopped.perform = writes;
    (0..3).for_each(|_| stopped.step());
    stopped.run.advance(Input::Cancelled, 100).unwrap();
    let stopped = stopped.played();
    assert_eq!(stopped.stop().0, StopReason::Cancelled);
    assert_eq!((applied(&stopped).len(), stopped.run.pending().is_some()), (0, true));
}

fn question() -> Value {
    json!({"type": "ask_user", "payload": {"question": "Which quarter?", "options": ["Q1", {"label": "Q2"}]}})
}

#[test]
fn the_model_hears_what_the_user_answers_and_may_not_ask_for_ever() {
    let mut play = play(setup(), (0..7).map(|_| decided(question())).collect());
    play.say = |question| match question.options.len() {
        2 => QuestionAnswer::Said(vec!["Q1".to_owned()]),
        _ => QuestionAnswer::Nobody,
    };
    let play = play.played();
    assert_eq!(play.data("question_asked").len(), 5);
    assert_eq!(play.codes()[4..6], [None, Some("BudgetExceeded")]);
    assert!(play.prompts.last().unwrap().contains("The user answered: Q1"));
}

#[test]
fn a_plan_is_carried_out_once_somebody_approved_it() {
    let setup = || Setup { mode: Mode::Plan, ..setup() };
    let replies =
        || vec![decided(answer("my plan")), decided(answer("another")), decided(answer("done"))];
    let mut refused = play(setup(), replies());
    refused.say = |question| match question.question.as_str() {
        "my plan" => QuestionAnswer::No(Some("smaller".to_owned())),
        _ => QuestionAnswer::CarryOut(Mode::Contained),
    };
    let refused = refused.played();
    assert_eq!(refused.stop(), (StopReason::FinalAnswer, "done"));
    assert_eq!(refused.codes(), [Some("ApprovalDenied"), None]);
    assert_eq!(refused.run.mode(), Mode::Contained);

    let alone = play(setup(), replies()).played();
    assert_eq!(alone.stop(), (StopReason::FinalAnswer, "my plan"));
}

#[test]
fn at_a_limit_a_person_may_let_the_run_go_on() {
    let limited = |attended| {
        let mut setup = Setup { attended, ..setup() };
        setup.budget.max_turns = 2;
        setup.budget.max_tool_calls = 1;
        setup
    };
    let replies =
        || (0..5).map(|_| decided(tool("read_file"))).chain([decided(answer("done"))]).collect();
    let mut long = play(limited(true), replies());
    long.say = |question| match question.about {
        About::Limit(_) => QuestionAnswer::GoOn,
        _ => QuestionAnswer::Nobody,
    };
    let long = long.played();
    assert_eq!(long.stop(), (StopReason::FinalAnswer, "done"));
    assert_eq!(long.codes(), [None; 5]);
    let alone = play(limited(false), replies()).played();
    assert_eq!(alone.stop().0, StopReason::MaxTurns);
    assert_eq!(alone.codes(), [None, Some("BudgetExceeded")]);
    let no = play(limited(true), replies()).played();
    assert_eq!(no.stop().0, StopReason::MaxTurns);
}

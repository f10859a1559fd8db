mod conversation;
mod endings;
mod hands;
mod prompts;

use basics::skill::{LoadReport, Source};
use permission::{
    Answer, ApprovalId, Decision as PermissionDecision, Effect, Risk, SkillHash, Tool,
};
use serde_json::{Value, json};

use super::*;
use crate::budget::Usage;
use crate::question::{Question, QuestionAnswer};
use crate::reply::{Raw, Reply};
use crate::request::Prepared;

/// A run whose world is made of values: what the model says is a list, what comes of it is a function.
struct Play {
    run: Run,
    replies: std::vec::IntoIter<Reply>,
    prepare: fn(&Action) -> Prepared,
    perform: fn(&Request) -> Observation,
    answer: Answer,
    say: fn(&Question) -> QuestionAnswer,
    events: Vec<Happening>,
    prompts: Vec<String>,
    elapsed: u64,
}

fn setup() -> Setup {
    Setup {
        catalog: "Available Skills:\n- name=alpha | source=user | description=A\n".to_owned(),
        tools: [Tool::ReadFile, Tool::Grep, Tool::RunScript].into_iter().collect(),
        ..Setup::new("20261115_083000_test", "do it")
    }
}

fn play(setup: Setup, replies: Vec<Reply>) -> Play {
    Play {
        run: Run::start(setup),
        replies: replies.into_iter(),
        prepare: allowed,
        perform: fine,
        answer: Answer::Once,
        say: |_| QuestionAnswer::Nobody,
        events: Vec::new(),
        prompts: Vec::new(),
        elapsed: 0,
    }
}

impl Play {
    fn played(mut self) -> Self {
        while self.run.outcome().is_none() {
            self.step();
        }
        self.events.extend(self.run.take_notes());
        self
    }

    fn step(&mut self) {
        self.events.extend(self.run.take_notes());
        let input = match self.run.step() {
            Step::CallModel(prompt) => {
                let stable: Vec<&str> =
                    prompt.messages.iter().map(|message| message.text.as_str()).collect();
                self.prompts.push(format!("{}\u{1}{}", prompt.system, stable.join("\u{1}")));
                Input::Replied(
                    self.replies.next().unwrap_or_else(|| decided(answer("end of script"))),
                )
            }
            Step::Prepare(action) => Input::Prepared((self.prepare)(action)),
            Step::Ask(_) => Input::Answered(self.answer.clone()),
            Step::Perform(noted) => Input::Observed((self.perform)(noted.request)),
            Step::Question(question) => Input::QuestionAnswered((self.say)(question)),
            Step::Done(_) => return,
        };
        self.elapsed += 10;
        self.run.advance(input, self.elapsed).unwrap();
    }

    fn kinds(&self) -> Vec<&str> {
        self.events.iter().map(|event| event.data.kind()).collect()
    }

    /// The events of one kind, as they are written.
    fn data(&self, kind: &str) -> Vec<Value> {
        let events = self.events.iter().filter(|event| event.data.kind() == kind);
        events.map(|event| json!(event.data)["data"].take()).collect()
    }

    fn codes(&self) -> Vec<Option<&str>> {
        let codes = self.events.iter().filter_map(|event| match &event.data {
            EventData::ObservationRecorded(recorded) => Some(recorded.code.as_deref()),
            _ => None,
        });
        codes.collect()
    }

    fn stop(&self) -> (StopReason, &str) {
        let outcome = self.run.outcome().unwrap();
        (outcome.stop_reason, &outcome.answer)
    }
}

fn request_of(action: &Action) -> Request {
    Request {
        patterns: vec!["alpha".to_owned()],
        effect: "does it".to_owned(),
        ..Request::new(action.clone(), permission::Permission::Skill)
    }
}

fn decision(action: Effect) -> PermissionDecision {
    PermissionDecision { permission: permission::Permission::Skill, action, rulings: Vec::new() }
}

fn allowed(action: &Action) -> Prepared {
    Prepared::Allowed { request: request_of(action), decision: decision(Effect::Allow) }
}

fn asks(action: &Action) -> Prepared {
    let question = ApprovalRequest {
        id: ApprovalId::numbered(1),
        tool: permission::Permission::RunScript,
        risk: Risk::Medium,
        reason: "because".to_owned(),
        params: Value::Null,
        patterns: Vec::new(),
        effect: "runs it".to_owned(),
        always: None,
        replay: "skillful run --approve …".to_owned(),
    };
    match action {
        Action::RunScript { .. } => {
            Prepared::Ask { request: request_of(action), decision: decision(Effect::Ask), question }
        }
        _ => allowed(action),
    }
}

fn fine(request: &Request) -> Observation {
    let skill = |name: &SkillRef| SelectedSkill {
        name: name.name.clone(),
        source: Source::User,
        hash: SkillHash("sha256:0".to_owned()),
        allowed_commands: None,
        allowed_tools: (name.name == "reader").then(|| vec!["read_file".to_owned()]),
        run_mode: RunMode::Inline,
        report: LoadReport::of_file("SKILL.md", b""),
    };
    match &request.action {
        Action::SelectSkills { skills, .. } => Observation {
            loaded: skills.iter().map(|name| Loaded::Skill(skill(name))).collect(),
            ..Observation::of("the body")
        },
        Action::LoadChunk { skill, chunk_id } => Observation {
            loaded: vec![Loaded::Chunk {
                skill: skill.name.clone(),
                id: chunk_id.clone(),
                report: None,
            }],
            ..Observation::of("the chunk")
        },
        _ => Observation::of(format!("result of {}", request.action.summary())),
    }
}

fn decided(action: Value) -> Reply {
    planned(action, None)
}

fn planned(action: Value, plan: Option<Value>) -> Reply {
    let decision = json!({"action": action, "plan_update": plan});
    let decision = serde_json::from_value(decision).unwrap();
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    Reply::decided(decision, usage, Raw::default())
}

fn invalid() -> Reply {
    Reply::Invalid {
        problem: "no JSON".to_owned(),
        usage: Usage::default(),
        raw: Raw::default(),
        summary: None,
        answer: None,
    }
}

fn answer(content: &str) -> Value {
    json!({"type": "final_answer", "payload": {"content": content}})
}

fn select(names: &[&str]) -> Value {
    json!({"type": "select_skills", "payload": {"skills": names, "reason": "fits"}})
}

fn script(skill: &str, path: &str) -> Value {
    json!({"type": "run_script", "payload": {"skill": {"name": skill}, "relative_path": path, "args": []}})
}

fn tool(name: &str) -> Value {
    json!({"type": "call_tool", "payload": {"tool": name, "params": {"path": "a"}}})
}

#[test]
fn a_run_goes_from_a_request_over_a_skill_to_an_answer() {
    let plan = json!({"mode": "replace", "plan": {"goal": "g", "steps": [{"id": "s1", "title": "t", "status": "pending"}]}});
    let play =
        play(setup(), vec![planned(select(&["alpha"]), Some(plan)), decided(answer("done"))])
            .played();
    assert_eq!(play.stop(), (StopReason::FinalAnswer, "done"));
    assert_eq!(
        play.kinds(),
        [
            "run_started",
            "turn_started",
            "model_request",
            "model_response",
            "plan_created",
            "action_planned",
            "action_validated",
            "action_executed",
            "skill_loaded",
            "observation_recorded",
            "budget_updated",
            "turn_finished",
            "turn_started",
            "model_request",
            "model_response",
            "action_planned",
            "action_validated",
            "budget_updated",
            "turn_finished",
            "run_finished",
        ]
    );
    assert_eq!(play.data("run_finished")[0]["usage"]["output_tokens"], 10);
}

#[test]
fn what_is_not_legal_now_is_refused_with_a_code_and_never_done() {
    let cases = [
        (select(&[]), "InvalidAction"),
        (select(&["a", "b", "c"]), "InvalidAction"),
        (
            json!({"type": "load_resource", "payload": {"skill": "alpha", "relative_path": "x.md"}}),
            "InvalidAction",
        ),
        (
            json!({"type": "load_chunk", "payload": {"skill": "alpha", "chunk_id": "x"}}),
            "InvalidAction",
        ),
        (script("alpha", "scripts/x.sh"), "InvalidAction"),
        (tool("write_file"), "ToolNotAllowed"),
        (tool("no_such_tool"), "ToolNotAllowed"),
        (tool("run_script_now"), "ToolNotAllowed"),
    ];
    for (action, code) in cases {
        let mut play = play(setup(), vec![decided(action.clone())]);
        play.prepare = |action| panic!("{action:?} was prepared");
        let play = play.played();
        assert_eq!(play.codes(), [Some(code)], "{action}");
        assert_eq!(play.stop().0, StopReason::FinalAnswer);
    }
}

#[test]
fn scripts_are_files_inside_their_skill() {
    for path in ["../run.sh", "scripts/../run.sh", "/scripts/run.sh", "scripts\\run.sh"] {
        let play = play(setup(), vec![decided(select(&["alpha"])), decided(script("alpha", path))])
            .played();
        assert_eq!(play.codes(), [None, Some("PathTraversalBlocked")], "{path}");
    }
}

#[test]
fn a_skill_narrows_the_tools_to_those_it_declares() {
    let replies = vec![
        decided(select(&["reader"])),
        decided(tool("grep")),
        decided(script("reader", "scripts/a")),
        decided(tool("read_file")),
    ];
    let play = play(setup(), replies).played();
    assert_eq!(play.codes(), [None, Some("ToolNotAllowed"), Some("ToolNotAllowed"), None]);
}

#[test]
fn what_is_already_loaded_is_not_loaded_again() {
    let chunk = json!({"type": "load_chunk", "payload": {"skill": "alpha", "chunk_id": "c"}});
    let replies = vec![
        decided(select(&["alpha"])),
        decided(select(&["alpha"])),
        decided(chunk.clone()),
        decided(chunk),
        decided(select(&["alpha", "beta"])),
    ];
    let play = play(setup(), replies).played();
    assert_eq!(play.codes(), [None; 5]);
    let loaded: Vec<Value> =
        play.data("skill_loaded").iter().map(|data| data["skill"]["name"].clone()).collect();
    assert_eq!(loaded, ["alpha", "beta"]);
    assert_eq!(play.data("resource_loaded").len(), 1);
}

#[test]
fn a_question_waits_for_its_answer() {
    let replies = || {
        vec![
            decided(select(&["alpha"])),
            decided(script("alpha", "scripts/a.sh")),
            decided(answer("done")),
        ]
    };
    for (given, granted, code) in [
        (Answer::Once, "approval_granted", None),
        (Answer::Always, "approval_granted", None),
        (
            Answer::Reject { message: Some("not today".to_owned()) },
            "approval_denied",
            Some("ApprovalDenied"),
        ),
    ] {
        let mut play = play(setup(), replies());
        play.prepare = asks;
        play.answer = given;
        let play = play.played();
        assert_eq!(play.data("approval_required").len(), 1);
        assert_eq!(play.data(granted).len(), 1);
        assert_eq!(play.codes(), [None, code]);
        let executed = play
            .data("action_executed")
            .iter()
            .filter(|data| data["action"] == "run_script")
            .count();
        assert_eq!(executed, usize::from(code.is_none()));
        assert!(code.is_none() || play.prompts.last().unwrap().contains("not today"));
    }
}

#[test]
fn an_input_that_was_not_asked_for_changes_nothing() {
    let mut run = Run::start(setup());
    run.take_notes();
    assert!(run.advance(Input::Observed(Observation::of("")), 1).is_err());
    assert!(run.take_notes().is_empty());
    assert!(matches!(run.step(), Step::CallModel(_)));
}

#[test]
fn a_skill_the_user_chose_is_loaded_first_and_audited_as_theirs() {
    let setup = Setup { invoked: Some(SkillRef::from_name("alpha")), ..setup() };
    let play = play(setup, vec![decided(answer("done"))]).played();
    assert_eq!(play.data("action_planned")[0]["initiator"], "user");
    assert_eq!(play.kinds()[1..4], ["action_planned", "action_validated", "action_executed"]);
    assert_eq!(play.run.skills(), ["alpha"]);
}

#[test]
fn a_child_run_gets_a_share_and_a_fresh_context() {
    let mut play = play(setup(), vec![decided(select(&["alpha"]))]);
    (0..2).for_each(|_| play.step());
    let mut skill = match fine(&request_of(&serde_json::from_value(select(&["alpha"])).unwrap()))
        .loaded
        .remove(0)
    {
        Loaded::Skill(skill) => skill,
        _ => unreachable!(),
    };
    skill.run_mode = RunMode::Subagent;
    let observation =
        Observation { loaded: vec![Loaded::Skill(skill)], ..Observation::of("the body") };
    let child = play.run.child(&observation).unwrap().unwrap();
    assert!(
        child.budget.max_turns < play.run.setup.budget.max_turns
            && child.kind == RunKind::Child
            && child.catalog.is_empty()
    );
    let child = Run::start(child);
    assert!(child.child(&observation).unwrap().is_none());
    let Step::CallModel(prompt) = child.step() else { panic!() };
    assert!(prompt.messages[1].text.contains("the body"));
}

//! A run without a world, for tests: a model decides, and whoever tests says what comes of it.

use agent::action::Action;
use agent::model::{Cancel, Model};
use agent::observation::{Loaded, Observation, SelectedSkill};
use agent::outcome::Outcome;
use agent::reply::Reply;
use agent::request::{Prepared, Refusal, Request};
use agent::run::Run;
use agent::setup::Setup;
use agent::step::{Input, Step};
use basics::skill::{LoadReport, RunMode, Source};
use permission::{
    Answer, ApprovalId, ApprovalRequest, Decision, Effect, Permission, Risk, SkillHash, Tool,
    ToolSet,
};
use serde_json::{Value, json};

/// What comes of an action.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Comes {
    /// It may not be done.
    Refused(Refusal),
    /// A person says no.
    Rejected,
    /// It is done.
    Done(Observation),
}

/// A run from its first call of the model to its end.
#[derive(Debug, PartialEq)]
pub(crate) struct Rehearsed {
    pub(crate) replies: Vec<Reply>,
    pub(crate) actions: Vec<Action>,
    pub(crate) outcome: Outcome,
    pub(crate) plan: Value,
}

pub(crate) fn setup(request: &str) -> Setup {
    let tools = ToolSet::from_names(Tool::ALL.map(Tool::name));
    Setup { tools, ..Setup::new("20261115_083000_k3f9", request) }
}

/// Carries a run out with a new model for every call, as if the program had been restarted in between.
pub(crate) fn rehearse<M: Model>(
    setup: Setup,
    model: impl Fn() -> M,
    mut world: impl FnMut(&Action) -> Comes,
) -> Rehearsed {
    let (mut replies, mut actions) = (Vec::new(), Vec::new());
    let mut run = Run::start(setup);
    loop {
        let input = match run.step() {
            Step::CallModel(prompt) => {
                let reply = model().decide(&prompt, &Cancel::default(), &mut |_| {});
                replies.push(reply.clone());
                Input::Replied(reply)
            }
            Step::Prepare(action) => {
                actions.push(action.clone());
                Input::Prepared(prepared(action, &world(action)))
            }
            Step::Ask(_) => Input::Answered(Answer::Reject { message: None }),
            Step::Perform(noted) => match world(noted.action) {
                Comes::Done(observation) => Input::Observed(observation),
                _ => unreachable!("it was not prepared"),
            },
            Step::Question(_) => Input::QuestionAnswered(agent::question::QuestionAnswer::Nobody),
            Step::Done(outcome) => {
                let (outcome, plan) = (outcome.clone(), json!(run.plan()));
                return Rehearsed { replies, actions, outcome, plan };
            }
        };
        run.advance(input, 0).unwrap();
    }
}

fn prepared(action: &Action, comes: &Comes) -> Prepared {
    let decision =
        Decision { permission: Permission::Skill, action: Effect::Allow, rulings: Vec::new() };
    let request = Request {
        patterns: Vec::new(),
        effect: String::new(),
        ..Request::new(action.clone(), Permission::Skill)
    };
    let question = ApprovalRequest {
        id: ApprovalId::numbered(1),
        tool: Permission::Skill,
        risk: Risk::Low,
        reason: String::new(),
        params: Value::Null,
        patterns: Vec::new(),
        effect: String::new(),
        always: None,
        replay: String::new(),
    };
    match comes {
        Comes::Refused(refusal) => Prepared::Refused { refusal: refusal.clone() },
        Comes::Rejected => Prepared::Ask { request, decision, question },
        Comes::Done(_) => Prepared::Allowed { request, decision },
    }
}

/// A skill whose text enters the context.
pub(crate) fn loaded(name: &str, text: &str) -> Observation {
    Observation { loaded: vec![Loaded::Skill(selected(name))], ..Observation::of(text) }
}

pub(crate) fn selected(name: &str) -> SelectedSkill {
    SelectedSkill {
        name: name.to_owned(),
        source: Source::Builtin,
        hash: SkillHash("0".to_owned()),
        allowed_tools: None,
        allowed_commands: None,
        run_mode: RunMode::default(),
        report: LoadReport::of_file("SKILL.md", b""),
    }
}

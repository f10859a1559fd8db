//! Runs as data: what the model says, and how the run is set up.

use agent::action::{Action, Decision, SkillRef};
use agent::budget::Usage;
use agent::freeform::Freeform;
use agent::observation::SelectedSkill;
use agent::reply::{Raw, Reply};
use agent::setup::{Preloaded, Setup};
use basics::skill::{LoadReport, RunMode, Source};
use permission::{Answer, SkillHash};
use serde_json::{Value, json};

/// One run: each turn has a reply for each attempt.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) turns: Vec<Vec<Reply>>,
    pub(crate) child: Vec<Vec<Reply>>,
    pub(crate) prepare: fn(&mut Setup),
    pub(crate) answer: Option<Answer>,
    /// Before which decision somebody wants it to stop.
    pub(crate) cancelled_at: Option<usize>,
    /// Milliseconds that pass between two looks at the clock.
    pub(crate) ticks: u64,
}

impl Scenario {
    fn new(name: &'static str, turns: Vec<Vec<Reply>>) -> Self {
        Self {
            name,
            turns,
            child: Vec::new(),
            prepare: |_| {},
            answer: Some(Answer::Once),
            cancelled_at: None,
            ticks: 0,
        }
    }
}

/// Every sort of action, two effects, one more in a child run.
pub(crate) fn everything() -> Scenario {
    Scenario {
        prepare: |setup| setup.budget.max_turns = 20,
        child: vec![vec![script("helper", "three")], vec![finish("the helper is done")]],
        ..Scenario::new(
            "everything",
            vec![
                vec![planned(select("alpha"), json!({"mode": "replace", "plan": plan()}))],
                vec![read("short")],
                vec![read("long")],
                vec![invalid("no JSON"), script("alpha", "one")],
                vec![read("missing")],
                vec![write("denied")],
                vec![resource("guide.md")],
                vec![read("kept")],
                vec![script("alpha", "two")],
                vec![planned(
                    select("helper"),
                    json!({"mode": "patch", "ops": [{"op": "set", "path": "/steps/s1/status", "value": "completed"}]}),
                )],
                vec![select("alpha")],
                vec![finish("It is done: one, two, three ✓.")],
            ],
        )
    }
}

/// A short run with one effect.
pub(crate) fn one_effect() -> Scenario {
    let turns = vec![vec![select("alpha")], vec![script("alpha", "one")], vec![finish("done")]];
    Scenario::new("one effect", turns)
}

/// Two effects and one more in a child run, in few turns.
pub(crate) fn three_effects() -> Scenario {
    Scenario {
        child: vec![vec![script("helper", "three")], vec![finish("the helper is done")]],
        ..Scenario::new(
            "three effects",
            vec![
                vec![select("alpha")],
                vec![script("alpha", "one")],
                vec![read("long")],
                vec![select("helper")],
                vec![script("alpha", "two")],
                vec![finish("done: one, two, three")],
            ],
        )
    }
}

/// The shortest run there is.
pub(crate) fn answer_at_once() -> Scenario {
    Scenario::new("an answer at once", vec![vec![finish("42")]])
}

/// A run that needs an approval, and stays without one.
pub(crate) fn nobody_answers() -> Scenario {
    waiting_for("never")
}

/// A script with this argument that nobody is there to allow.
pub(crate) fn waiting_for(argument: &str) -> Scenario {
    let turns = vec![vec![select("alpha")], vec![script("alpha", argument)], vec![finish("never")]];
    Scenario { answer: None, ..Scenario::new("nobody answers", turns) }
}

/// Runs that end in every way there is, and some that hold awkward values.
pub(crate) fn all() -> Vec<Scenario> {
    let failing = || vec![read("broken")];
    let deep = (0..100).fold(json!("deep"), |inner, _| json!([inner]));
    vec![
        everything(),
        Scenario { ticks: 7, ..everything() },
        answer_at_once(),
        nobody_answers(),
        Scenario::new("a long answer", vec![vec![finish(&"lang ".repeat(2_000))]]),
        Scenario::new("an empty answer", vec![vec![finish("")]]),
        Scenario::new("the same failure", vec![failing(), failing(), failing()]),
        Scenario::new(
            "nothing but noise",
            vec![vec![invalid("one"), invalid("two"), invalid(&"three ".repeat(1_000))]],
        ),
        Scenario::new(
            "no model",
            vec![vec![read("short")], vec![Reply::failed("Unreachable", "no route")]],
        ),
        Scenario::new(
            "a failure called like a cancellation",
            vec![vec![Reply::failed("Cancelled", "by the peer")]],
        ),
        Scenario {
            cancelled_at: Some(1),
            ..Scenario::new("cancelled", vec![vec![read("short")], vec![read("long")]])
        },
        Scenario {
            answer: Some(Answer::Reject { message: Some("not today".to_owned()) }),
            ..Scenario::new(
                "a person says no",
                vec![
                    vec![select("alpha")],
                    vec![script("alpha", "never")],
                    vec![finish("not done")],
                ],
            )
        },
        Scenario {
            prepare: |setup| setup.budget.max_turns = 2,
            ..Scenario::new("no turns left", vec![vec![read("short")], vec![read("long")]])
        },
        Scenario {
            prepare: |setup| setup.budget.max_context_chars = 15_000,
            ..Scenario::new(
                "compacted",
                vec![
                    vec![read("long")],
                    vec![read("short")],
                    vec![read("long")],
                    vec![read("short")],
                    vec![finish("short of room")],
                ],
            )
        },
        Scenario {
            prepare: |setup| setup.store_prompts = true,
            ..Scenario::new(
                "with prompts",
                vec![vec![read("long")], vec![invalid("no JSON"), finish("all on record")]],
            )
        },
        Scenario {
            prepare: |setup| setup.invoked = Some(SkillRef::from_name("alpha")),
            ..Scenario::new("chosen by the user", vec![vec![finish("as you wish")]])
        },
        Scenario {
            prepare: |setup| {
                let skill = SelectedSkill {
                    name: "house".to_owned(),
                    source: Source::Project,
                    hash: SkillHash("sha256:1".to_owned()),
                    allowed_tools: Some(vec!["read_file".to_owned()]),
                    allowed_commands: None,
                    run_mode: RunMode::Inline,
                    report: LoadReport::of_file("SKILL.md", b""),
                };
                setup.preloaded = vec![Preloaded { skill, text: "House rules. ".repeat(400) }];
                setup.budget.max_cost_usd = Some(1.1);
            },
            ..Scenario::new("preloaded", vec![vec![read("short")], vec![finish("by the rules")]])
        },
        Scenario::new(
            "awkward parameters",
            vec![
                vec![call(
                    json!({"path": "short", "$ref": "observations/0.txt", "$$ref": {"$ref": 1}, "n": [0.1, 1e300, -0.0, 18446744073709551615_u64, -9223372036854775808_i64, 5e-324]}),
                )],
                vec![call(json!({"path": "short", "deep": deep}))],
                vec![call(
                    json!({"path": "short", "$ref": "long ".repeat(1_000), "\u{0}\n\"": "\u{7f}\u{2028}\u{1F600}"}),
                )],
                vec![finish("awkward")],
            ],
        ),
    ]
}

fn decided(action: Action, plan_update: Option<Value>) -> Reply {
    let decision = Decision {
        action,
        plan_update: plan_update.map(|update| serde_json::from_value(update).unwrap()),
        diagnostics: Some(Freeform::of(&json!({"mood": "good"}))),
    };
    // Numbers whose sums show it when one is read back wrong.
    let usage = Usage {
        input_tokens: 1_000,
        cached_tokens: 10,
        output_tokens: 33,
        cost_usd: Some(0.1),
        estimated: false,
    };
    let raw = Raw {
        sha256: "0".repeat(64).parse().ok(),
        bytes: 10,
        text: Some("what it said".to_owned()),
    };
    Reply::decided(decision, usage, raw)
}

fn planned(reply: Reply, update: Value) -> Reply {
    match reply {
        Reply::Decided { decision, .. } => decided(decision.action, Some(update)),
        other => other,
    }
}

fn plan() -> Value {
    json!({"goal": "done", "steps": [{"id": "s1", "title": "Do it", "status": "in_progress"}], "assumptions": [], "constraints": {}})
}

fn invalid(problem: &str) -> Reply {
    Reply::Invalid {
        problem: problem.to_owned(),
        usage: Usage::default(),
        raw: Raw::default(),
        summary: None,
        answer: None,
    }
}

pub(crate) fn finish(content: &str) -> Reply {
    decided(Action::FinalAnswer { content: content.to_owned() }, None)
}

fn select(name: &str) -> Reply {
    decided(
        Action::SelectSkills {
            skills: vec![SkillRef::from_name(name)],
            reason: "it fits".to_owned(),
        },
        None,
    )
}

fn script(skill: &str, argument: &str) -> Reply {
    let action = Action::RunScript {
        skill: SkillRef::from_name(skill),
        relative_path: "scripts/go.sh".to_owned(),
        args: vec![argument.to_owned()],
        stdin: None,
    };
    decided(action, None)
}

fn resource(path: &str) -> Reply {
    let skill = SkillRef::from_name("alpha");
    decided(
        Action::LoadResource { skill, relative_path: path.to_owned(), section_hint: None },
        None,
    )
}

pub(crate) fn read(path: &str) -> Reply {
    call(json!({"path": path}))
}

fn write(path: &str) -> Reply {
    decided(
        Action::CallTool {
            tool: "write_file".to_owned(),
            params: json!({"path": path}),
            skill: None,
        },
        None,
    )
}

fn call(params: Value) -> Reply {
    decided(Action::CallTool { tool: "read_file".to_owned(), params, skill: None }, None)
}

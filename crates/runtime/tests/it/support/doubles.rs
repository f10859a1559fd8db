//! The doubles themselves.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use agent::action::{Action, SkillRef};
use agent::context::{Prompt, Role};
use agent::event::Event;
use agent::model::{Cancel, Model};
use agent::observation::{Details, Facts, Loaded, LoadedFile, Observation, SelectedSkill};
use agent::reply::Reply;
use agent::request::{Refusal, Request};
use basics::skill::{LoadReport, RunMode, Source};
use permission::{Answer, ApprovalRequest, Approved, Permission, Risk, SkillHash, Tool};
use serde_json::{Value, json};
use skillful_runtime::driver::{Approver, Clock, Listener, Means, Toolbox};
use skillful_runtime::journal::Journal;

use super::scenarios::Scenario;

/// Something that a test may want to do at a certain moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// An event was added to the run's record, or to its child run's.
    Noted { seq: u64, is_child: bool },
    /// The model is asked: everything noted is on disk.
    Asked,
    /// An effect is about to happen: everything noted is on disk.
    BeforeEffect,
    /// It has happened.
    AfterEffect,
    /// The run has ended: everything noted is on disk.
    Ended,
}

type Hook = Rc<RefCell<dyn FnMut(Moment)>>;

/// Tells a test what happens; also listens to the run.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Option<Hook>);

impl Hooks {
    pub(crate) fn new(hook: impl FnMut(Moment) + 'static) -> Self {
        Self(Some(Rc::new(RefCell::new(hook))))
    }

    pub(crate) fn happened(&self, moment: Moment) {
        if let Some(hook) = &self.0 {
            (hook.borrow_mut())(moment);
        }
    }
}

impl Listener for Hooks {
    fn event(&mut self, event: &Event) {
        let is_child = event.run_id.contains('.');
        self.happened(Moment::Noted { seq: event.seq, is_child });
    }
}

/// A model that says what stands in its lines. It knows where it is from the prompt alone, so a run that was
/// taken up again goes on in the right place.
pub(crate) struct Lines<'s> {
    scenario: &'s Scenario,
    hooks: Hooks,
}

impl<'s> Lines<'s> {
    pub(crate) fn new(scenario: &'s Scenario, hooks: &Hooks) -> Self {
        Self { scenario, hooks: hooks.clone() }
    }
}

impl Model for Lines<'_> {
    fn decide(&mut self, prompt: &Prompt<'_>, cancel: &Cancel, _: &mut dyn FnMut(&str)) -> Reply {
        self.hooks.happened(Moment::Asked);
        let said = prompt.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let is_child =
            prompt.messages.iter().any(|message| message.text.starts_with("=== Skill helper"));
        let lines = if is_child { &self.scenario.child } else { &self.scenario.turns };
        if self.scenario.cancelled_at == Some(said) {
            cancel.request();
        }
        lines[said][prompt.attempt as usize - 1].clone()
    }
}

/// A toolbox whose scripts add a line to a file.
pub(crate) struct Hands {
    effects: PathBuf,
    hooks: Hooks,
}

impl Hands {
    pub(crate) fn new(effects: &Path, hooks: &Hooks) -> Self {
        Self { effects: effects.to_owned(), hooks: hooks.clone() }
    }

    fn add_effect(&self, line: &str) {
        self.hooks.happened(Moment::BeforeEffect);
        let mut file = File::options().append(true).create(true).open(&self.effects).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.hooks.happened(Moment::AfterEffect);
    }
}

impl Toolbox for Hands {
    fn prepare(&mut self, action: &Action, _: &Means<'_>) -> Result<Request, Refusal> {
        let (permission, pattern, risk, read_only) = match action {
            Action::RunScript { relative_path, .. } => {
                (Permission::RunScript, relative_path.clone(), Risk::Medium, false)
            }
            Action::CallTool { params, .. } if params["path"] == "missing" => {
                return Err(Refusal::new("FileNotFound", "there is no `missing`", "look again"));
            }
            Action::CallTool { tool, params, .. } => {
                (Tool::from_name(tool).unwrap().into(), params["path"].to_string(), Risk::Low, true)
            }
            _ => (Permission::Skill, "alpha".to_owned(), Risk::Low, true),
        };
        Ok(Request {
            patterns: vec![pattern],
            risk,
            effect: "does what it should".to_owned(),
            params: json!({"kind": action.kind()}),
            skill_hash: Some(SkillHash("sha256:0".to_owned())),
            read_only,
            ..Request::new(action.clone(), permission)
        })
    }

    fn perform(
        &mut self,
        request: Approved<Request>,
        _: &Means<'_>,
        journal: &mut Journal,
    ) -> Observation {
        match &request.action {
            Action::SelectSkills { skills, .. } => Observation {
                loaded: skills.iter().map(|skill| Loaded::Skill(selected(skill))).collect(),
                ..Observation::of(format!("The body of a skill. {}", "Read it well. ".repeat(20)))
            },
            Action::LoadResource { skill, relative_path, .. } => Observation {
                loaded: vec![Loaded::Resource(LoadedFile {
                    skill: skill.name.clone(),
                    path: relative_path.clone(),
                    report: LoadReport {
                        chars_returned: 7,
                        ..LoadReport::of_file("SKILL.md", b"")
                    },
                })],
                ..Observation::of("content")
            },
            Action::RunScript { args, .. } => {
                self.add_effect(&args.join(" "));
                Observation {
                    facts: Facts {
                        exit_code: Some(0),
                        more: Details::of(&json!({"duration_ms": 1.5})),
                        ..Facts::default()
                    },
                    ..Observation::of(format!("wrote {}", args.join(" ")))
                }
            }
            Action::CallTool { params, .. } => read_file(&params["path"], journal),
            _ => Observation::of("done"),
        }
    }
}

fn read_file(path: &Value, journal: &mut Journal) -> Observation {
    match path.as_str() {
        Some(path) if path.starts_with("long") => {
            Observation::of(format!("{path}: a long line, even längër than that\n").repeat(200))
        }
        Some("kept") => {
            let whole = "kept as a whole\n".repeat(500);
            let storage_ref = Some(journal.keep(whole.as_bytes()).unwrap());
            Observation { storage_ref, ..Observation::of(&whole[..160]) }
        }
        Some("broken") => Observation::failed(&Refusal::new("IOError", "it broke", "repair it")),
        _ => Observation::of("a short text"),
    }
}

fn selected(skill: &SkillRef) -> SelectedSkill {
    SelectedSkill {
        name: skill.name.clone(),
        source: Source::User,
        hash: SkillHash(format!("sha256:{}", skill.name)),
        allowed_tools: None,
        allowed_commands: None,
        run_mode: if skill.name == "helper" { RunMode::Subagent } else { RunMode::Inline },
        report: LoadReport { chars_returned: 300, ..LoadReport::of_file("SKILL.md", b"") },
    }
}

/// A person who always says the same; or nobody.
pub(crate) struct Person(pub Option<Answer>);

impl Approver for Person {
    fn ask(&mut self, _: &ApprovalRequest) -> Option<Answer> {
        self.0.clone()
    }
}

/// A clock on which some time passes whenever somebody looks at it.
pub(crate) struct FixedClock {
    ticks: u64,
    looked: Cell<u64>,
}

impl FixedClock {
    pub(crate) fn new(ticks: u64) -> Self {
        Self { ticks, looked: Cell::new(0) }
    }
}

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        let start: jiff::Timestamp = "2026-11-15T08:30:00Z".parse().unwrap();
        start + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        self.looked.set(self.looked.get() + 1);
        Duration::from_millis(self.looked.get() * self.ticks)
    }
}

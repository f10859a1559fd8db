//! Questions of a run that are not about permission, and what follows from the answers.

use permission::Mode;
use serde::Serialize;

use super::{Phase, Run};
use crate::action::Action;
use crate::event::{BudgetUpdated, EventData, QuestionAnswered, QuestionAsked};
use crate::observation::Observation;
use crate::outcome::StopReason;
use crate::question::{About, Question, QuestionAnswer, QuestionOption};
use crate::request::Refusal;

/// What an answer is for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum After {
    /// The model asked.
    Tell(Action),
    /// The action answers with a plan.
    Plan(Action),
    /// A limit was reached before the next turn.
    Turn(StopReason),
    /// A limit was reached before this action.
    Act(StopReason, Action),
}

impl Run {
    pub(super) fn ask(&mut self, question: Question, after: After) {
        self.questions += 1;
        let asked = QuestionAsked { number: self.questions, question: question.clone() };
        self.note(EventData::QuestionAsked(asked));
        self.phase = Phase::Question { question: Box::new(question), after: Box::new(after) };
    }

    /// Whether to go on beyond a limit; where nobody can say so, it is the end.
    pub(super) fn ask_at_limit(&mut self, limit: StopReason, after: After) {
        let question = Question {
            about: About::Limit(limit),
            question: format!("Go on, although {}?", limit.describe()),
            options: vec![
                QuestionOption::new("yes", "go on with as much again"),
                QuestionOption::new("no", "stop here, and keep what was done"),
            ],
            multiple: false,
            secret: false,
        };
        self.ask(question, after);
    }

    /// Whether a person can be asked to go on beyond a limit.
    pub(super) fn may_extend(&self, limit: StopReason) -> bool {
        self.setup.attended && self.setup.budget.extended(limit, &self.first_budget).is_some()
    }

    pub(super) fn ask_about_plan(&mut self, plan: &str, action: Action) {
        let question = Question {
            about: About::Plan,
            question: plan.to_owned(),
            options: vec![
                QuestionOption::new("ask", "carry it out, and ask before scripts and commands"),
                QuestionOption::new(
                    "contained",
                    "carry it out; scripts and commands run unasked while every wall stands",
                ),
                QuestionOption::new("no", "do not carry it out; say what should be different"),
            ],
            multiple: false,
            secret: false,
        };
        self.ask(question, After::Plan(action));
    }

    pub(super) fn question_answered(&mut self, after: After, answer: QuestionAnswer, elapsed: u64) {
        self.note(EventData::QuestionAnswered(QuestionAnswered {
            elapsed_ms: elapsed,
            number: self.questions,
            answer: answer.clone(),
        }));
        match (after, answer) {
            (After::Tell(action), answer) => self.conclude(&action, &told(answer)),
            (After::Plan(action), QuestionAnswer::CarryOut(mode)) => self.carry_out(&action, mode),
            (After::Plan(Action::FinalAnswer { content }), QuestionAnswer::Nobody) => {
                self.close(self.ending(content));
            }
            (After::Plan(action), answer) => {
                let said = words(answer).map(|text| format!(": {text}")).unwrap_or_default();
                let refusal = Refusal::new(
                    "ApprovalDenied",
                    format!("the user did not approve the plan{said}"),
                    "answer with another plan",
                );
                self.conclude(&action, &Observation::failed(&refusal));
            }
            (After::Turn(limit), QuestionAnswer::GoOn) => {
                self.extend(limit);
                self.next_turn();
            }
            (After::Turn(limit), _) => self.finish(limit),
            (After::Act(limit, action), QuestionAnswer::GoOn) => {
                self.extend(limit);
                self.act(action);
            }
            (After::Act(limit, action), _) => {
                let refusal = used_up(limit);
                self.note_ruling(Some(refusal.clone()));
                self.conclude(&action, &Observation::failed(&refusal));
            }
        }
    }

    /// The plan is approved: from now on it is carried out.
    fn carry_out(&mut self, action: &Action, mode: Mode) {
        self.setup.mode = mode;
        let text = "The user approved the plan. Carry it out now, step by step; then answer with what was done.";
        self.conclude(action, &Observation::of(text));
    }

    fn extend(&mut self, limit: StopReason) {
        if let Some(budget) = self.setup.budget.extended(limit, &self.first_budget) {
            self.setup.budget = budget;
        }
        self.note(EventData::BudgetUpdated(Box::new(BudgetUpdated {
            elapsed_ms: None,
            resumed: None,
            spent: self.spent,
            left: self.left(),
        })));
    }
}

pub(super) fn used_up(limit: StopReason) -> Refusal {
    Refusal::new(
        "BudgetExceeded",
        format!("`{}` is used up", limit.name()),
        "answer with what you have",
    )
}

/// What a person said, where they said something.
fn words(answer: QuestionAnswer) -> Option<String> {
    match answer {
        QuestionAnswer::Said(words) => Some(words.join(", ")),
        QuestionAnswer::No(message) => message,
        _ => None,
    }
}

fn told(answer: QuestionAnswer) -> Observation {
    Observation::of(match answer {
        QuestionAnswer::Said(words) => format!("The user answered: {}", words.join(", ")),
        QuestionAnswer::Kept(name) => format!(
            "The user answered. The answer is a secret: you do not see it, and scripts and commands of this run find it in the variable {name}."
        ),
        QuestionAnswer::Nobody => {
            "Nobody will answer. Choose sensibly, and say in the final answer what you chose."
                .to_owned()
        }
        QuestionAnswer::CarryOut(_) | QuestionAnswer::GoOn => "The user answered: yes".to_owned(),
        QuestionAnswer::No(None) => {
            "The user does not want to answer. Choose sensibly, or end.".to_owned()
        }
        QuestionAnswer::No(Some(message)) => format!("The user answered: no. {message}"),
    })
}

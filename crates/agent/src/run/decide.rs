//! The exchange with the model: what it is sent, and what its reply means for the run.

use std::time::Duration;

use serde_json::json;

use super::{Phase, Run};
use crate::action::{Action, Decision};
use crate::context::{Limits, Message, Prompt};
use crate::event::{
    EventData, Initiator, ModelRequest, ModelResponse, PlanCreated, PlanUpdated, PromptText,
    SentPrompt,
};
use crate::outcome::StopReason;
use crate::plan::{Plan, PlanUpdate};
use crate::reply::Reply;
use crate::setup::RunKind;

/// A plan may take up one part in so many of the context.
const PLAN_SHARE: usize = 4;

impl Run {
    pub(super) fn prompt(&self, attempt: u32) -> Prompt<'_> {
        let (budget, written) = (&self.setup.budget, self.spent.usage.output_tokens);
        Prompt {
            last: self.last(),
            limits: Limits {
                output_tokens: budget.max_output_tokens.map(|max| max.saturating_sub(written)),
                time: Some(self.time_left(self.spent.wall_milliseconds)),
            },
            ..self.context.prompt(self.state_text(), attempt)
        }
    }

    pub(super) fn call_model(&mut self, attempt: u32) {
        let prompt = self.prompt(attempt);
        let text = self.setup.store_prompts.then(|| {
            Box::new(PromptText {
                system: prompt.system.to_owned(),
                messages: prompt.messages.iter().map(Message::recorded).collect(),
                state: prompt.state.clone(),
            })
        });
        let request = ModelRequest {
            attempt,
            estimated_tokens: prompt.chars.div_ceil(4),
            prompt: SentPrompt {
                chars: prompt.chars,
                messages: prompt.messages.len(),
                sha256: prompt.sha256,
                text,
            },
        };
        self.note(EventData::ModelRequest(request));
        self.phase = Phase::Decision { attempt };
    }

    pub(super) fn replied(&mut self, reply: Reply, attempt: u32, elapsed: u64) {
        let reply = if self.setup.store_prompts { reply } else { reply.without_text() };
        let response = ModelResponse { elapsed_ms: elapsed, attempt, reply: reply.clone() };
        self.note(EventData::ModelResponse(Box::new(response)));
        match reply {
            Reply::Decided { usage, .. } | Reply::Invalid { usage, .. }
                if self.time_left(elapsed).is_zero() =>
            {
                // Too late to count.
                self.spent.usage.add(&usage);
                self.finish(StopReason::MaxWallSeconds);
            }
            Reply::Decided { decision, usage, plan_problem, again, unable, .. } => {
                self.spent.usage.add(&usage);
                self.unable = unable;
                if again {
                    self.forget_selected(&decision.action);
                }
                self.decided(decision, plan_problem);
            }
            Reply::Invalid { answer: Some(content), usage, .. } if self.is_last(attempt) => {
                self.spent.usage.add(&usage);
                let action = Action::FinalAnswer { content };
                self.decided(Decision { action, plan_update: None, diagnostics: None }, None);
            }
            Reply::Invalid { problem, summary, usage, .. } => {
                self.spent.usage.add(&usage);
                self.correct(&problem, summary, attempt);
            }
            Reply::Failed { code, message, retry_after_ms, summary } => {
                self.blame = summary;
                self.unanswered(&code, &message, retry_after_ms, attempt);
            }
        }
    }

    /// Asks again where that is worth it and there is time for it.
    fn unanswered(&mut self, code: &str, message: &str, wait: Option<u64>, attempt: u32) {
        let left = self.time_left(self.spent.wall_milliseconds);
        let wait = wait.filter(|wait| Duration::from_millis(*wait) < left);
        self.note_error(code, message, wait);
        if wait.is_some() {
            return self.call_model(attempt);
        }
        self.failures.push(format!("{code}: {message}"));
        self.finish(if left.is_zero() {
            StopReason::MaxWallSeconds
        } else {
            StopReason::ModelError
        });
    }

    /// Whether the model is not asked again after this reply.
    fn is_last(&self, attempt: u32) -> bool {
        attempt > self.setup.patience.corrections
    }

    /// Tells the model what was wrong; the user is told in other words.
    fn correct(&mut self, problem: &str, summary: Option<String>, attempt: u32) {
        let shown = summary.unwrap_or_else(|| problem.to_owned());
        self.note_error("InvalidAction", &shown, None);
        if self.is_last(attempt) {
            self.failures.push(format!("InvalidAction: {shown}"));
            return self.finish(StopReason::InvalidOutput);
        }
        self.context.remark(format!(
            "[Correction] Your last reply could not be used: {problem}\nReply with exactly one JSON object as described under Reply."
        ));
        self.call_model(attempt + 1);
    }

    /// A person at a client elsewhere chose a skill: it is handed over even if it has been before.
    fn forget_selected(&mut self, action: &Action) {
        if let (RunKind::Served, Action::SelectSkills { skills, .. }) = (self.setup.kind, action) {
            self.selected.retain(|known| !skills.iter().any(|skill| skill.name == known.name));
        }
    }

    fn decided(&mut self, decision: Decision, plan_problem: Option<String>) {
        let Decision { action, plan_update, diagnostics: _ } = decision;
        let words = json!({"action": action}).to_string();
        match action {
            Action::FinalAnswer { .. } => self.context.answered(words),
            _ => self.context.decided(words),
        }
        if let Some(problem) = plan_problem {
            self.context
                .remark(format!("[Plan] The change of the plan was not understood: {problem}"));
            let refused = PlanUpdated::Refused { refused: problem, update: None };
            self.note(EventData::PlanUpdated(refused));
        }
        if let Some(update) = plan_update {
            self.update_plan(&update);
        }
        self.plan_action(action, Initiator::Model);
    }

    fn update_plan(&mut self, update: &PlanUpdate) {
        // Every prompt has the plan in it.
        let room = self.setup.budget.max_context_chars / PLAN_SHARE;
        let plan = Plan::updated(self.plan.as_ref(), update);
        match plan.and_then(|plan| plan.within(room)) {
            Ok(plan) => {
                let before = self.plan.replace(plan.clone());
                self.note(match before {
                    None => EventData::PlanCreated(PlanCreated { plan }),
                    Some(_) => EventData::PlanUpdated(PlanUpdated::Changed { plan }),
                });
            }
            Err(error) => {
                let (refused, update) = (error.to_string(), Some(update.clone()));
                self.note(EventData::PlanUpdated(PlanUpdated::Refused { refused, update }));
                self.context
                    .remark(format!("[Plan] The change of the plan was not applied: {error}"));
            }
        }
    }
}

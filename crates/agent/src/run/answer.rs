//! An answer without the model, from what the run knows: what was done, what is left, what blocked it.

use super::Run;
use crate::outcome::StopReason;

impl Run {
    pub(super) fn degraded_answer(&self, reason: StopReason) -> String {
        let blame = self.blame.as_deref().filter(|_| reason == StopReason::ModelError);
        let why = blame.unwrap_or(reason.describe());
        let mut answer = format!("The run stopped before it was finished: {why}.\n");
        let mut list = |title: &str, items: Vec<&str>| {
            if !items.is_empty() {
                answer.push_str(&format!("\n{title}:\n"));
                items.iter().for_each(|item| answer.push_str(&format!("- {item}\n")));
            }
        };
        list("Done", self.done.iter().map(String::as_str).collect());
        list("Left to do", self.open_steps());
        list("What went wrong", self.failures.iter().map(String::as_str).collect());
        answer
    }
}

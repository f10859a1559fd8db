//! The whole agent with a model and an approver of your own: skills, permissions, sandbox and record included.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use skillful::model::decision;
use skillful::{Answer, ApprovalRequest, Cancel, Failure, Model, Prompt, Reply, Runtime, Start};

const LOAD: &str =
    r#"{"action": {"type": "select_skills", "payload": {"skills": [{"name": "csv-report"}]}}}"#;
const DONE: &str = r#"{"action": {"type": "final_answer", "payload": {"content": "I know how."}}}"#;

/// Decides. Yours sends `prompt.messages` to a language model.
struct Mine;

impl Model for Mine {
    fn decide(&mut self, prompt: &Prompt<'_>, _: &Cancel, show: &mut dyn FnMut(&str)) -> Reply {
        let text = if prompt.last.is_none() { LOAD } else { DONE };
        show(text);
        decision::reply(text, Default::default())
    }
}

/// Is asked before anything risky.
fn ask(question: &ApprovalRequest) -> Option<Answer> {
    println!("{}? No.", question.effect);
    Some(Answer::Reject { message: Some("not today".to_owned()) })
}

pub(crate) fn work(start: Start) -> Result<(), Failure> {
    let (runtime, mut model, mut approver) = (Runtime::open(start)?, Mine, ask);
    let agent = runtime.runner()?.model("mine", &mut model).approver(&mut approver);
    println!("{}", agent.run("What is in sales.csv?")?.answer());
    Ok(())
}

fn main() -> Result<(), Failure> {
    work(Start::here())
}

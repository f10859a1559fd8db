//! The permission engine with an approver of one's own: rules first, then a person, then a memory.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::{Value, json};
use skillful::basics::failure::Explain;
use skillful::permission::{
    Answer, ApprovalId, ApprovalRequest, Approved, Configuration, Engine, Invocation, Permission,
    Request, Risk, Verdict,
};

/// Something an agent wants to do.
#[derive(Clone)]
struct Post(&'static str);

impl Request for Post {
    fn permission(&self) -> Permission {
        Permission::NetworkRequest
    }

    fn patterns(&self) -> Vec<String> {
        vec![self.0.to_owned()]
    }

    fn risk(&self) -> Risk {
        Risk::Medium
    }

    fn effect(&self) -> String {
        format!("sends the report to {}", self.0)
    }

    fn params(&self) -> Value {
        json!({"url": self.0})
    }
}

/// Only what was approved can be passed here: nobody but the engine makes an `Approved`.
fn post(approved: &Approved<Post>) {
    println!("sent to {}", approved.0);
}

/// Asks the user; this one likes a single host.
fn ask(question: &ApprovalRequest) -> Answer {
    match question.effect.contains("intranet") {
        true => Answer::Run,
        false => Answer::Reject { message: Some("not outside".to_owned()) },
    }
}

pub(crate) fn main() -> Result<(), serde_json::Error> {
    let rules = r#"{"network_request": {"*": "ask", "https://evil.example/*": "deny"}}"#;
    let configuration = Configuration { user: serde_json::from_str(rules)?, ..Default::default() };
    let mut engine = Engine::new("example", configuration);
    let invocation = Invocation { command: vec!["example".into()], arguments: Vec::new() };
    let wanted =
        ["https://intranet/a", "https://intranet/a", "https://x/", "https://evil.example/"];
    for (number, url) in wanted.into_iter().enumerate() {
        let pending = match engine.decide(Post(url), None) {
            Verdict::Allowed(approved) => {
                post(&approved);
                continue;
            }
            Verdict::Denied(denial) => {
                println!("{denial}; {}", denial.hint());
                continue;
            }
            Verdict::Ask(pending) => pending,
        };
        let id = ApprovalId::numbered(number as u64);
        let answer = ask(&pending.question(id, "the user wants a report", &invocation));
        match pending.answer(answer) {
            Ok(granted) => {
                // The same is not asked again.
                engine.remember(granted.grants);
                post(&granted.approved);
            }
            Err(denial) => println!("{denial}"),
        }
    }
    Ok(())
}

//! An agent in a few lines: a loop of one's own, with the Skill tool in it.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::{Value, json};
use skillful::basics::skill::Source;
use skillful::permission::{Answer, ApprovalRequest, Configuration, Engine};
use skillful::runtime::driver::Approver;
use skillful::runtime::skill_tool::SkillTool;
use skillful::skill::index::{Index, IndexOptions};
use skillful::skill::offer::CatalogLimits;
use skillful::skill::roots::Root;

/// Stands for a language model: it sees the tool and the conversation, and calls the tool or answers.
fn model(tools: &[Value], conversation: &[String]) -> Value {
    match conversation {
        [_] => json!({"call": tools[0]["name"], "arguments": {"name": "csv-report"}}),
        [.., loaded] => json!({"answer": format!("I follow {} lines.", loaded.lines().count())}),
        [] => json!({"answer": "There is nothing to do."}),
    }
}

/// Says yes to everything; a real one asks the user.
struct Yes;

impl Approver for Yes {
    fn ask(&mut self, _: &ApprovalRequest) -> Option<Answer> {
        Some(Answer::Once)
    }
}

pub(crate) fn main() {
    let root = Root { source: Source::Builtin, path: "builtin:".into(), priority: 0 };
    let index = Index::build(&[root], &IndexOptions::default());
    let offer = index.offer(|_| true);
    let mut tool = SkillTool::new(&offer, Engine::new("example", Configuration::default()));
    let mut conversation = vec!["What is in sales.csv?".to_owned()];
    loop {
        let definition = tool.definition(CatalogLimits::default(), &conversation[0]);
        let tools: Vec<Value> = definition
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "schema": tool.input_schema}))
            .collect();
        let reply = model(&tools, &conversation);
        if let Some(answer) = reply["answer"].as_str() {
            return println!("{answer}");
        }
        let result = tool.call(reply["arguments"].clone(), &mut Yes);
        conversation.push(result.unwrap_or_else(|refusal| refusal.message));
    }
}

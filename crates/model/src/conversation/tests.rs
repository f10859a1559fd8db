//! The conversation that the tests of both interfaces send.

use agent::context::Context;

use super::*;

/// A request, a skill that is chosen, a tool that is used, a remark about the plan.
pub(crate) fn context() -> Context {
    let mut context = Context::new("20261115_083000_k3f9", "Rules.".to_owned(), "Count.");
    context.decided(
        r#"{"action":{"payload":{"reason":"r","skills":[{"name":"csv"}]},"type":"select_skills"}}"#
            .to_owned(),
    );
    context.loaded("Skill csv", "Body.", vec!["csv".to_owned()]);
    context.decided(
        r#"{"action":{"payload":{"params":{"path":"a"},"tool":"read_file"},"type":"call_tool"}}"#
            .to_owned(),
    );
    context.remark("[Plan] no".to_owned());
    context.observed("Observation 2", "Rows.", String::new());
    context
}

fn shape(form: Form) -> Vec<String> {
    let context = context();
    let prompt = context.prompt("[State]".to_owned(), 1);
    exchanges(&prompt, form)
        .into_iter()
        .map(|Exchange { model, user, .. }| {
            let said = match model {
                None => "-".to_owned(),
                Some(Said::Text(text)) => text.chars().take(10).collect(),
                Some(Said::Call { id, name, arguments }) => format!("{id} {name} {arguments}"),
            };
            // Without the mark of the run.
            let first = |text: &&str| {
                let line = text.lines().next().unwrap_or_default();
                line.split(" [mark-").next().map(|label| match label.len() < line.len() {
                    true => format!("{label} ==="),
                    false => line.to_owned(),
                })
            };
            let told: Vec<String> = user.iter().filter_map(first).collect();
            format!("{said} > {}", told.join(", "))
        })
        .collect()
}

#[test]
fn earlier_decisions_are_text_or_calls_and_the_state_is_told_last() {
    assert_eq!(
        shape(Form::Text),
        [
            "- > === Request ===",
            "{\"action\": > === Skill csv ===",
            "{\"action\": > [Plan] no, === Observation 2 ===, [State]",
        ]
    );
    assert_eq!(
        shape(Form::Tools),
        [
            "- > === Request ===",
            r#"call_1 select_skills {"reason":"r","skills":[{"name":"csv"}]} > === Skill csv ==="#,
            r#"call_2 read_file {"path":"a"} > [Plan] no, === Observation 2 ===, [State]"#,
        ]
    );
}

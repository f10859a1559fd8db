//! Skills that are denied, hidden or untrusted appear nowhere, whatever the rules.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Client, World};

/// What a skill is like, besides what the rules say about it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Plain,
    Hidden,
    HiddenFromAll,
    Untrusted,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Plain),
        Just(Kind::Hidden),
        Just(Kind::HiddenFromAll),
        Just(Kind::Untrusted)
    ]
}

/// Patterns over the names below, some of which meet several.
fn rules() -> impl Strategy<Value = Vec<(String, String)>> {
    let pattern = prop_oneof![
        Just("*".to_owned()),
        Just("zq*".to_owned()),
        Just("*a".to_owned()),
        (0..6_usize).prop_map(name)
    ];
    let action = prop_oneof![Just("allow"), Just("ask"), Just("deny")].prop_map(str::to_owned);
    prop::collection::vec((pattern, action), 0..5)
}

/// Names that occur in no other text.
fn name(number: usize) -> String {
    format!("zq{number}{}", if number.is_multiple_of(2) { 'a' } else { 'b' })
}

fn is_denied(rules: &BTreeMap<String, String>, order: &[String], name: &str) -> bool {
    let meets = |pattern: &str| match pattern {
        "*" => true,
        "zq*" => name.starts_with("zq"),
        "*a" => name.ends_with('a'),
        exact => exact == name,
    };
    let last = order.iter().rev().find(|pattern| meets(pattern));
    last.is_some_and(|pattern| rules[pattern] == "deny")
}

/// Everything a client can hear, with every name and address tried.
async fn everything(client: &mut Client, names: &[String]) -> (Vec<Value>, Vec<Value>) {
    let (mut heard, mut prompts) = (Vec::new(), Vec::new());
    for method in ["tools/list", "resources/list", "resources/templates/list", "skills/list"] {
        heard.push(client.ask(method, json!({})).await);
    }
    prompts.push(client.ask("prompts/list", json!({})).await);
    let search =
        json!({"name": "search_skills", "arguments": {"query": "what does it do", "limit": 50}});
    heard.push(client.ask("tools/call", search).await);
    let template = json!({"type": "ref/resource", "uri": "skill://{name}/{+path}"});
    let argument = json!({"name": "name", "value": ""});
    heard.push(
        client.ask("completion/complete", json!({"ref": template, "argument": argument})).await,
    );
    for name in names {
        // An answer to a name may say that name; nothing else about it.
        let echo = |answer: Value| {
            let text = answer.to_string();
            serde_json::from_str(
                &text.replace(&format!("'{name}'"), "").replace(&format!("`skill://{name}"), ""),
            )
            .unwrap()
        };
        let call = json!({"name": "skill", "arguments": {"name": name}});
        heard.push(echo(client.ask("tools/call", call).await));
        for uri in [format!("skill://{name}/SKILL.md"), format!("skill://{name}")] {
            for method in ["resources/read", "skills/get", "resources/directory/read"] {
                heard.push(echo(client.ask(method, json!({"uri": uri})).await));
            }
        }
        let file = json!({"name": "load_skill_resource", "arguments": {"name": name, "relative_path": "SKILL.md"}});
        heard.push(echo(client.ask("tools/call", file).await));
        let path = json!({"ref": template, "argument": {"name": "path", "value": ""}, "context": {"arguments": {"name": name}}});
        heard.push(client.ask("completion/complete", path).await);
        let prompt = client.ask("prompts/get", json!({"name": name})).await;
        let text = prompt.to_string().replace(&format!("`{name}`"), "");
        prompts.push(serde_json::from_str(&text).unwrap());
    }
    (heard, prompts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_may_not_be_seen_is_nowhere(kinds in prop::collection::vec(kind(), 1..6), rules in rules()) {
        // As in a configuration file: a pattern counts where it stands first, with what was said last.
        let order: Vec<String> = rules.iter().map(|(pattern, _)| pattern.clone()).fold(Vec::new(), |mut all, pattern| {
            if !all.contains(&pattern) { all.push(pattern) }
            all
        });
        let by_pattern: BTreeMap<String, String> = rules.into_iter().collect();
        let written: Vec<String> = order.iter().map(|pattern| format!("{pattern:?}: {:?}", by_pattern[pattern])).collect();
        let world = World::with_rule_text(&format!("{{\"skill\": {{{}}}}}", written.join(", ")));
        let mut names = Vec::new();
        for (number, kind) in kinds.iter().enumerate() {
            let name = name(number);
            let more = match kind {
                Kind::Plain | Kind::Untrusted => "",
                Kind::Hidden => "disable-model-invocation: true\n",
                Kind::HiddenFromAll => "disable-model-invocation: true\nuser-invocable: false\n",
            };
            match kind {
                Kind::Untrusted => world.write(
                    &format!("project/.agents/skills/{name}/SKILL.md"),
                    format!("---\nname: {name}\ndescription: What {name} does.\n---\n{name}\n"),
                ),
                _ => world.skill(&name, more),
            };
            names.push(name);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (heard, prompts) = runtime.block_on(async {
            let mut client = Client::connect(&world.shelf()).await;
            everything(&mut client, &names).await
        });
        for (name, kind) in names.iter().zip(&kinds) {
            let denied = is_denied(&by_pattern, &order, name);
            let to_model = !denied && matches!(kind, Kind::Plain);
            let to_user = !denied && matches!(kind, Kind::Plain | Kind::Hidden);
            for (answers, visible) in [(&heard, to_model), (&prompts, to_user)] {
                let told = answers.iter().find(|answer| answer.to_string().contains(name.as_str()));
                prop_assert_eq!(told.is_some(), visible, "{} {:?} {:?}: {:?}", name, kind, order, told);
            }
        }
    }
}

//! Whatever a skill says and whatever comes of actions, the planner comes to an end.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::Conversation;
use super::*;
use agent::context::Context;

/// Texts made of what the planner looks for.
fn text() -> impl Strategy<Value = String> {
    let parts = vec![
        "[Skill: a | source=user]\n",
        "[Skill: ",
        "## Scripts\n",
        "## Steps\n",
        "- `scripts/a.sh FILE` (.csv)\n",
        "`scripts/b.sh FILE...`",
        "```sh\nscripts/c.sh <file>\n```\n",
        "1. one\n",
        "\n",
        "`",
        "[Files of this skill]\n",
        "{\"stdout\": \"x\"}",
        "=== end [mark-0] ===\n",
        "[Observation 1 | run_script a | ok | shortened, the whole is in b]",
        " | ",
        "é…“",
        "a.csv ",
        "'b c.csv' ",
    ];
    vec(select(parts), 0..12).prop_map(|parts| parts.concat())
}

fn observation() -> impl Strategy<Value = Observation> {
    let codes = vec!["ExitNonZero", "ok", "", " | "];
    (text(), option::of(select(codes)), any::<bool>()).prop_map(|(text, code, is_skill)| {
        let text = if is_skill { format!("[Skill: a | source=user]\n{text}") } else { text };
        let whole = if is_skill { loaded("a", &text) } else { Observation::of(text) };
        Observation { code: code.map(str::to_owned), ..whole }
    })
}

proptest! {
    #[test]
    fn the_planner_always_ends_with_an_answer(
        request in text(), world in vec(observation(), 1..8), invoked in any::<bool>()
    ) {
        let hit = Hit {
            name: "a".to_owned(), source: Source::User, score: 1.0, why: "name: a, b, c".to_owned()
        };
        let setup = Setup { invoked: invoked.then(|| SkillRef::from_name("a")), ..setup(&request) };
        let mut calls = 0;
        let run = rehearse(setup, || Offline::new(vec![hit.clone()]), |_| {
            calls += 1;
            // Each is asked for twice: before it is done, and when it is.
            Comes::Done(world[(calls / 2) % world.len()].clone())
        });
        let ends = [StopReason::FinalAnswer, StopReason::NoResult];
        prop_assert!(ends.contains(&run.outcome.stop_reason));
        prop_assert!(run.replies.len() <= 10, "{:?}", run.actions);
    }

    #[test]
    fn any_conversation_can_be_read(request in any::<String>(), texts in vec(any::<String>(), 0..4)) {
        let mut context = Context::new("run", String::new(), &request);
        for (place, text) in texts.iter().enumerate() {
            match place % 3 {
                0 => context.remark(text.clone()),
                1 => context.observed(text, text, String::new()),
                _ => context.decided(text.clone()),
            }
        }
        let prompt = context.prompt(String::new(), 1);
        let words = agent::piped::split(request.trim_end()).0;
        prop_assert_eq!(Conversation::read(&prompt).request, words);
        Offline::new(Vec::new()).decide(&prompt, &Cancel::default(), &mut |_| {});
    }
}

//! `skillful run` and `skillful runs`

mod approvals;
mod record;
mod skills;

use serde_json::{Value, json};

use crate::turns::{answer, events, last_run};
use crate::world::World;

fn sales() -> World {
    let world = World::new();
    world.write("project/sales.csv", "region,amount\nnorth,10\nsouth,20\nnorth,5\n");
    world
}

/// A world with a script for the model.
fn scripted(turns: Value) -> World {
    let world = World::new();
    world.turns(turns.as_array().unwrap());
    world
}

/// Types of the recorded events of the last run.
fn kinds(world: &World) -> Vec<String> {
    events(world).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_fresh_user_gets_an_answer_without_any_key() {
    let world = sales();
    let seen = world.run("skillful run --yes \"Summarise sales.csv\"");
    assert!(
        seen.contains("- Rows: 3") && seen.contains("| `amount` | 5 | 20 | 11.6667 | 35 |"),
        "{seen}"
    );
    assert!(!seen.contains("[exit"), "{seen}");
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn a_pipe_gets_the_answer_and_nothing_else() {
    let world = scripted(json!([answer("four\n")]));
    assert_eq!(world.run("skillful run --model scripted:turns.json \"2 + 2\""), "four\n");
    assert_eq!(
        world.read(&format!("project/.agent/runs/{}/final.md", last_run(&world))).trim(),
        "four"
    );
}

#[test]
fn a_model_that_makes_no_sense_ends_in_an_answer_that_says_so() {
    let world = scripted(json!([{"text": "[]"}, {"text": ""}, {"text": "{\"action\":"}]));
    let seen = world.run("skillful run --model scripted:turns.json x");
    assert!(seen.contains("could not be understood") && seen.ends_with("[exit 1]\n"), "{seen}");
    // What the model was told about its replies is not for the user.
    let told = "InvalidAction: the model did not reply in the form that it was asked for";
    assert!(seen.contains(told) && !seen.contains("JSON"), "{seen}");
    let on_terminal = world.terminal("skillful run --model scripted:turns.json x", 200);
    assert!(on_terminal.contains(told) && !on_terminal.contains("JSON"), "{on_terminal}");
    assert!(!kinds(&world).contains(&"action_planned".to_owned()));
}

#[test]
fn wrong_words_on_the_command_line_are_explained() {
    let world = World::new();
    for line in [
        "skillful run --model magic x",
        "skillful run --approve nonsense x",
        "skillful run --profile none x",
        "skillful run",
    ] {
        let seen = world.run(line);
        assert!(seen.ends_with("[exit 2]\n"), "{line}\n{seen}");
    }
    let misspelt = world.run("skillful run --deny run_scirpt x");
    assert!(misspelt.contains("did you mean `run_script`?"), "{misspelt}");
    let missing = world.run("skillful runs show 20200101_000000_none");
    assert!(missing.contains("there is no run") && missing.ends_with("[exit 1]\n"), "{missing}");
}

//! Questions of the model to the user.

use super::*;

fn ask(question: &str, options: &[&str]) -> Value {
    act("ask_user", json!({"question": question, "options": options}))
}

/// What the model was told as answers.
fn answers(world: &World) -> Vec<Value> {
    let events = events(world);
    let answered = events.iter().filter(|event| event["type"] == "question_answered");
    answered.map(|event| event["data"]["answer"].clone()).collect()
}

#[test]
fn without_anybody_the_run_waits_and_goes_on_with_an_answer() {
    let world = plain(&[ask("Which quarter?", &["Q1", "Q2"]), answer("done")]);
    let seen = run(&world, "");
    let id = last_run(&world);
    assert_eq!(
        seen,
        format!(
            "[stderr]\nerror: the run waits for your answer: Which quarter? (answers: Q1, Q2)\nhint: to answer, run: skillful run --resume {id} --model scripted:turns.json --answer Q1\n[exit 3]\n"
        )
    );
    let waiting = &world.json("skillful runs list --json")["runs"][0];
    assert_ne!(waiting["status"], "completed", "{waiting}");
    // Nothing is lost by trying without an answer.
    assert!(resume(&world, "").ends_with("[exit 3]\n"));
    assert_eq!(resume(&world, "--answer Q1"), "done\n");
    assert_eq!(answers(&world), [json!({"said": ["Q1"]})]);
    assert_sound(&world);
}

#[test]
fn the_document_has_the_question() {
    let world = plain(&[ask("Which quarter?", &["Q1"]), answer("done")]);
    let result = world.json("skillful run --json --model scripted:turns.json x");
    assert_eq!(result["question"]["question"], "Which quarter?", "{result}");
    assert_eq!(result["question"]["options"][0]["label"], "Q1");
    assert_eq!((&result["status"], &result["answer"]), (&json!("blocked"), &json!("")));
    let code = world.output("skillful run --json --model scripted:turns.json x").status.code();
    assert_eq!(code, Some(3));
}

#[test]
fn an_option_is_chosen_by_number_by_name_or_in_own_words() {
    for (given, expected) in [("2", "Q2"), ("q2", "Q2"), ("'the whole year'", "the whole year")] {
        let world = plain(&[ask("Which quarter?", &["Q1", "Q2"]), answer("done")]);
        run(&world, "");
        resume(&world, &format!("--answer {given}"));
        assert_eq!(answers(&world), [json!({"said": [expected]})], "{given}");
    }
    let several = act(
        "ask_user",
        json!({"question": "Which?", "options": ["a", "b", "c"], "multiple": true}),
    );
    let world = plain(&[several, answer("done")]);
    run(&world, "");
    resume(&world, "--answer 1,c");
    assert_eq!(answers(&world), [json!({"said": ["a", "c"]})]);
}

#[test]
fn an_answer_is_for_one_question() {
    let world = plain(&[ask("First?", &[]), ask("Second?", &[]), answer("done")]);
    run(&world, "");
    let seen = resume(&world, "--answer one");
    assert!(seen.contains("Second?") && seen.ends_with("[exit 3]\n"), "{seen}");
    assert_eq!(resume(&world, "--answer two"), "done\n");
    assert_eq!(answers(&world), [json!({"said": ["one"]}), json!({"said": ["two"]})]);
    assert_sound(&world);
}

#[test]
fn a_model_can_be_told_that_nobody_answers() {
    let world = plain(&[ask("Which quarter?", &["Q1"]), answer("I chose Q1")]);
    assert_eq!(run(&world, "--no-questions"), "I chose Q1\n");
    assert_eq!(answers(&world), ["nobody"]);
    assert_sound(&world);
}

#[test]
fn a_run_asks_at_most_five_questions() {
    let mut turns: Vec<Value> =
        (0..6).map(|number| ask(&format!("Question {number}?"), &[])).collect();
    turns.push(answer("done"));
    let world = plain(&turns);
    run(&world, "--no-questions");
    assert_eq!(answers(&world).len(), 5);
    let codes = codes(&world);
    assert!(codes[5].is_string(), "{codes:?}");
    let world = plain(&turns);
    world.write("home/.agent/config.json", r#"{"patience": {"questions": 2}}"#);
    run(&world, "--no-questions");
    assert_eq!(answers(&world).len(), 2);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_secret_reaches_programs_and_nobody_else() {
    let secret = act("ask_user", json!({"question": "The token?", "secret": true}));
    let world = plain(&[
        secret,
        call(
            "run_command",
            json!({"command": "env | grep hunter42x | wc -l; env | grep hunter42x"}),
        ),
        answer("done"),
    ])
    .with("TERM", "dumb");
    let line = "skillful run --model scripted:turns.json --approve run_command x";
    let seen = world.conversation(line, &[("Your answer: ", "hunter42x\n")]);
    assert!(!seen.contains("hunter42x"), "{seen}");
    let found = world.run("grep -rl hunter42x .agent; true");
    assert_eq!(found, "");
    let output = world.run(&format!("cat ../{}/observations/*stdout*", last(&world)));
    assert!(output.starts_with('1'), "the command had it: {output}");
    assert_sound(&world);
}

#[test]
fn a_question_on_a_terminal_is_answered_there() {
    let world = plain(&[ask("Which quarter?", &["Q1", "Q2"]), answer("done")]).with("TERM", "dumb");
    let line = "skillful run --model scripted:turns.json x";
    let seen = world.conversation(line, &[("text of your own: ", "2\n")]);
    assert!(seen.contains("Which quarter?") && seen.contains("2 Q2"), "{seen}");
    assert_eq!(answers(&world), [json!({"said": ["Q2"]})]);
    assert_sound(&world);
}

#[test]
fn at_a_limit_a_person_is_asked_whether_to_go_on() {
    let look = || act("search_skills", json!({"query": "count"}));
    let turns = [look(), look(), look(), answer("done")];
    for (key, turns_done, end) in [("yes", 4, "done"), ("no", 2, "[exit 1]")] {
        let world = plain(&turns).with("TERM", "dumb");
        world.write("home/.agent/config.json", r#"{"budget": {"max_turns": 2}}"#);
        let line = "skillful run --model scripted:turns.json x";
        let seen = world.conversation(line, &[("text of your own: ", &format!("{key}\n"))]);
        assert!(seen.contains("A limit is reached") && seen.contains(end), "{seen}");
        let begun = events(&world).iter().filter(|event| event["type"] == "turn_started").count();
        assert_eq!(begun, turns_done, "{seen}");
        assert_sound(&world);
    }
}

//! A result is taken up again only where everything that it rests on is as it was.

use super::*;

/// A world whose one case has run once: with a skill, an input, and a model in a file.
fn finished() -> World {
    let world = authors();
    world.skill("project/shop/zebra", "Counts the stripes of zebras.");
    world.write("project/.agent/evals/s/a/inputs/stripes.txt", "12\n");
    let case = json!({"id": "a", "input": "go", "setup": {"preinstall_skills": ["shop/zebra"]}});
    world.write("project/.agent/evals/s/a/case.json", case.to_string());
    world.turns(&[turns::answer("done")]);
    world.run(&format!("skillful {RUN}"));
    assert_eq!(runs(&world), 1);
    world
}

const RUN: &str = "eval run -q --model scripted:turns.json";

/// How often the case has run, by the results of the last run of the suite.
fn runs(world: &World) -> usize {
    fs::read_to_string(results(world).join("results.jsonl")).unwrap().lines().count()
}

/// After this change, the case runs again, and after that not a third time.
fn check(change: impl Fn(&World)) {
    let world = finished();
    let resume =
        || world.run(&format!("$(test -x ../skillful && echo ../)skillful {RUN} --resume last"));
    assert_eq!((resume(), runs(&world)), ("1 of 1 case passed\n".to_owned(), 1));
    change(&world);
    assert_eq!((resume(), runs(&world)), ("1 of 1 case passed\n".to_owned(), 2));
    assert_eq!((resume(), runs(&world)), ("1 of 1 case passed\n".to_owned(), 2));
}

#[test]
fn a_case_runs_again_after_its_skill_changed() {
    check(|world| {
        world.skill("project/shop/zebra", "Counts the stripes of zebras. And of okapis.");
    });
    check(|world| {
        world.write("project/shop/zebra/scripts/count.sh", "echo 12\n");
    });
}

#[test]
fn a_case_runs_again_after_its_inputs_or_the_models_file_changed() {
    check(|world| {
        world.write("project/.agent/evals/s/a/inputs/stripes.txt", "13\n");
    });
    check(|world| {
        world.turns(&[turns::answer("other")]);
    });
}

#[test]
fn a_case_runs_again_after_the_settings_changed() {
    for settings in [r#"{"budget": {"max_turns": 7}}"#, r#"{"permissions": {"grep": "deny"}}"#] {
        check(|world| {
            world.write("home/.agent/config.json", settings);
        });
    }
}

#[test]
fn a_case_runs_again_with_another_program() {
    // A program may have anything behind its end, so this one is another and does the same.
    check(|world| {
        world.run("cp \"$(command -v skillful)\" ../skillful; printf x >> ../skillful");
    });
}

#[test]
fn a_built_in_skills_cases_are_taken_up_again() {
    let world = authors();
    world.run("skillful eval run -q csv-report");
    let before = runs(&world);
    world.run("skillful eval run -q csv-report --resume last");
    assert_eq!(runs(&world), before);
}

//! `skillful run` without a language model: which files it takes, what it says, and how it exits.

use insta::assert_snapshot;

use crate::turns::{answer, events, last_run};
use crate::world::World;

fn sales() -> World {
    let world = World::new();
    world.write("project/sales.csv", "region,amount\nnorth,10\nsouth,20\nnorth,5\n");
    world
}

#[test]
fn a_missing_file_is_named_with_the_nearest_one_and_nothing_runs() {
    let world = sales();
    assert_snapshot!(world.run("skillful run -q --yes 'Summarise slaes.csv'"), @"
    `slaes.csv` is not here; did you mean `sales.csv`?

    Nothing was run. The skill `csv-report` fits; name a file that is here.

    Made without a language model.
    [exit 1]
    ");
    let ended = world.json("skillful run --json 'Summarise in/nosuch.csv'");
    assert_eq!(
        (&ended["status"], &ended["stop_reason"]),
        (&"degraded".into(), &"no_result".into())
    );
    assert!(
        ended["answer"].as_str().unwrap().starts_with("`in/nosuch.csv` is not here."),
        "{ended}"
    );
    assert_eq!(ended["budget"]["script_runs"], 0);
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn the_only_fitting_file_is_taken() {
    let world = sales();
    world.write("project/notes.txt", "x");
    let seen = world.run("skillful run --yes 'summarise the csv file'");
    assert!(seen.starts_with("# CSV report: `sales.csv`\n\n- Rows: 3"), "{seen}");
    world.write("project/people.csv", "name\nAnn\n");
    assert_snapshot!(world.run("skillful run --yes 'summarise the csv file'"), @"
    Which file do you mean? The skill `csv-report` fits, and could work on each of these:

    - `people.csv`
    - `sales.csv`

    Name one in your request.

    Made without a language model.
    [exit 1]
    ");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_script_that_failed_is_failed_work() {
    let world = sales();
    world.write("project/bad.csv", b"\xff\xfea\0");
    let seen = world.run("skillful run --yes 'Summarise bad.csv'");
    assert!(seen.contains("> report.sh: `bad.csv` is UTF-16"), "{seen}");
    assert!(!seen.contains("call it otherwise"), "meant for a model:\n{seen}");
    assert!(seen.ends_with("[exit 1]\n"), "{seen}");
}

#[test]
fn a_request_that_no_skill_fits_is_failed_work_and_says_what_would_help() {
    assert_snapshot!(World::new().run("skillful run -q \"What's the capital of France?\""), @"
    No skill clearly fits this request. No skill shares a word with it; `skillful list` shows them all. To write a skill for it, run `skillful new NAME`.

    Made without a language model. A model could understand your request better: `skillful models` shows which you can use.
    [exit 1]
    ");
}

#[test]
fn a_hidden_skill_that_would_fit_is_named_with_the_command_that_lets_it_in() {
    let world = World::new();
    world.skill("project/.agent/skills/deploy-site", "Deploys the web site to staging.");
    world.skill("project/.agent/skills/other", "Something else.");
    let run = "skillful run 'deploy the site to staging'";
    let seen = world.run(run);
    let said = "The skill `deploy-site` of this project would fit, but you do not trust it yet. Look first (`skillful inspect deploy-site`), then run `skillful trust project deploy-site`.\n[exit 1]\n";
    assert!(seen.ends_with(said), "{seen}");
    assert!(!world.run("skillful run 'bake a cake'").contains("would fit"));
    world.run("skillful trust project deploy-site");
    let seen = world.run(run);
    assert!(seen.starts_with("The skill `deploy-site` fits.") && !seen.contains("[exit"), "{seen}");
}

#[test]
fn the_part_of_a_skill_that_fits_is_quoted() {
    let world = World::new();
    world.write(
        "home/.agent/skills/pdf-tools/SKILL.md",
        "---\nname: pdf-tools\ndescription: Merge, split and rotate PDF files.\n---\n# PDF tools\n\n## Next Steps\n\nFor advanced usage, see B.\n\n## Merge\n\nDo this:\n\n- take qpdf\n- name the files\n\n## Split\n\nTake pdftk.\n",
    );
    assert_snapshot!(world.run("skillful run -q 'how do I merge pdf files?'"), @r#"
    The skill `pdf-tools` fits. It says under "Merge":

    Do this:

    - take qpdf
    - name the files

    Made without a language model. A model could do this for you: `skillful models` shows which you can use.
    "#);
}

#[test]
fn an_empty_request_is_refused() {
    let world = World::new();
    for line in [
        "skillful run ''",
        "skillful run ' '",
        "printf '\\n' | skillful run -",
        "printf '' | skillful run ''",
    ] {
        assert_eq!(
            world.run(line),
            "[stderr]\nerror: the request is empty\nhint: say what to do, as in: skillful run \"Summarise sales.csv\"\n[exit 2]\n",
            "{line}"
        );
    }
    assert!(!world.path("project/.agent").exists(), "an empty request leaves no record");
}

#[test]
fn a_request_can_come_from_standard_input() {
    let world = World::new();
    world.turns(&[answer("done")]);
    let asked = || {
        let events = events(&world);
        events[0]["data"]["setup"]["request"].as_str().unwrap().to_owned()
    };
    let run = "skillful run --model scripted:turns.json";
    for (line, request) in [
        (format!("echo 'Write a poem' | {run} -"), "Write a poem"),
        (
            format!("printf 'a\\nb\\n' | {run} count these"),
            "count these\n\n[Standard input]\na\nb\n",
        ),
        (format!("{run} count these < list.txt"), "count these\n\n[Standard input]\n1\n"),
        (format!("printf '' | {run} nothing more"), "nothing more"),
        (format!("{run} nothing at all </dev/null"), "nothing at all"),
    ] {
        world.write("project/list.txt", "1\n");
        assert_eq!(world.run(&line), "done\n", "{line}");
        assert_eq!(asked(), request, "{line}");
    }
}

#[test]
fn what_cannot_be_part_of_a_request_is_refused() {
    let world = World::new();
    let large = world.run("head -c 100001 /dev/zero | skillful run x");
    assert!(large.contains("more than 100000 bytes") && large.ends_with("[exit 2]\n"), "{large}");
    let binary = world.run("printf '\\377' | skillful run x");
    assert!(binary.contains("not text in UTF-8") && binary.contains("name the file"), "{binary}");
    assert!(binary.ends_with("[exit 2]\n"), "{binary}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_is_piped_in_is_summarised_also_after_an_approval() {
    let world = sales();
    let seen = world.run("cat sales.csv | skillful run --yes 'summarise this'");
    assert!(seen.starts_with("# CSV report: `standard input`\n\n- Rows: 3"), "{seen}");
    let seen = world.run("cat sales.csv | skillful run 'summarise this'");
    let allowed = "skillful run --approve run_script:csv-report/scripts/report.sh --resume last";
    assert!(seen.contains(&format!("to allow it, run: {allowed}\n[exit 3]")), "{seen}");
    let waiting = last_run(&world);
    let seen = world.run(allowed);
    assert!(seen.starts_with("# CSV report: `standard input`\n\n- Rows: 3"), "{seen}");
    assert_eq!(last_run(&world), waiting);
    let seen = world.run("cat sales.csv | skillful run --yes /csv-report");
    assert!(seen.starts_with("# CSV report: `standard input`\n\n- Rows: 3"), "{seen}");
    let seen = world.run("printf 'one two three\\n' | skillful run --yes 'word count please'");
    assert!(seen.contains("| Words | 3 |"), "{seen}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn each_request_of_a_conversation_gets_the_skill_that_fits_it() {
    let world = sales();
    world.write("project/notes.txt", "one two three\n");
    let ask = |options: &str, request: &str| {
        world.run(&format!("skillful run -q --yes {options} '{request}'"))
    };
    assert!(ask("", "What is in sales.csv?").contains("CSV report"));
    let counted = ask("--continue", "How many words does notes.txt have?");
    assert!(counted.contains("Words") && !counted.contains("csv-report"), "{counted}");
    // A skill that is loaded already is used without loading it again.
    let again = ask("--continue", "Summarise sales.csv");
    assert!(again.contains("CSV report"), "{again}");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

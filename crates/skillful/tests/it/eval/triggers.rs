//! `skillful eval triggers`, and a skill with the files of the open standard.

use super::authors;

#[test]
fn a_skill_with_the_open_standards_files_needs_nothing_of_ours() {
    let world = authors();
    world.skill(
        "project/shop/csv-sums",
        "Sums the columns of a CSV file. Use for totals of a table.",
    );
    world.write("project/shop/csv-sums/evals/files/a.csv", "n\n1\n2\n");
    world.write("project/shop/csv-sums/evals/evals.json", r#"{"skill_name": "csv-sums", "evals": [
        {"id": 1, "prompt": "Sums of the columns, with totals", "expected_output": "3", "files": ["evals/files/a.csv"], "assertions": ["It says 3"]}]}"#);
    world.write(
        "project/shop/csv-sums/evals/triggers.json",
        r#"[
        {"query": "sum the totals of a csv table's columns", "should_trigger": true},
        {"query": "sing me a song", "should_trigger": false}]"#,
    );
    insta::assert_snapshot!(world.run("skillful eval run -q shop/csv-sums"), @"
    3 of 3 cases passed
    2 assertions were not judged: no --model and no --grader
    ");
    let compared = world.run("skillful eval run -q shop/csv-sums --with-without csv-sums");
    assert!(!compared.contains("[exit"), "a skill that only a case brings along: {compared}");
    insta::assert_snapshot!(world.run("skillful eval triggers csv-sums --root shop"), @"
    training 2 of 2 right
      ✓ 1.00 yes sum the totals of a csv table's columns
      ✓ 0.00 no  sing me a song
    validation 0 of 0 right
    ");
    insta::assert_snapshot!(world.run("skillful eval triggers csv-report"), @"
    training 6 of 6 right
      ✓ 1.00 yes what's in data/export_2025.csv?
      ✓ 1.00 yes profile this tsv and tell me which columns have missing values
      ✓ 1.00 yes can you check whether this spreadsheet export is clean before I import it
      ✓ 0.00 no  make a bar chart of monthly revenue
      ✓ 0.00 no  how many words are in README.md?
      ✓ 0.00 no  summarise this article in three sentences
    validation 4 of 4 right
      ✓ 1.00 yes average order value from orders.csv please
      ✓ 1.00 yes give me summary statistics for survey results, semicolon separated
      ✓ 0.00 no  convert this JSON file to YAML
      ✓ 0.00 no  write a Python function that parses CSV lines
    ");
}

#[test]
fn a_query_that_chose_another_skill_has_not_triggered() {
    let world = authors();
    world.skill("project/shop/zebra-helper", "Counts the stripes of zebras.");
    world.write(
        "project/shop/zebra-helper/evals/triggers.json",
        r#"[{"query": "Summarise this CSV file sales.csv please", "should_trigger": true}]"#,
    );
    insta::assert_snapshot!(world.run("skillful eval triggers zebra-helper --root shop"), @"
    training 0 of 1 right
      ✗ 0.00 yes Summarise this CSV file sales.csv please
    validation 0 of 0 right
    [exit 1]
    ");
    insta::assert_snapshot!(world.run("skillful eval run -q shop/zebra-helper"), @"
    ✗ zebra-helper/query-1
        trigger: one of `zebra-helper` should have been chosen; chosen: `csv-report`
    ✗ 0.00 should trigger Summarise this CSV file sales.csv please
    0 of 1 case passed
    [exit 1]
    ");
}

#[test]
fn the_threshold_of_trigger_queries_is_a_setting() {
    let world = authors();
    world.write("project/csv-report.json", r#"[{"query": "hello", "should_trigger": false}]"#);
    world.write("home/.agent/config.json", r#"{"eval": {"trigger_threshold": 0.75}}"#);
    let report = world.json("skillful eval run csv-report.json --json");
    assert_eq!(report["summary"]["trigger_threshold"], 0.75);
    for wrong in ["0", "1.5", "-1"] {
        let seen = world.run(&format!("SKILLFUL_EVAL_TRIGGER_THRESHOLD={wrong} skillful eval run"));
        assert!(seen.contains("expected a number above 0 and up to 1"), "{seen}");
        assert!(seen.contains("[exit 2]"), "{seen}");
    }
}

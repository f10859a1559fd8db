use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const DOCUMENT: &str = "\
# Title

Opening.

## History

Long ago.

## When to use it

Always.

### Never

Almost.

## Credits

Thanks.

## 步骤

一。
";

/// What is left within `lines` lines, and what is named as dropped.
#[track_caller]
fn check(lines: usize, kept: &str, dropped: &[&str]) {
    let trimmed = trim(DOCUMENT, lines, 10_000);
    assert_eq!(
        (trimmed.text.as_str(), trimmed.dropped),
        (kept, dropped.iter().map(|it| (*it).to_owned()).collect())
    );
}

#[test]
fn a_document_that_fits_is_whole() {
    check(100, DOCUMENT, &[]);
    check(DOCUMENT.lines().count(), DOCUMENT, &[]);
}

#[test]
fn essentials_are_kept_before_what_stands_above_them() {
    let essentials = "# Title\n\nOpening.\n\n## When to use it\n\nAlways.\n\n### Never\n\nAlmost.\n\n## 步骤\n\n一。\n";
    check(15, essentials, &["## History", "## Credits"]);
    let with_history = essentials.replace("## When", "## History\n\nLong ago.\n\n## When");
    check(19, &with_history, &["## Credits"]);
    check(18, essentials, &["## History", "## Credits"]);
}

#[test]
fn the_opening_is_kept_before_all_else() {
    let all = ["## History", "## When to use it", "### Never", "## Credits", "## 步骤"];
    check(4, "# Title\n\nOpening.\n\n", &all);
    check(3, "# Title\n\nOpening.\n", &all);
    check(1, "# Title\n", &all);
    check(0, "", &all);
}

#[test]
fn a_line_longer_than_the_budget_is_cut_rather_than_lost() {
    let trimmed = trim(&"é".repeat(100), 10, 7);
    assert_eq!((trimmed.text.as_str(), trimmed.dropped.len()), ("ééééééé", 0));
    let trimmed = trim(&format!("{}\n# Steps\n", "x".repeat(1_000)), 20, 600);
    assert_eq!(trimmed.text, format!("{}\n# Steps\n", "x".repeat(591)));
    assert!(trimmed.opening_is_cut && trimmed.dropped.is_empty());
}

#[test]
fn an_opening_is_not_cut_within_a_code_block() {
    let code = "long code\n".repeat(20);
    let text = format!("# Title\n\n```\n{code}```\n\n## Steps\n");
    assert_eq!(trim(&text, 15, 1_000).text, "# Title\n\n## Steps\n");
    let alone = "# Title\n\n```\none\ntwo\n```\n";
    assert_eq!(trim(alone, 4, 100).text, "# Title\n\n```\none\n", "nothing stands behind it");
}

#[test]
fn of_a_long_opening_the_beginning_is_kept_and_what_else_there_is_room_for() {
    let opening = "word\n".repeat(200);
    let steps = |lines: usize| format!("## Steps\n{}", "do\n".repeat(lines - 1));
    let aside = "## Aside\nx\n";
    let check = |budget: usize, steps: &str, opening_lines: usize, dropped: &[&str]| {
        let trimmed = trim(&format!("{opening}{steps}{aside}"), budget, 10_000);
        let opening = trimmed.text.lines().filter(|line| *line == "word").count();
        assert_eq!(
            (opening, trimmed.dropped),
            (opening_lines, dropped.iter().map(|it| (*it).to_owned()).collect())
        );
    };
    check(100, &steps(3), 97, &["## Aside"]);
    check(100, &steps(88), 12, &["## Aside"]);
    check(100, &steps(89), 12, &["## Steps", "## Aside"]);
    check(40, &steps(30), 10, &["## Aside"]);
    check(204, &steps(3), 200, &["## Aside"]);
}

#[test]
fn words_of_each_kind_are_essential() {
    for title in [
        "When to use",
        "Triggers",
        "Inputs",
        "Output format",
        "Parameters",
        "Steps",
        "Workflow",
        "Instructions",
        "Failure modes",
        "Error handling",
        "Troubleshooting",
        "Checks",
        "Validation",
        "Resources",
        "References",
        "Scripts",
        "何时使用",
        "输入",
        "输出",
        "步骤",
        "流程",
        "错误处理",
        "检查",
        "参考资料",
    ] {
        let text = format!("# T\n\n## Aside\n\nx\n\n## {title}\n\ny\n");
        let trimmed = trim(&text, 6, 1_000);
        assert_eq!(trimmed.dropped, ["## Aside"], "{title}");
    }
}

fn document() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        2 => (1_usize..5, select(&["Steps", "Aside", "步骤", "Notes"][..])).prop_map(|(level, title)| format!("{} {title}", "#".repeat(level))),
        3 => "[a-z漢 ]{0,20}",
        1 => Just("```".to_owned()),
    ];
    (prop::collection::vec(line, 0..30), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2_000)))]

    #[test]
    fn the_budget_is_kept_and_all_that_is_dropped_is_named(
        text in document(),
        lines in 0_usize..40,
        chars in 0_usize..400,
    ) {
        let trimmed = trim(&text, lines, chars);
        prop_assert!(trimmed.text.lines().count() <= lines, "{:?}", trimmed.text);
        prop_assert!(trimmed.text.chars().count() <= chars, "{:?}", trimmed.text);
        let all = hints(&headings(&text));
        let kept = headings(&trimmed.text).len();
        prop_assert!(kept + trimmed.dropped.len() >= all.len().saturating_sub(1), "{:?}", trimmed);
        prop_assert!(trimmed.dropped.iter().all(|heading| all.contains(heading)));
        if text.lines().count() <= lines && text.chars().count() <= chars {
            prop_assert_eq!(&trimmed.text, &text);
            prop_assert!(trimmed.dropped.is_empty());
        }
    }

    #[test]
    fn what_is_left_stands_in_the_order_of_the_document(text in document(), lines in 0_usize..40) {
        let trimmed = trim(&text, lines, 10_000);
        let mut rest = text.lines();
        let cut = CUT.lines().next().unwrap_or_default();
        for line in trimmed.text.lines().filter(|line| *line != cut) {
            prop_assert!(rest.any(|other| other == line), "{line:?} of {:?}", trimmed.text);
        }
    }
}

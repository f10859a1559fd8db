use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const GUIDE: &str = "\
Intro.

# Guide

## 1. Set up

Install it.

### On Linux

Use apt.

## 2. **Metric** definitions:

Metrics.

```md
## Not a heading
```

## Schritte für Ärzte

Eins.

## 步骤 ##

一。

# C#

## Set up

Again.
";

/// The section that a hint finds, by its first and last line.
#[track_caller]
fn check(hint: &str, expected: Option<(&str, &str)>) {
    let found = find(GUIDE, hint).map(|range| {
        let mut lines = GUIDE[range].lines().filter(|line| !line.is_empty());
        let first = lines.next().unwrap();
        (first, lines.next_back().unwrap_or(first))
    });
    assert_eq!(found, expected, "{hint}");
}

#[test]
fn a_section_goes_to_the_next_heading_of_its_level_or_above() {
    check("# Guide", Some(("# Guide", "一。")));
    check("## 1. Set up", Some(("## 1. Set up", "Use apt.")));
    check("### On Linux", Some(("### On Linux", "Use apt.")));
    check("# C#", Some(("# C#", "Again.")));
}

#[test]
fn hashes_numbers_case_and_emphasis_do_not_matter() {
    for hint in [
        "## Metric definitions",
        "metric definitions",
        "#Metric Definitions",
        " 2. Metric definitions ",
        "METRIC   DEFINITIONS:",
        "`Metric` *definitions*",
        "7) metric definitions",
    ] {
        check(hint, Some(("## 2. **Metric** definitions:", "```")));
    }
}

#[test]
fn any_language_is_found() {
    check("步骤", Some(("## 步骤 ##", "一。")));
    check("## 步骤", Some(("## 步骤 ##", "一。")));
    check("SCHRITTE FÜR ÄRZTE", Some(("## Schritte für Ärzte", "Eins.")));
    check("C#", Some(("# C#", "Again.")));
}

#[test]
fn an_exact_title_is_preferred_and_a_part_of_one_is_enough() {
    check("Set up", Some(("## Set up", "Again.")));
    check("# Set up", Some(("## Set up", "Again.")));
    check("1) set up", Some(("## 1. Set up", "Use apt.")));
    check("Linux", Some(("### On Linux", "Use apt.")));
    let text = "# Steps in short\n\n1\n\n## Steps\n\n2\n\n# Steps\n\n3\n";
    let found = |hint: &str| text[find(text, hint).unwrap()].split_once('\n').unwrap().0;
    assert_eq!(found("Steps"), "## Steps");
    assert_eq!(found("# Steps"), "# Steps");
    assert_eq!(found("### Steps"), "## Steps");
    assert_eq!(found("short"), "# Steps in short");
}

#[test]
fn what_is_not_a_heading_is_not_found() {
    for hint in ["Not a heading", "Install it", "", "#", "##  ", "Unknown", "**", "12."] {
        check(hint, None);
    }
}

#[test]
fn a_title_of_digits_is_found_by_them() {
    let text = "## 2024\n\n1\n\n## 2025\n\n2\n";
    assert_eq!(find(text, "2025"), Some(12..text.len()));
    assert_eq!(find(text, "## 2024"), Some(0..12));
}

#[test]
fn a_number_that_belongs_to_the_title_counts() {
    let text = "## 2D plots\n\n## 3D plots\n\n## 2023 results\n\n## 2024 results\n\n\
                ## 1. Intro\n\n## 2. Intro\n\n## 3 Tables\n\n## 1.2 Tables of tables\n\n## 2.x API\n";
    let title = |hint: &str| find(text, hint).map(|range| text[range].lines().next().unwrap());
    for (hint, expected) in [
        ("3D plots", Some("## 3D plots")),
        ("## 2d plots", Some("## 2D plots")),
        ("2024 results", Some("## 2024 results")),
        ("results", Some("## 2023 results")),
        ("2022 results", None),
        ("4D plots", None),
        ("2. Intro", Some("## 2. Intro")),
        ("5. Intro", Some("## 1. Intro")),
        ("Intro", Some("## 1. Intro")),
        ("tables", Some("## 3 Tables")),
        ("7. Tables of tables", None),
        ("tables of tables", Some("## 1.2 Tables of tables")),
        ("API", Some("## 2.x API")),
    ] {
        assert_eq!(title(hint), expected, "{hint}");
    }
}

#[track_caller]
fn check_titles(text: &str, expected: &[&str]) {
    let titles: Vec<String> = headings(text).iter().map(Heading::to_string).collect();
    assert_eq!(titles, expected, "{text:?}");
}

#[test]
fn an_underlined_line_is_a_heading() {
    check_titles("Guide\n=====\n\nIntro.\n\nSet up\n---\n", &["# Guide", "## Set up"]);
    check_titles("  Guide  \r\n  ==  \r\n", &["# Guide"]);
    check_titles("# A\nB\n-\nC\n", &["# A", "## B"]);
    let text = "Guide\n=====\n\nSet up\n------\n\n1\n\nUse\n---\n\n2\n";
    assert_eq!(find(text, "Set up").map(|range| &text[range]), Some("Set up\n------\n\n1\n\n"));
    assert_eq!(find_exactly(text, "## use").map(|range| &text[range]), Some("Use\n---\n\n2\n"));
    assert_eq!(outline(text), "# Guide\n## Set up\n## Use\n");
}

#[test]
fn a_line_below_anything_but_a_title_is_a_rule() {
    for text in [
        "---\n",
        "text\n\n---\n",
        "two\nlines\n---\n",
        "- item\n---\n",
        "1. item\n---\n",
        "> quote\n---\n",
        "| a |\n---\n",
        "<br>\n---\n",
        "    code\n---\n",
        "***\n---\n",
        "---\n---\n",
        "---\ntitle: x\n---\n",
        "text\n- -\n",
        "text\n    ---\n",
        "```\ntext\n---\n```\n---\n",
    ] {
        check_titles(text, &[]);
    }
}

#[test]
fn fences_hide_headings_until_they_are_closed() {
    let titles = |text: &str| headings(text).into_iter().map(|it| it.title).collect::<Vec<_>>();
    assert_eq!(titles("```\n# a\n```\n# b\n"), ["b"]);
    assert_eq!(titles("~~~\n# a\n```\n# b\n~~~\n# c\n"), ["c"]);
    assert_eq!(titles("````\n```\n# a\n````\n# b\n"), ["b"]);
    assert_eq!(titles("```sh\n# a\n```sh\n# b\n```\n# c\n"), ["c"]);
    assert_eq!(titles("``` `x` ```\n# a\n"), ["a"]);
    assert_eq!(titles("    ```\n# a\n"), ["a"]);
    assert_eq!(titles("   ```\n# a\n"), Vec::<String>::new());
    assert_eq!(titles("``\n# a\n"), ["a"]);
}

#[test]
fn headings_are_those_of_markdown() {
    for (line, expected) in [
        ("# a", Some((1, "a"))),
        ("###### a", Some((6, "a"))),
        ("####### a", None),
        ("#a", None),
        ("   ## a", Some((2, "a"))),
        ("    ## a", None),
        ("##\ta", Some((2, "a"))),
        ("## a ##", Some((2, "a"))),
        ("## a ## b", Some((2, "a ## b"))),
        ("# C#", Some((1, "C#"))),
        ("# C# #", Some((1, "C#"))),
        ("#", Some((1, ""))),
        ("## ##", Some((2, ""))),
        ("", None),
        ("a # b", None),
    ] {
        assert_eq!(heading(line), expected, "{line:?}");
    }
}

#[test]
fn the_outline_lists_the_headings() {
    assert_eq!(outline("# a\n\n## b ##\n```\n# c\n```\n### d\n"), "# a\n## b\n### d\n");
    assert_eq!(outline("text"), "");
}

#[test]
fn an_exact_section_is_not_one_that_only_contains_the_title() {
    let text = "# Overview of things\n\n1\n";
    assert_eq!(find_exactly(text, "Overview"), None);
    assert!(find_exactly("# a\n\n## 1. Overview\n", "Overview").is_some());
}

fn document() -> impl Strategy<Value = String> {
    let title = select(
        &["Steps", "steps ##", "1. Steps", "Usage", "漢字", "C#", "", "*a*", "Steps here"][..],
    );
    let line = prop_oneof![
        3 => (1_usize..8, title.clone()).prop_map(|(level, title)| format!("{} {title}", "#".repeat(level))),
        1 => title.prop_map(str::to_owned),
        1 => select(&["```", "~~~", "````", "", "    # code", "text", "#no", "```sh", "---", "=="][..]).prop_map(str::to_owned),
    ];
    (prop::collection::vec(line, 0..20), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2_000)))]

    #[test]
    fn a_found_section_begins_with_a_heading_and_ends_before_one_of_its_level(
        text in document(),
        hint in "(#{0,3} ?)?(Steps|usage|漢字|C#|[a-z0-9#*. ]{0,4})",
    ) {
        let Some(range) = find(&text, &hint) else { return Ok(()) };
        prop_assert!(range.start < range.end && range.end <= text.len());
        let all = headings(&text);
        let Heading { level, title, .. } =
            all.iter().find(|heading| heading.start == range.start).unwrap();
        let wanted = hint.trim().trim_start_matches('#');
        let (title, wanted) = (simplified(title), simplified(wanted));
        let bare = |title| unnumbered(title, Number::Any);
        let fits = title.contains(&wanted) || bare(&title).contains(bare(&wanted));
        prop_assert!(fits || wanted.contains('#'));
        for heading in all.iter().filter(|it| it.start > range.start && it.start < range.end) {
            prop_assert!(heading.level > *level, "{heading} is within a section of level {level}");
        }
        if range.end < text.len() {
            let next = all.iter().find(|heading| heading.start == range.end);
            prop_assert!(next.is_some_and(|next| next.level <= *level));
        }
    }

    #[test]
    fn every_heading_is_found_by_itself(text in document()) {
        for heading in headings(&text).iter().filter(|it| !simplified(&it.title).is_empty()) {
            prop_assert!(find(&text, &heading.to_string()).is_some(), "{heading}");
            prop_assert!(find(&text, &heading.title).is_some(), "{heading}");
        }
    }

    #[test]
    fn nothing_makes_it_panic(text in "(#|```|~~~|--|==|[ \na漢*_]){0,30}", hint in "[# a漢*_.0]{0,6}") {
        if let Some(range) = find(&text, &hint) {
            prop_assert!(text.get(range).is_some());
        }
        prop_assert_eq!(outline(&text).lines().count(), headings(&text).len());
    }
}

use proptest::prelude::*;
use proptest::sample::select;

use super::super::{Limits, full, split_whole};
use super::*;
use crate::corpus;

/// Whether the fast path answers; where it does, the full parser must say the same.
#[track_caller]
fn answers(yaml: &str) -> bool {
    let fast = parse(yaml);
    if let Some(fields) = &fast {
        assert_eq!(Ok(fields), full::parse(yaml, &Limits::default()).as_ref(), "{yaml:?}");
    }
    fast.is_some()
}

#[test]
fn what_nearly_everyone_writes_is_answered() {
    for yaml in [
        "name: a\ndescription: b c, d. (e)\n",
        "# comment\n\nname: a\n# comment\ndescription: \"b: c\"\nlicense: 'MIT'\n",
        "description: >-\n  one\n  two\nname: a\n",
        "description: |\n  one\n  two\n",
        "allowed-tools:\n  - Read\n  - \"Bash(git:*)\"\nname: a\n",
        "allowed-tools:\n- Read\n- Grep\n",
        "metadata:\n  version: 1.0\n  tags: [a, 'b c', \"d\"]\n",
        "tags: [a, b]\nempty:\nlast:\n",
        "description: 用于处理 PDF 文件\n",
        "key: value \n",
        "name: a\n\ndescription: |\n  b\n# comment\n\nmetadata:\n  c: d\n\nlist:\n- e\n",
        "a:\n\nb: c\n",
    ] {
        assert!(answers(yaml), "{yaml}");
    }
}

#[test]
fn whatever_leaves_a_doubt_is_left_to_the_full_parser() {
    let long_key = format!("{}: x\n", "k".repeat(1_100));
    let many_keys: String = (0..1_000).map(|at| format!("k{at}: x\n")).collect();
    for yaml in [
        "",
        "# comment\n",
        &long_key,
        &many_keys,
        "a: \u{FFFE}\n",
        "a: b: c\n",
        "a: b #c\n",
        "a #b: c\n",
        "a b: c\n",
        "a: [b{c]\n",
        "a: [b] c]\n",
        "a: |\n",
        "a: |\n  b\n\n  # c\n",
        "a: |\nb: c\n",
        "a: >-\n\n",
        "a:\n  b: c\n  b: d\n",
        "a:\n- b\n\n- c\n",
        "a:\n\n  - b\n",
        "a:\n  # c\n  b: d\n",
        "a: b\n c\n",
        "a: b\n\n c\n",
        "a: \"b\\n\"\n",
        "a: 'it''s'\n",
        "a: b\na: c\n",
        "a: &x b\n",
        "a: |\n  b\n\n  c\n",
        "a: |\n  b\n   c\n",
        "a: |+\n  b\n",
        "a:\n  - b: c\n",
        "a:\n  - - b\n",
        "a:\n  -\n",
        "a:\n  - b\n  c\n",
        "a:\n  b:\n    c: d\n",
        "a: {b: c}\n",
        "a: [b, [c]]\n",
        "a: [b, c,]\n",
        "a: [\u{A0}]\n",
        "a:\tb\n",
        "a: b\r\n",
        "a: b\u{2028}c\n",
        "a: \u{FEFF}\n",
        "- a\n",
        " a: b\n",
    ] {
        assert!(!answers(yaml), "{yaml:?}");
    }
}

#[test]
fn it_agrees_with_the_full_parser_on_every_skill_of_the_corpus() {
    let (mut fast, mut all) = (0, 0);
    for (path, bytes) in &corpus::files() {
        let Ok((yaml, _)) = split_whole(bytes, &Limits::default()) else { continue };
        let Ok(yaml) = std::str::from_utf8(&bytes[yaml]) else { continue };
        all += 1;
        if let Some(fields) = parse(yaml) {
            fast += 1;
            assert_eq!(Ok(fields), full::parse(yaml, &Limits::default()), "{path}");
        }
    }
    println!("the fast path answers {fast} of {all}");
    assert!(fast * 10 >= all * 7, "a fast path for {fast} of {all} is not worth having");
}

/// What means something to YAML, or looks as if it might, with `§` between.
const FRAGMENTS: &str = "a§b§key§word§1.0§null§true§~§<<§=§ §  §:§: § :§::§#§ #§# §-§- §--§---§...§?§? \
    §|§>§>-§|+§|2§'§''§\"§\\§\\n§[§]§{§}§,§, §&§&a§*§*a§!§!!str§%§@§`§(§)§/§$§_§+§.§;§<§é§漢字§🦀§\u{A0}\
    §\u{3000}§\u{E000}§\u{FFFD}§\u{FFFE}§\u{FFFF}§\u{10FFFF}§\u{200B}§\u{2028}§\u{2029}§\u{85}§\u{9F}\
    §\u{FEFF}§\u{7F}§\t§\r§\u{1}§\0";

fn fragment() -> impl Strategy<Value = &'static str> {
    select(FRAGMENTS.split('§').collect::<Vec<_>>())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-z .,/()-]{0,12}",
        2 => prop::collection::vec(fragment(), 0..5).prop_map(|parts| parts.concat()),
        1 => "[a-z 漢é]{0,6}".prop_map(|text| format!("\"{text}\"")),
        1 => "[a-z 漢é]{0,6}".prop_map(|text| format!("'{text}'")),
        1 => prop::collection::vec("[a-z'\" ]{0,4}", 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        1 => prop::collection::vec("[a-z: ]{0,5}", 0..3).prop_map(|items| format!("{{{}}}", items.join(", "))),
        1 => select(&["|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "| # c", "", "~"][..]).prop_map(str::to_owned),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-d]",
        2 => "[a-zA-Z][a-z_-]{0,8}",
        1 => text(),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        6 => (key(), text()).prop_map(|(key, text)| format!("{key}: {text}")),
        2 => key().prop_map(|key| format!("{key}:")),
        3 => text().prop_map(|text| format!("- {text}")),
        1 => (key(), text()).prop_map(|(key, text)| format!("- {key}: {text}")),
        2 => text(),
        1 => text().prop_map(|text| format!("# {text}")),
        1 => Just(String::new()),
    ];
    let indent = prop_oneof![6 => Just(0_usize), 4 => Just(2), 1 => 0_usize..6];
    let end = prop_oneof![20 => Just("\n"), 2 => Just(" \n"), 1 => Just("\r\n"), 1 => Just("")];
    (indent, content, end).prop_map(|(indent, content, end)| " ".repeat(indent) + &content + end)
}

/// An entry as people write it.
fn entry() -> impl Strategy<Value = String> {
    let word = || "[a-z漢][a-z漢 ]{0,8}[a-z]";
    let words = move || prop::collection::vec(word(), 1..4);
    let lines = |mark: &'static str| {
        move |lines: Vec<String>| {
            lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>()
        }
    };
    let block = select(&["|", ">", "|-", ">-", "|+", ">+"][..]);
    prop_oneof![
        3 => (key(), word()).prop_map(|(key, text)| format!("{key}: {text}\n")),
        2 => (key(), block, words().prop_map(lines("  "))).prop_map(|(key, block, text)| format!("{key}: {block}\n{text}")),
        2 => (key(), words().prop_map(lines("  - "))).prop_map(|(key, items)| format!("{key}:\n{items}")),
        1 => (key(), words().prop_map(lines("- "))).prop_map(|(key, items)| format!("{key}:\n{items}")),
        2 => (key(), prop::collection::vec((key(), text()), 1..4)).prop_map(|(key, entries)| {
            let entries: String = entries.iter().map(|(key, text)| format!("  {key}: {text}\n")).collect();
            format!("{key}:\n{entries}")
        }),
        1 => Just("\n".to_owned()),
        1 => Just("# comment\n".to_owned()),
    ]
}

/// Text that looks like a frontmatter, with a slip of the pen here and there.
fn frontmatter() -> impl Strategy<Value = String> {
    let part = prop_oneof![3 => entry(), 2 => line()];
    let slip = prop::option::weighted(0.5, (any::<prop::sample::Index>(), 0_usize..3, fragment()));
    (prop::collection::vec(part, 0..6), slip).prop_map(|(parts, slip)| {
        let mut text: Vec<char> = parts.concat().chars().collect();
        if let (Some((place, gone, put)), false) = (slip, text.is_empty()) {
            let start = place.index(text.len());
            let end = (start + gone).min(text.len());
            text.splice(start..end, put.chars());
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2_000)))]

    #[test]
    fn it_agrees_with_the_full_parser_or_gives_up(yaml in frontmatter()) {
        if let Some(fields) = parse(&yaml) {
            prop_assert_eq!(Ok(fields), full::parse(&yaml, &Limits::default()), "{:?}", yaml);
        }
    }
}

use proptest::prelude::*;

use super::Pattern;

fn check(pattern: &str, matching: &[&str], other: &[&str]) {
    let compiled = Pattern::new(pattern);
    for text in matching {
        assert!(compiled.matches(text), "`{pattern}` should match `{text}`");
    }
    for text in other {
        assert!(!compiled.matches(text), "`{pattern}` should not match `{text}`");
    }
}

#[test]
fn a_pattern_without_wildcards_matches_itself_only() {
    check("read_file", &["read_file"], &["", "read_fil", "read_files", "Read_file"]);
    check("", &[""], &["a"]);
}

#[test]
fn a_star_matches_any_text_with_slashes() {
    check("*", &["", "a", "a/b/c"], &[]);
    check(
        "pdf-*/scripts/*.py",
        &["pdf-x/scripts/a.py", "pdf-/scripts/deep/er.py"],
        &["pdf-x/scripts/a.sh"],
    );
    check("a*a", &["aa", "aba"], &["a"]);
    check("*aab", &["aaab", "aab"], &["aaba"]);
}

#[test]
fn a_question_mark_is_one_character_not_one_byte() {
    check("?", &["a", "é", "🦀"], &["", "ab"]);
    check("a?c*", &["abc", "aéc/d"], &["ac", "abd"]);
    check("*?é", &["aé", "🦀é"], &["é"]);
    check("*a?c*", &["abc", "xxabdabcyy"], &["ac", "abd"]);
}

#[test]
fn a_backslash_takes_the_next_character_literally() {
    check(r"a\*", &["a*"], &["ab", "a"]);
    check(r"\?\\", &[r"?\"], &["a\\"]);
    check(r"end\", &[r"end\"], &["end"]);
}

#[test]
fn a_hostile_pattern_takes_no_time() {
    let pattern = Pattern::new("*a".repeat(2_000) + "b");
    assert!(!pattern.matches(&"a".repeat(20_000)));
    let gapped = Pattern::new(format!("*{}b*", "a?".repeat(200)));
    assert!(!gapped.matches(&"a".repeat(5_000)));
}

/// The definition, exponential but obvious.
fn naive(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skipped| naive(rest, &text[skipped..])),
        ['?', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
        ['\\', literal, rest @ ..] | [literal, rest @ ..] => {
            text.first() == Some(literal) && naive(rest, &text[1..])
        }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_the_definition(pattern in r"[ab/é*?\\]{0,8}", text in r"[ab/é*\\]{0,8}") {
        let (pattern_characters, text_characters): (Vec<char>, Vec<char>) =
            (pattern.chars().collect(), text.chars().collect());
        prop_assert_eq!(
            Pattern::new(&*pattern).matches(&text),
            naive(&pattern_characters, &text_characters)
        );
    }

    #[test]
    fn a_literal_matches_its_text_and_nothing_else(text in r"[ab*?\\]{0,6}", other in r"[ab*?\\]{0,6}") {
        let literal = Pattern::literal(&text);
        prop_assert!(literal.matches(&text));
        prop_assert_eq!(literal.matches(&other), text == other);
    }
}

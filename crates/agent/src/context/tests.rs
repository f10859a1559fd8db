use crate::observation::Picture;

use super::{Context, LEAST, Message};

/// Characters of the rules and the request, so that what is observed decides.
const BEGINNING: usize = 1_000;

/// A conversation in which files of so many characters were read, one after the other.
fn reading(files: &[usize]) -> Context {
    let mut context = Context::new("run", "r".repeat(BEGINNING), "Read.");
    for (number, chars) in files.iter().enumerate() {
        let text = format!("file {number} {}end", "x".repeat(chars - 10));
        context.observed("read_file", &text, format!("[shortened: {number}]"));
    }
    context
}

/// What is left of each file after a compaction: all of it, a part, or where it is kept.
fn left(context: &Context) -> Vec<&'static str> {
    let observations = &context.messages[1..];
    let left = |(number, message): (usize, &Message)| {
        let begins = message.text.contains(&format!("file {number} "));
        let ends = message.text.contains("end\n");
        let is_short = message.text.contains(&format!("[shortened: {number}]"));
        match (begins, ends, is_short) {
            (true, true, false) => "whole",
            (true, false, true) => "cut",
            (false, false, true) => "short",
            _ => panic!("{}", message.text),
        }
    };
    observations.iter().enumerate().map(left).collect()
}

/// Compacts what was read; each file as it is left, and how many were shortened.
fn check(files: &[usize], limit: usize, expected: &[&str]) {
    let mut context = reading(files);
    let shortened = context.compact(limit);
    assert_eq!(left(&context), expected, "{files:?} within {limit}");
    assert_eq!(shortened, expected.iter().filter(|left| **left != "whole").count());
    let counted = |message: &Message| message.text.chars().count();
    let chars = BEGINNING + context.messages.iter().map(counted).sum::<usize>();
    assert_eq!(context.chars(), chars, "{files:?} within {limit}");
    assert!(chars <= limit, "{chars} within {limit}");
}

#[test]
fn nothing_is_shortened_before_three_quarters_are_taken() {
    check(&[3_000, 3_000], 10_000, &["whole", "whole"]);
}

#[test]
fn the_oldest_are_shortened_until_half_is_free() {
    check(&[4_000, 2_000, 500, 500], 10_000, &["short", "whole", "whole", "whole"]);
    check(&[3_000, 3_000, 3_000, 500], 10_000, &["short", "short", "whole", "whole"]);
}

#[test]
fn the_newest_stays_whole_as_long_as_it_fits() {
    // With it alone more than half is taken, and more than three quarters.
    check(&[3_000, 6_000], 10_000, &["short", "whole"]);
    check(&[3_000, 8_000], 10_000, &["short", "whole"]);
    check(&[8_000], 10_000, &["whole"]);
}

#[test]
fn the_newest_is_cut_where_it_does_not_fit() {
    check(&[12_000], 10_000, &["cut"]);
    check(&[3_000, 12_000], 10_000, &["short", "cut"]);
    let mut context = reading(&[3_000, 12_000]);
    context.compact(10_000);
    assert_eq!(context.chars(), 10_000, "as much is shown as there is room for");
    let newest = &context.messages[2].text;
    let (first, last) = (newest.lines().next().unwrap(), newest.lines().next_back().unwrap());
    assert!(first.starts_with("=== read_file [mark-") && last.starts_with("=== end [mark-"));
}

#[test]
fn the_newest_is_shortened_where_hardly_anything_of_it_fits() {
    // The rules, the request and the marks take almost everything.
    let without = reading(&[LEAST]).chars() - LEAST;
    check(&[3_000], without + LEAST / 2, &["short"]);
}

#[test]
fn what_was_shortened_is_not_shortened_again() {
    let mut context = reading(&[3_000, 12_000]);
    assert_eq!(context.compact(10_000), 2);
    let before = context.messages.clone();
    assert_eq!(context.compact(10_000), 0);
    assert_eq!(context.messages, before);
}

#[test]
fn a_compaction_changes_the_hash_of_the_prompt() {
    let mut context = reading(&[3_000, 6_000]);
    let before = context.prompt(String::new(), 1).sha256;
    context.compact(10_000);
    let mut again = reading(&[3_000, 6_000]);
    again.compact(10_000);
    assert_ne!(context.prompt(String::new(), 1).sha256, before);
    assert_eq!(context.prompt(String::new(), 1).sha256, again.prompt(String::new(), 1).sha256);
}

#[test]
fn a_picture_goes_when_its_text_is_shortened() {
    let mut context = Context::new("run", String::new(), "look");
    let picture = Picture { media_type: "image/png".to_owned(), base64: "iVBO".into() };
    for _ in 0..2 {
        context.observed("Observation", &"x".repeat(1_000), "short".to_owned());
        context.pictured(Some(picture.clone()));
    }
    assert_eq!(context.compact(1_500), 1);
    let shown = |context: &Context| {
        let prompt = context.prompt(String::new(), 1);
        prompt.messages.iter().filter(|message| message.picture.is_some()).count()
    };
    assert_eq!(shown(&context), 1);
}

//! Replies in, the one object out: whole, and as it is shown while it arrives.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use super::*;

/// What a stream shows: the text at `$.say`, and the whole object if it was completed.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    say: String,
    object: Option<Value>,
}

fn shown<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Shown {
    let mut shown = Shown::default();
    let mut parser =
        ReplyParser::new(&[("$", Mode::Value, ()), ("$.say", Mode::Deltas, ())]).unwrap();
    for piece in pieces {
        parser.push(piece, &mut |event| match event {
            Event::Value((), json) => shown.object = Some(serde_json::from_slice(json).unwrap()),
            Event::Delta((), text) => shown.say.push_str(text),
            Event::DeltasEnd(()) => {}
        });
    }
    shown
}

/// What a stream shows, which must be the same for every cut.
fn shown_split(reply: &str) -> Shown {
    let whole = shown([reply.as_bytes()]);
    for cut in 0..=reply.len() {
        let (left, right) = reply.as_bytes().split_at(cut);
        assert_eq!(shown([left, right]), whole, "cut at {cut}: {reply}");
    }
    assert_eq!(shown(reply.as_bytes().chunks(1)), whole, "byte by byte: {reply}");
    whole
}

/// A reply, the object found in it or the error, and whether a stream shows its text early.
fn check(reply: &str, expected: &str, early: &str) {
    let found = outermost_object(reply).map_or_else(|error| error.to_string(), str::to_owned);
    assert_eq!(found, expected, "{reply}");
    assert_eq!(shown_split(reply).say, early, "shown early of {reply}");
}

#[test]
fn the_object_is_found_in_noise() {
    let object = r#"{"say": "hi"}"#;
    check(object, object, "hi");
    check(&format!("\n  {object}\n"), object, "hi");
    check(&format!("```json\n{object}\n```"), object, "hi");
    check(&format!("```\n{object}\n```\n"), object, "hi");
    check(&format!("``` JSON\r\n  {object}\r\n```"), object, "hi");
    check(&format!("```json {object}```"), object, "hi");
    check(&format!("Sure, here it is:\n\n```json\n{object}\n```\nAnything else?"), object, "hi");
    check(&format!("<think>\nI say {{\"say\": \"no\"}}.\n</think>\n\n{object}"), object, "hi");
    check(&format!("<Thinking>a }} or \" is fine</Thinking> {object}"), object, "hi");
    check(&format!("<think>one</think>\n<think>two</think>```json\n{object}"), object, "hi");
}

#[test]
fn after_prose_the_object_is_found_but_not_shown_early() {
    let object = r#"{"say": "hi"}"#;
    check(&format!("Sure: {object} Anything else?"), object, "");
    check(&format!("Sure:\n{object}\n"), object, "");
    check(&format!("`{object}`"), object, "");
    check(&format!("```python\n{object}\n```"), object, "");
    check(&format!("[{object}]"), object, "");
    check(&format!("a }} and a {{ and {{}} and {{x}} and \" before {object}"), object, "");
}

#[test]
fn thinking_without_its_opening_tag_is_discarded() {
    let object = r#"{"say": "hi"}"#;
    check(&format!("I could say {{\"say\": \"no\"}}, but\n</think>\n{object}"), object, "hi");
    check(
        &format!("{{\"an odd quote }}</think>{object}"),
        "the JSON object at byte 0 is never closed",
        "",
    );
    check("a {\"say\": \"no\"} b </think> nothing", "no JSON object in the reply", "");
}

#[test]
fn what_was_shown_early_is_never_replaced() {
    check(
        "{\"say\": \"no\"} </think> {\"say\": \"yes\"}",
        "JSON objects at byte 0 and at byte 23, one is expected",
        "no",
    );
    check("{\"say\": \"no\"} </think>", "{\"say\": \"no\"}", "no");
    check(
        "so\n```json\n{\"say\": \"no\"}\n```\n</think>{\"say\": \"yes\"}",
        "JSON objects at byte 11 and at byte 37, one is expected",
        "no",
    );
}

#[test]
fn braces_quotes_and_tags_in_strings_are_text() {
    let object = r#"{"a": {"b": "} \" { </think> ``` \\"}, "say": "<think>{\"x\": 1}"}"#;
    check(&format!("<think></think>{object}\nDone }}"), object, r#"<think>{"x": 1}"#);
}

#[test]
fn an_object_inside_a_tag_breaks_the_tag() {
    check(
        r#"<thi{"a": 1}nk>{"b": 2}"#,
        "JSON objects at byte 4 and at byte 15, one is expected",
        "",
    );
}

#[test]
fn an_object_may_open_over_lines() {
    let object = "{ \n\t\"say\": \"hi\"}";
    check(object, object, "hi");
    check(&format!("{{\n```json\n{object}"), object, "hi");
}

#[test]
fn without_an_object_there_is_an_error() {
    for reply in [
        "",
        "hello",
        "{}",
        "{x}",
        "[1]",
        "\"{\\\"a\\\": 1}\"",
        "<think>{\"say\": 1}</think>",
        "<think>{\"say\": 1}",
    ] {
        check(reply, "no JSON object in the reply", "");
    }
}

#[test]
fn a_cut_off_object_is_an_error() {
    check(r#"{"say": "hi"#, "the JSON object at byte 0 is never closed", "hi");
    check(r#"ok {"a": {"say": "hi"}"#, "the JSON object at byte 3 is never closed", "");
    check("<think></think>{\"say\": \"\\", "the JSON object at byte 15 is never closed", "");
}

#[test]
fn an_inner_object_of_a_broken_one_is_never_taken_for_it() {
    let reply = r#"{"a": nul, "b": {"say": "no"}}"#;
    check(reply, reply, "");
    check(r#"{"b": {"say": "no"}, "#, "the JSON object at byte 0 is never closed", "");
}

#[test]
fn two_objects_are_an_error() {
    check(r#"{"a": 1}{"b": 2}"#, "JSON objects at byte 0 and at byte 8, one is expected", "");
    check(r#"x {"a": 1} y {"b"#, "JSON objects at byte 2 and at byte 13, one is expected", "");
    check(
        "{\"a\": 1}\n```json\n{\"say\": \"no\"}",
        "JSON objects at byte 0 and at byte 17, one is expected",
        "",
    );
    check(
        "a {\"a\": 1}\n```json\n{\"say\": \"no\"}",
        "JSON objects at byte 2 and at byte 19, one is expected",
        "",
    );
    check(
        r#"{"a":1} {"b":2} {"c":3}"#,
        "JSON objects at byte 0 and at byte 8, one is expected",
        "",
    );
}

#[test]
fn a_hostile_reply_of_ten_megabytes_is_read_once() {
    for part in ["{\"", "{", "{\"a\":", "<think>", "</think>", "{\"a\":1}"] {
        let reply = part.repeat(10_000_000 / part.len());
        assert!(outermost_object(&reply).is_err(), "{part}");
    }
}

/// Replies made of what confuses: tags, fences, braces, quotes, objects, also inside each other.
fn reply() -> impl Strategy<Value = String> {
    let parts = vec![
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "```json\n",
        "```",
        "\n",
        " ",
        "{",
        "}",
        "\"",
        "\\",
        "prose",
        "{\"say\": \"hi\"}",
        "{\"say\": \"one\\n\\u00e9\", \"a\": {\"b\": []}}",
        "{\n\"say\":",
        "\"é}\"",
        "{\"a\": 1}",
        "[",
        ",",
        ":",
    ];
    vec(select(parts), 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_shown_early_is_the_object_or_the_reply_is_refused(reply in reply(), cuts in vec(any::<Index>(), 0..8)) {
        let early = shown_split(&reply);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(reply.len() + 1)).chain([0, reply.len()]).collect();
        cuts.sort_unstable();
        prop_assert_eq!(&shown(cuts.windows(2).map(|pair| &reply.as_bytes()[pair[0]..pair[1]])), &early);
        let found = outermost_object(&reply).ok().and_then(|object| serde_json::from_str::<Value>(object).ok());
        if let (Some(found), true) = (found, early != Shown::default()) {
            prop_assert_eq!(found.get("say").and_then(Value::as_str).unwrap_or_default(), &early.say);
            prop_assert_eq!(Some(found), early.object);
        }
    }

    #[test]
    fn a_reply_that_is_one_object_is_found_and_shown(say in any::<String>(), before in "[ \n]{0,3}", after in "[a-z.\n`}]{0,9}") {
        let object = serde_json::json!({ "say": say }).to_string();
        let reply = format!("{before}{object}{after}");
        prop_assert_eq!(outermost_object(&reply), Ok(object.as_str()));
        prop_assert_eq!(shown_split(&reply).say, say);
    }
}

//! What the parser keeps, seen from inside.

use super::*;

const WATCHES: [(&str, Mode, ()); 2] =
    [("$.content", Mode::Deltas, ()), ("$.list[*].name", Mode::Value, ())];

/// Pushes the opening, then the repeated part many times in small pieces; gives the bytes kept at the end.
fn kept(opening: &str, repeated: &str, times: usize) -> usize {
    let mut parser = Parser::new(&WATCHES).unwrap();
    parser.push(opening.as_bytes(), &mut |_| {}).unwrap();
    for _ in 0..times {
        for piece in repeated.as_bytes().chunks(5) {
            parser.push(piece, &mut |_| {}).unwrap();
        }
    }
    parser.capture.held.capacity()
        + parser.key.capacity()
        + parser.stack.capacity() * size_of::<Container>()
}

fn check(opening: &str, repeated: &str) {
    assert_eq!(kept(opening, repeated, 20), kept(opening, repeated, 20_000), "{opening}{repeated}");
}

#[test]
fn memory_does_not_grow_with_the_document() {
    check(r#"{"content": ""#, r"some \n text, \u00e9 and é ");
    check(r#"{"a key of any length, "#, "on and on ");
    check(r#"{"number": 1"#, "234567890");
    check(r#"{"list": ["#, r#"{"name": "a watched value", "other": [1, {"b": null}]}, "#);
    check(r#"{"list": [{"#, r#""name": {"any": ["watched", "value"]}, "#);
    check(r#"{"ignored": ["#, r#"{"a": [["deep"], true]}, "#);
    check("", " \n");
}

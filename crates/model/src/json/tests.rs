//! The parser at its boundary: documents in, what was seen at the watched paths out.

mod documents;
mod properties;

use super::Mode::{Deltas, Value};
use super::*;

/// What a caller saw, deltas joined; the number is the watch's place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Value(usize, String),
    Text(usize, String),
    Unfinished(usize, String),
}

type Outcome = (Vec<Seen>, Result<(), JsonError>);

fn run<'a>(watches: &[(&str, Mode)], pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let watches: Vec<_> =
        watches.iter().enumerate().map(|(tag, &(path, mode))| (path, mode, tag)).collect();
    let (mut seen, mut open) = (Vec::new(), vec![None; watches.len()]);
    let mut on_event = |event: Event<'_, usize>| match event {
        Event::Value(tag, json) => {
            seen.push(Seen::Value(tag, String::from_utf8(json.to_vec()).unwrap()))
        }
        Event::Delta(tag, text) => {
            assert!(!text.is_empty());
            open[tag].get_or_insert_with(String::new).push_str(text);
        }
        Event::DeltasEnd(tag) => seen.push(Seen::Text(tag, open[tag].take().unwrap_or_default())),
    };
    let mut parser = Parser::new(&watches).unwrap();
    let pushed = pieces.into_iter().try_for_each(|piece| parser.push(piece, &mut on_event));
    let result = pushed.and_then(|()| parser.finish(&mut on_event));
    let unfinished =
        open.into_iter().enumerate().filter_map(|(tag, text)| Some(Seen::Unfinished(tag, text?)));
    seen.extend(unfinished);
    (seen, result)
}

/// The outcome, which must be the same for the whole text, for every cut in two, and byte by byte.
fn run_split(watches: &[(&str, Mode)], text: &[u8]) -> Outcome {
    let whole = run(watches, [text]);
    for cut in 0..=text.len() {
        let (left, right) = text.split_at(cut);
        assert_eq!(run(watches, [left, right]), whole, "cut at {cut}: {}", text.escape_ascii());
    }
    assert_eq!(run(watches, text.chunks(1)), whole, "byte by byte: {}", text.escape_ascii());
    whole
}

fn check(watches: &[(&str, Mode)], text: &str, expected: &[&str]) {
    let (seen, result) = run_split(watches, text.as_bytes());
    let mut lines: Vec<_> = seen
        .into_iter()
        .map(|seen| match seen {
            Seen::Value(tag, json) => format!("{tag} = {json}"),
            Seen::Text(tag, text) => format!("{tag} ~ {text}"),
            Seen::Unfinished(tag, text) => format!("{tag} ~ {text}…"),
        })
        .collect();
    lines.extend(result.err().map(|error| error.to_string()));
    assert_eq!(lines, expected, "{text}");
}

/// The verdict on a whole text, which must be that of `serde_json`.
fn check_verdict(text: impl AsRef<[u8]>, expected: &str) {
    let text = text.as_ref();
    let (_, result) = run_split(&[("$", Value), ("$", Deltas), ("$.*", Deltas)], text);
    let shown = result.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
    assert_eq!(shown, expected, "{}", text.escape_ascii());
    let reference = serde_json::from_slice::<serde_json::Value>(text);
    assert_eq!(result.is_ok(), reference.is_ok(), "{}: {reference:?}", text.escape_ascii());
}

#[test]
fn the_parts_of_an_action_are_seen_as_they_complete() {
    let watches = [
        ("$.action.type", Value),
        ("$.action.payload.skills[*].name", Value),
        ("$.action.payload.content", Deltas),
    ];
    check(
        &watches,
        r#"{"action": {"type": "select_skills", "payload": {"skills": [{"name": "pdf"}, {"source": "user", "name": "xls"}], "reason": "…"}}}"#,
        &[r#"0 = "select_skills""#, r#"1 = "pdf""#, r#"1 = "xls""#],
    );
    check(
        &watches,
        r#"{"action":{"type":"final_answer","payload":{"content":"caf\u00e9 \ud83d\ude00 ✓\n"}},"plan_update":null}"#,
        &[r#"0 = "final_answer""#, "2 ~ café 😀 ✓\n"],
    );
}

#[test]
fn a_path_reaches_exactly_its_place() {
    let text = r#"{"a": {"b": 1, "type": "x"}, "b": [10, [11, {"a": 12}], "s"], "": 0}"#;
    check(&[("$", Value)], text, &[&format!("0 = {text}")]);
    check(
        &[("$.a.b", Value), ("$.b", Value)],
        text,
        &["0 = 1", r#"1 = [10, [11, {"a": 12}], "s"]"#],
    );
    check(&[("$.a.*", Value)], text, &["0 = 1", r#"0 = "x""#]);
    check(
        &[("$.b[0]", Value), ("$.b[1][1].a", Value), ("$.b[*]", Deltas)],
        text,
        &["0 = 10", "1 = 12", "2 ~ s"],
    );
    check(&[("$.*.*", Deltas)], text, &["0 ~ x", "0 ~ s"]);
    check(&[("$.c", Value), ("$.a[0]", Value), ("$.b.a", Value), ("$.a.b.c", Value)], text, &[]);
}

#[test]
fn watches_may_overlap() {
    check(
        &[("$.a", Value), ("$.a.b", Value), ("$.a.*", Deltas), ("$.a.b", Deltas), ("$.*", Value)],
        r#"{"a": {"b": "x\ty"}}"#,
        &["2 ~ x\ty", "3 ~ x\ty", r#"1 = "x\ty""#, r#"0 = {"b": "x\ty"}"#, r#"4 = {"b": "x\ty"}"#],
    );
}

#[test]
fn a_repeated_key_is_seen_each_time() {
    check(
        &[("$.a", Value), ("$.a", Deltas)],
        r#"{"a":"x","a":"y"}"#,
        &["1 ~ x", r#"0 = "x""#, "1 ~ y", r#"0 = "y""#],
    );
}

#[test]
fn only_strings_have_deltas() {
    check(&[("$[*]", Deltas)], r#"[1, "", null, {"a": "b"}, ["c"], "d"]"#, &["0 ~ ", "0 ~ d"]);
}

#[test]
fn a_key_is_compared_decoded_and_whole() {
    check(&[("$.é", Value)], r#"{"\u00e9": 1, "e": 2, "éé": 3, "é": 4}"#, &["0 = 1", "0 = 4"]);
    check(&[("$.name", Value)], r#"{"names": 1, "nam": 2, "name of a longer kind": 3}"#, &[]);
}

#[test]
fn a_number_at_the_root_ends_with_the_text() {
    check(&[("$", Value)], "-12.5e+3", &["0 = -12.5e+3"]);
    check(&[("$", Value)], "0 ", &["0 = 0"]);
}

#[test]
fn what_came_before_an_error_was_seen() {
    check(
        &[("$.a", Deltas), ("$.b", Value)],
        "{\"b\": [1], \"a\": \"so far\n",
        &["1 = [1]", "0 ~ so far…", "control character in a string at byte 23"],
    );
    check(
        &[("$", Deltas)],
        "\"half é",
        &["0 ~ half é…", "text ends before the value is complete at byte 8"],
    );
}

#[test]
fn every_later_call_gives_the_first_error_again() {
    let mut parser = Parser::new(&[("$", Value, ())]).unwrap();
    let error = parser.push(b"[1 2]", &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "expected `,` or `]`, found `2` at byte 3");
    assert_eq!(parser.push(b"]", &mut |_| {}), Err(error));
    assert_eq!(parser.finish(&mut |_| {}), Err(error));
}

#[test]
fn more_than_64_paths_are_refused() {
    let error = Parser::new(&[("$", Value, ()); 65]).err();
    assert_eq!(error, Some(PathError::TooMany { count: 65 }));
    assert!(Parser::new(&[("$", Value, ()); 64]).is_ok());
}

#[test]
fn structure_is_strict() {
    for text in [
        "null",
        " [ ] ",
        "{}",
        "[[],{}]",
        "\t{\"a\" : [1,\r\n2]}",
        "{\"a\":1,\"a\":2}",
        "\"\"",
        "false",
    ] {
        check_verdict(text, "ok");
    }
    check_verdict("", "text ends before the value is complete at byte 0");
    check_verdict("[1,", "text ends before the value is complete at byte 3");
    check_verdict("[1", "text ends before the value is complete at byte 2");
    check_verdict("{\"a\":1", "text ends before the value is complete at byte 6");
    check_verdict("tru", "text ends before the value is complete at byte 3");
    check_verdict("trux", "expected `true`, `false` or `null`, found `x` at byte 3");
    check_verdict("nulll", "expected nothing after the value, found `l` at byte 4");
    check_verdict("{} {}", "expected nothing after the value, found `{` at byte 3");
    check_verdict("[1,]", "expected a value, found `]` at byte 3");
    check_verdict("[,]", "expected a value, found `,` at byte 1");
    check_verdict("[1}", "expected `,` or `]`, found `}` at byte 2");
    check_verdict("{\"a\":1]", "expected `,` or `}`, found `]` at byte 6");
    check_verdict("{\"a\":1,}", "expected a key in double quotes, found `}` at byte 7");
    check_verdict("{a:1}", "expected a key in double quotes or `}`, found `a` at byte 1");
    check_verdict("{\"a\" 1}", "expected `:`, found `1` at byte 5");
    check_verdict("{\"a\"}", "expected `:`, found `}` at byte 4");
    check_verdict("'a'", "expected a value, found `\\'` at byte 0");
    check_verdict("\u{feff}1", "expected a value, found `\\xef` at byte 0");
    check_verdict("[1]\u{a0}", "expected nothing after the value, found `\\xc2` at byte 3");
    check_verdict("// no\n1", "expected a value, found `/` at byte 0");
}

#[test]
fn strings_are_strict() {
    for text in [
        r#""\"\\\/\b\f\n\r\t\u0000\uFFFF""#,
        r#""\ud83d\ude00 \uD800\uDC00 \udbff\udfff""#,
        "\"\u{7f}\u{10ffff}\u{80}\"",
        r#"{"\ud800\udc00":0}"#,
    ] {
        check_verdict(text, "ok");
    }
    let escape = "expected an escape such as `\\n`, `\\\"` or `\\u000a`";
    check_verdict(r#""\x""#, &format!("{escape}, found `x` at byte 2"));
    check_verdict(r#""\U0041""#, &format!("{escape}, found `U` at byte 2"));
    check_verdict(r#""\u00g0""#, "expected a hexadecimal digit, found `g` at byte 5");
    check_verdict(r#""\u12""#, "expected a hexadecimal digit, found `\\\"` at byte 5");
    check_verdict(r#""\ud800""#, "surrogate escape without its other half at byte 7");
    check_verdict(r#""\ud800x""#, "surrogate escape without its other half at byte 7");
    check_verdict(r#""\ud800\n""#, "surrogate escape without its other half at byte 8");
    check_verdict(r#""\ud800\ud800""#, "surrogate escape without its other half at byte 12");
    check_verdict(r#""\ud800\u0041""#, "surrogate escape without its other half at byte 12");
    check_verdict(r#""\udbff""#, "surrogate escape without its other half at byte 7");
    check_verdict(r#""\udc00""#, "surrogate escape without its other half at byte 6");
    check_verdict("\"a\tb\"", "control character in a string at byte 2");
    check_verdict("{\"a\nb\":1}", "control character in a string at byte 3");
    check_verdict("\"\0\"", "control character in a string at byte 1");
    check_verdict("\"abc", "text ends before the value is complete at byte 4");
}

#[test]
fn every_byte_is_judged_alike_at_every_position() {
    for byte in 0..=u8::MAX {
        for position in 1..20 {
            let mut text = *b"\"aaaaaaaaaaaaaaaaaaaaaaa\"";
            text[position] = byte;
            let reference = serde_json::from_slice::<String>(&text);
            let (seen, result) = run(&[("$", Deltas)], [&text[..]]);
            assert_eq!(result.is_ok(), reference.is_ok(), "{byte} at {position}");
            if let Ok(said) = reference {
                assert_eq!(seen, [Seen::Text(0, said)], "{byte} at {position}");
            }
        }
    }
}

#[test]
fn strings_are_utf_8() {
    let wrong = |bytes: &[u8], offset: usize| {
        let text = [b"\"ab", bytes, b"\""].concat();
        check_verdict(text, &format!("string is not UTF-8 at byte {offset}"));
    };
    wrong(b"\xff", 3);
    wrong(b"\x80", 3);
    wrong(b"\xc0\xaf", 3);
    wrong(b"\xe2\x82", 3);
    wrong(b"\xe2\x28\xa1", 3);
    wrong(b"\xed\xa0\x80", 3);
    wrong(b"\xf0\x9f\x98", 3);
    wrong(b"\xf4\x90\x80\x80", 3);
    wrong(b"\xc3\xa9\xe2\\n", 5);
    wrong(b"\xe2\n", 3);
    check_verdict(b"\"\xe2\x82", "text ends before the value is complete at byte 3");
    check_verdict(b"[\xe2\x82\xac]", "expected a value, found `\\xe2` at byte 1");
}

#[test]
fn numbers_follow_the_grammar() {
    for text in [
        "0",
        "-0",
        "10",
        "-1.50",
        "0e0",
        "1E+2",
        "1e-00",
        "[1,2]",
        "123456789012345678901234567890",
    ] {
        check_verdict(text, "ok");
    }
    check_verdict("-", "text ends before the value is complete at byte 1");
    check_verdict("1.", "text ends before the value is complete at byte 2");
    check_verdict("1e+", "text ends before the value is complete at byte 3");
    check_verdict("01", "expected nothing after the value, found `1` at byte 1");
    check_verdict("[-01]", "expected `,` or `]`, found `1` at byte 3");
    check_verdict("-a", "expected a digit, found `a` at byte 1");
    check_verdict("1.e1", "expected a digit, found `e` at byte 2");
    check_verdict("1ex", "expected a digit or sign, found `x` at byte 2");
    check_verdict("1e+-1", "expected a digit, found `-` at byte 3");
    check_verdict("+1", "expected a value, found `+` at byte 0");
    check_verdict(".5", "expected a value, found `.` at byte 0");
    check_verdict("1.2.3", "expected nothing after the value, found `.` at byte 3");
    check_verdict("NaN", "expected a value, found `N` at byte 0");
}

#[test]
fn numbers_stay_in_the_range_of_a_float() {
    let zeros = "0".repeat(400);
    let fine = [
        "1.7976931348623157e308".to_owned(),
        "-17976931348623e295".to_owned(),
        format!("0.{zeros}1e500"),
        format!("1{zeros}e-401"),
        format!("0.{zeros}"),
        "0e99999999999999999999".to_owned(),
        "1e-99999999999999999999".to_owned(),
        "123456789e300".to_owned(),
    ];
    for text in &fine {
        check_verdict(text, "ok");
    }
    let large = [
        "1e309".to_owned(),
        "-1.8e308".to_owned(),
        "17976931348623159000e289".to_owned(),
        format!("1{zeros}"),
        format!("1{zeros}.5"),
        format!("0.{zeros}1e800"),
        "1e99999999999999999999".to_owned(),
        "1234567890e300".to_owned(),
    ];
    for text in &large {
        check_verdict(text, "number is out of range at byte 0");
    }
}

#[test]
fn nesting_ends_where_serde_json_ends_it() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    check_verdict(nested(MAX_DEPTH), "ok");
    check_verdict(nested(MAX_DEPTH + 1), "more than 127 levels of nesting at byte 127");
    let objects = |levels: usize| format!("{}0{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    check_verdict(objects(MAX_DEPTH), "ok");
    check_verdict(objects(MAX_DEPTH + 1), "more than 127 levels of nesting at byte 635");
}

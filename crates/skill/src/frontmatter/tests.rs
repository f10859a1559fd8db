use super::*;
use crate::value::Value;

/// The fields as JSON in their order.
pub(super) fn shown(fields: &Map) -> String {
    let value = |value: &Value| match value {
        Value::Map(map) => shown(map),
        other => other.to_json().to_string(),
    };
    let entries = fields.0.iter().map(|(key, field)| format!("{key:?}:{}", value(field)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

/// What becomes of the text between the `---` lines: its fields as JSON, or the refusal's code.
fn outcome(yaml: &str) -> String {
    match parse(yaml, &Limits::default()) {
        Ok(Parsed { fields, repaired: false }) => shown(&fields),
        Ok(Parsed { fields, repaired: true }) => format!("repaired {}", shown(&fields)),
        Err(error) => error.code().to_owned(),
    }
}

#[track_caller]
fn check(yaml: &str, expected: &str) {
    assert_eq!(outcome(yaml), expected, "{yaml}");
}

#[track_caller]
fn check_message(yaml: &str, expected: &str) {
    let error = parse(yaml, &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), expected, "{yaml}");
}

#[test]
fn fields_keep_their_order_text_and_type() {
    check("name: a\ndescription: b c\n", r#"{"name":"a","description":"b c"}"#);
    check("version: 1.0\ncount: 3\n", r#"{"version":1.0,"count":3}"#);
    check("version: 1.10\nquoted: \"1\"\n", r#"{"version":"1.10","quoted":"1"}"#);
    check("a: true\nb: 'true'\nc: ~\nd:\n", r#"{"a":true,"b":"true","c":null,"d":null}"#);
    check("a: >\n  one\n  two\nb: |-\n  one\n  two\n", r#"{"a":"one two\n","b":"one\ntwo"}"#);
    check("a:\n  b:\n    - c: [1, {d: e}]\n", r#"{"a":{"b":[{"c":[1,{"d":"e"}]}]}}"#);
    check("\"quoted key\": x\nкириллица: да\n", r#"{"quoted key":"x","кириллица":"да"}"#);
    check("# a comment\nname: a # another\n", r#"{"name":"a"}"#);
    check("name: a\r\nlist:\r\n  - b\r\n", r#"{"name":"a","list":["b"]}"#);
}

#[test]
fn what_lets_one_text_mean_another_is_refused() {
    check("a: &x 1\n", "yaml-anchor");
    check("a: &x [1]\n", "yaml-anchor");
    check("a: &x\n  b: 1\n", "yaml-anchor");
    check("&x a: 1\n", "yaml-anchor");
    check("a: &x 1\nb: *x\n", "yaml-anchor");
    check("a: *x\n", "yaml-alias");
    check("a: [b, *x]\n", "yaml-alias");
    check("*x : 1\n", "yaml-alias");
    check("a: !!str 1\n", "yaml-tag");
    check("a: !custom 1\n", "yaml-tag");
    check("a: ! 1\n", "yaml-tag");
    check("a: !<tag:example.com,2000:x> 1\n", "yaml-tag");
    check("a: !!python/object/apply:os.system [ls]\n", "yaml-tag");
    check("!!map\na: 1\n", "yaml-tag");
    check("<<: {a: 1}\n", "yaml-merge-key");
    check("a:\n  <<: {b: 1}\n", "yaml-merge-key");
    check("\"<<\": {a: 1}\n", "yaml-merge-key");
    check("%YAML 1.2\n--- {a: 1}\n", "invalid-yaml");
    check("%TAG ! tag:x,2000:\n--- {a: 1}\n", "invalid-yaml");
}

#[test]
fn a_key_that_occurs_twice_is_refused_at_any_level() {
    check("a: 1\na: 2\n", "duplicate-key");
    check("a: 1\n\"a\": 2\n", "duplicate-key");
    check("a: 1\n? a\n: 2\n", "duplicate-key");
    check("a:\n  b: 1\n  b: 2\n", "duplicate-key");
    check("a: {b: 1, b: 2}\n", "duplicate-key");
    check("a: [{b: 1, b: 2}]\n", "duplicate-key");
    check("a: [{b: 1}, {b: 2}]\nb: 1\n", r#"{"a":[{"b":1},{"b":2}],"b":1}"#);
}

#[test]
fn only_one_mapping_is_accepted() {
    check("a: 1\n--- {b: 2}\n", "multiple-documents");
    check("--- {a: 1}\n--- {b: 2}\n", "multiple-documents");
    check("a: 1\n...\n# end\nb: 2\n", "multiple-documents");
    check("--- ~\n--- {b: 2}\n", "multiple-documents");
    check("--- {a: 1}\n", r#"{"a":1}"#);
    check("", "not-a-mapping");
    check("\n\n", "not-a-mapping");
    check("# only a comment\n", "not-a-mapping");
    check("just text\n", "not-a-mapping");
    check("- a\n- b\n", "not-a-mapping");
    check("[a]\n", "not-a-mapping");
}

#[test]
fn nesting_is_bounded() {
    let lists = |depth: usize| format!("a: {}{}\n", "[".repeat(depth - 1), "]".repeat(depth - 1));
    check(&lists(8), r#"{"a":[[[[[[[]]]]]]]}"#);
    check(&lists(9), "too-deep");
    let maps = |depth: usize| {
        let lines = (0..depth).map(|level| format!("{}a:\n", " ".repeat(level)));
        lines.collect::<String>()
    };
    check(&maps(8), r#"{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":null}}}}}}}}"#);
    check(&maps(9), "too-deep");
}

#[test]
fn a_tighter_depth_holds_on_the_fast_path_too() {
    let deep = |yaml: &str, depth| parse(yaml, &Limits { depth, ..Limits::default() }).is_err();
    for (yaml, depth) in [("a: b\n", 1), ("a:\n  - b\n", 2), ("a:\n  b: [c]\n", 3)] {
        assert!(!deep(yaml, depth), "{yaml} at {depth}");
        assert!(deep(yaml, depth - 1), "{yaml} at {}", depth - 1);
    }
}

#[test]
fn text_that_is_not_yaml_is_refused() {
    check("a: [b\n", "invalid-yaml");
    check("a: \"b\n", "invalid-yaml");
    check("a: 'b' c\n", "invalid-yaml");
    check("a:\n\tb: c\n", "invalid-yaml");
    check("a: b\nnot an entry\n", "invalid-yaml");
    check("a: b\n  c: d\n", "invalid-yaml");
    check("? [a]\n: b\n", "invalid-yaml");
    check("? {a: b}\n: c\n", "invalid-yaml");
    check(&format!("{}: x\n", "k".repeat(1_100)), "invalid-yaml");
}

#[test]
fn control_characters_are_kept_as_they_were_written() {
    let yaml = "a: b\0c\nd\u{7}: [\u{1B}e, {f: \"\u{9B}\"}]\n";
    let fields = parse(yaml, &Limits::default()).unwrap().fields;
    let json = serde_json::json!({"a": "b\0c", "d\u{7}": ["\u{1B}e", {"f": "\u{9B}"}]});
    assert_eq!(fields.to_json(), json);
}

#[test]
fn messages_name_the_place_counted_from_the_top_of_the_file() {
    check_message("a: b\nc: &x d\n", "a YAML anchor (`&`) at line 3");
    check_message("a: 1\nb: 2\na: 3\n", "the key `a` occurs twice, the second time at line 4");
    check_message("a:\n  - [[[[[[[]]]]]]]\n", "values are nested deeper than 8 levels at line 3");
    check_message("a: b\nc: [d]]\n", "invalid YAML at line 3, column 7: misplaced bracket");
}

#[test]
fn a_hostile_key_does_not_reach_a_terminal_raw() {
    let key = "\u{1b}]0;x\u{7}\u{202e}";
    let yaml = "\"\\e]0;x\\a\u{202e}\": 1\n\"\\e]0;x\\a\u{202e}\": 2\n";
    let error = parse(yaml, &Limits::default()).unwrap_err();
    assert_eq!(error, FrontmatterError::DuplicateKey { key: key.to_owned(), line: 3 });
    assert_eq!(
        error.to_string(),
        r"the key `\u{1b}]0;x\u{7}\u{202e}` occurs twice, the second time at line 3"
    );
}

#[test]
fn every_refusal_has_a_code_and_a_hint() {
    let forbidden = |what| FrontmatterError::Forbidden { what, line: 2 };
    let errors = [
        FrontmatterError::Absent,
        FrontmatterError::Unclosed,
        FrontmatterError::NotUtf8,
        FrontmatterError::TooManyLines { limit: 200 },
        FrontmatterError::LineTooLong { line: 2, limit: 2_000 },
        FrontmatterError::InvalidYaml { line: 2, column: 1, reason: "x".to_owned() },
        FrontmatterError::NotAMapping,
        forbidden(Forbidden::Anchor),
        forbidden(Forbidden::Alias),
        forbidden(Forbidden::Tag),
        forbidden(Forbidden::MergeKey),
        forbidden(Forbidden::SecondDocument),
        FrontmatterError::DuplicateKey { key: "a".to_owned(), line: 2 },
        FrontmatterError::TooDeep { limit: 8, line: 2 },
        FrontmatterError::AngleBrackets { field: "a".to_owned() },
        FrontmatterError::NoName,
        FrontmatterError::NoDescription,
        FrontmatterError::NotText { field: "a".to_owned() },
        FrontmatterError::HiddenInName,
    ];
    let codes: std::collections::BTreeSet<&str> = errors.iter().map(|error| error.code()).collect();
    assert_eq!(codes.len(), errors.len(), "codes differ from each other");
    let hints: std::collections::BTreeSet<_> = errors.iter().map(|error| error.hint()).collect();
    assert_eq!(hints.len(), errors.len() - 3, "what is forbidden shares one hint");
}

/// Fails instead of hanging; even a slow machine needs a small part of this for linear work.
fn within_a_minute(yaml: String) -> String {
    let (sender, receiver) = std::sync::mpsc::channel();
    let start: String = yaml.chars().take(30).collect();
    std::thread::spawn(move || sender.send(outcome(&yaml).chars().take(40).collect()));
    let answer = receiver.recv_timeout(std::time::Duration::from_secs(60));
    answer.unwrap_or_else(|error| panic!("`{start}…`: {error}"))
}

#[test]
fn a_yaml_bomb_is_answered_at_once() {
    const SIZE: usize = 1_000_000;
    let repeated = |head: &str, part: &str| head.to_owned() + &part.repeat(SIZE / part.len());
    let numbered = |head: &str, part: &dyn Fn(usize) -> String, tail: &str| {
        head.to_owned() + &(0..SIZE / 10).map(part).collect::<String>() + tail
    };
    let bombs = [
        (repeated("", "["), "too-deep"),
        (repeated("a: ", "["), "too-deep"),
        (repeated("", "{a: "), "too-deep"),
        (repeated("a: ", "{a: "), "too-deep"),
        (repeated("", "- "), "too-deep"),
        (repeated("a:\n  ", "- "), "too-deep"),
        (repeated("", "? "), "too-deep"),
        (repeated("", ": "), "too-deep"),
        (repeated("a: ", "[a,"), "too-deep"),
        ((0..1_400).map(|level| " ".repeat(level) + "a:\n").collect(), "too-deep"),
        (repeated("a: &a [b]\n", "b: &b [*a, *a]\n"), "yaml-anchor"),
        (repeated("a: [", "*a, "), "yaml-alias"),
        (repeated("", "a: "), "repaired"),
        (repeated("a: ", "'"), "{\"a\":"),
        (repeated("a: b", "\n c"), "{\"a\":"),
        (repeated("a: |", "\n"), "{\"a\":"),
        (repeated("", "\n"), "not-a-mapping"),
        (repeated("", "#\n"), "not-a-mapping"),
        (repeated("", " "), "not-a-mapping"),
        (repeated("", "...\n"), "not-a-mapping"),
        (repeated("", "%"), "invalid-yaml"),
        (repeated("", "!"), "invalid-yaml"),
        (repeated("", "\""), "invalid-yaml"),
        (repeated("a: \"", "\\\\"), "invalid-yaml"),
        (repeated("", "k") + ": x", "invalid-yaml"),
        (format!("\"{}\": x", "k".repeat(SIZE)), "invalid-yaml"),
        (numbered("", &|at| format!("key-{at}: x\n"), ""), "{\"key-0\":"),
        (numbered("a: {", &|at| format!("k{at}, "), "}"), "{\"a\":{\"k0\":null"),
        (numbered("a: [", &|_| "[], ".to_owned(), "]"), "{\"a\":[[],[]"),
    ];
    for (yaml, expected) in bombs {
        let start: String = yaml.chars().take(30).collect();
        let answer = within_a_minute(yaml);
        assert!(answer.starts_with(expected), "`{start}…` is `{answer}`, not `{expected}`");
    }
}

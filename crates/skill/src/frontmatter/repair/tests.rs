use basics::failure::Explain;

use super::super::tests::shown;
use super::super::{Limits, Parsed, parse};

/// The fields after repair as JSON, or the refusal's code.
#[track_caller]
fn check(yaml: &str, expected: &str) {
    let outcome = match parse(yaml, &Limits::default()) {
        Ok(Parsed { fields, repaired: true }) => shown(&fields),
        Ok(Parsed { repaired: false, .. }) => "needs no repair".to_owned(),
        Err(error) => error.code().to_owned(),
    };
    assert_eq!(outcome, expected, "{yaml}");
}

#[test]
fn an_unquoted_value_with_a_colon_means_itself() {
    check("description: Use when: always\n", r#"{"description":"Use when: always"}"#);
    check("name: a\ndescription: a: b: c\n", r#"{"name":"a","description":"a: b: c"}"#);
    check("a.b_c-d: e: f\n", r#"{"a.b_c-d":"e: f"}"#);
    check("description: ends with a colon:\n", r#"{"description":"ends with a colon:"}"#);
    check("description: @mention\n", r#"{"description":"@mention"}"#);
    check("description: `code` first\n", r#"{"description":"`code` first"}"#);
    check("description: - a\n", r#"{"description":"- a"}"#);
    check("description:\ta: b\n", r#"{"description":"a: b"}"#);
    check("description: a: b\r\nname: c\r\n", r#"{"description":"a: b","name":"c"}"#);
}

#[test]
fn hyphenated_keys_keep_their_values() {
    check(
        "disable-model-invocation: true\ndescription: a: b\n",
        r#"{"disable-model-invocation":"true","description":"a: b"}"#,
    );
    check(
        "description: a: b\nallowed-tools: Read, Grep\n",
        r#"{"description":"a: b","allowed-tools":"Read, Grep"}"#,
    );
}

#[test]
fn a_value_may_go_on_over_indented_lines() {
    check(
        "description: a: b\n  and c: d\n  e\nname: f\n",
        r#"{"description":"a: b and c: d e","name":"f"}"#,
    );
    check("description: a: b\n\n  c\n", r#"{"description":"a: b\nc"}"#);
}

#[test]
fn comments_do_not_become_text() {
    check("description: a: b # c\n", r#"{"description":"a: b"}"#);
    check("description: a: b\t# c\n", r#"{"description":"a: b"}"#);
    check("# d: e: f\ndescription: a: b\n# g\n", r#"{"description":"a: b"}"#);
    check("description: a: b#c\n", r#"{"description":"a: b#c"}"#);
    check(
        "description: a: b\nallowed-tools: Read # Write\n",
        r#"{"description":"a: b","allowed-tools":"Read"}"#,
    );
    check(
        "description: a: b\nallowed-tools: Read\n  Grep # Write\n",
        r#"{"description":"a: b","allowed-tools":"Read Grep"}"#,
    );
    check(
        "description: a: b\nallowed-tools: Read\n  # Write\nname: c\n",
        r#"{"description":"a: b","allowed-tools":"Read","name":"c"}"#,
    );
}

#[test]
fn values_that_are_not_plain_stay_as_they_are() {
    check(
        "description: a: b\nmetadata:\n  version: 1.0\ntags: [x, y]\nquoted: 'z: z'\n",
        r#"{"description":"a: b","metadata":{"version":1.0},"tags":["x","y"],"quoted":"z: z"}"#,
    );
    check(
        "description: a: b\nblock: |\n  k: v: w\nlist:\n  - x\n",
        r#"{"description":"a: b","block":"k: v: w\n","list":["x"]}"#,
    );
    check(
        "description: a: b\nempty:\nname: c\n",
        r#"{"description":"a: b","empty":null,"name":"c"}"#,
    );
}

#[test]
fn what_cannot_be_repaired_is_refused() {
    for yaml in [
        "description: \"a\" and: b\n",
        "description: [a, b\n",
        "description: {a: b\n",
        "description: \"never closed\nname: a\n",
        "metadata:\n  note: a: b\n",
        "list:\n  - a: b: c\n",
        "name a\ndescription: b: c\n",
        "two words: a: b\n",
        "\tdescription: a: b\n",
        "description: a: b\n# c\n  d\n",
        "description: a: b\n  c # d\n  e\n",
        "description: a: b # c\n  d\n",
        "description: a\n disable-model-invocation: true\n",
        "description: a: b\n  c\n  allowed-tools: Read\n",
    ] {
        check(yaml, "invalid-yaml");
    }
}

#[test]
fn a_control_that_would_become_text_refuses_the_repair() {
    for lost in [
        "\n  disable-model-invocation: true\n  allowed-tools: Read\n",
        "\n\n\tdisable-model-invocation: true\n",
        "  disable-model-invocation: \"true\"\n",
        "  \"disable-model-invocation\": true\n",
        "  'disable-model-invocation' : true\n",
        "  disable-model-invocation : true\n",
        "  disable-model-invocation:true\n",
        "  ? disable-model-invocation\n  : true\n",
        "  allowed-tools:\n  - Read\n",
        "  allowed-tools: [Read]\n",
        "  also allowed-tools: Read\n",
        "  user-invocable: \"false\"\n",
        "  \"user-invokable\": false\n",
        "  run-mode:\n    subagent\n",
        "allowed-tools: Read\n\n  \"allowed-tools\": Write\n",
    ] {
        check(&format!("name: a\ndescription: Use when: asked\n{lost}"), "invalid-yaml");
    }
    check("description: Use when: asked, allowed-tools: Read\n", "invalid-yaml");
}

#[test]
fn controls_at_the_left_margin_survive_a_repair_however_they_are_written() {
    for (kept, expected) in [
        ("\"disable-model-invocation\": true\n", r#""disable-model-invocation":true"#),
        ("disable-model-invocation : true\n", r#""disable-model-invocation":true"#),
        ("allowed-tools:\n  - Read\n", r#""allowed-tools":["Read"]"#),
        ("# allowed-tools: Write\nallowed-tools: Read\n", r#""allowed-tools":"Read""#),
        ("my-allowed-tools: Read\n", r#""my-allowed-tools":"Read""#),
        ("note: see allowed-tools\n", r#""note":"see allowed-tools""#),
    ] {
        let repaired = format!(r#"{{"description":"Use when: asked",{expected}}}"#);
        check(&format!("description: Use when: asked\n{kept}"), &repaired);
    }
}

#[test]
fn the_safety_rules_hold_after_repair() {
    check("name: a\nname: b: c\n", "duplicate-key");
    check("description: a: b\nx: &y z\n", "yaml-anchor");
    check("description: a: b\nx: *y\n", "yaml-alias");
    check("description: a: b\nx: !y z\n", "yaml-tag");
    check("description: a: b\n<<: {x: y}\n", "yaml-merge-key");
    check("description: a: b\nx: [[[[[[[[]]]]]]]]\n", "too-deep");
    check("description: a: b\n--- {x: y}\n", "multiple-documents");
}

use basics::failure::Explain;
use basics::skill::RunMode;

use super::*;

fn read(yaml: &str, options: &ReadOptions) -> Result<Metadata, FrontmatterError> {
    Metadata::read(yaml, "a", options)
}

fn lenient() -> ReadOptions {
    ReadOptions { mode: Mode::Lenient, ..ReadOptions::default() }
}

fn codes(metadata: &Metadata) -> Vec<&str> {
    metadata.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// Name, description and the codes of the diagnostics; or the refusal's code.
fn outcome(yaml: &str, options: &ReadOptions) -> String {
    match read(yaml, options) {
        Ok(metadata) => {
            format!("{} | {} | {}", metadata.name, metadata.description, codes(&metadata).join(" "))
        }
        Err(error) => error.code().to_owned(),
    }
}

#[track_caller]
fn check(yaml: &str, strict: &str, relaxed: &str) {
    assert_eq!(outcome(yaml, &ReadOptions::default()), strict, "{yaml}");
    assert_eq!(outcome(yaml, &lenient()), relaxed, "{yaml} in lenient mode");
}

/// The same in both modes.
#[track_caller]
fn check_both(yaml: &str, expected: &str) {
    check(yaml, expected, expected);
}

#[test]
fn name_and_description_are_read() {
    check_both("name: a\ndescription: b c\n", "a | b c | ");
    check_both("name: \" a \"\ndescription: >\n  b\n  c\n", "a | b c | ");
    check_both("name: a\ndescription: |\n  b\n  c\n", "a | b\nc | ");
    check_both("name: a\ndescription: 5\n", "a | 5 | ");
    check_both("name: a\ndescription: 'null'\n", "a | null | ");
    check_both("name: a\ndescription: when: now\n", "a | when: now | repaired-yaml");
}

#[test]
fn what_is_missing_is_refused_or_replaced() {
    check_both("description: b\n", "a | b | missing-name");
    for name in ["", "~", "null", "\"\"", "\"  \""] {
        let yaml = format!("name: {name}\ndescription: b\n");
        check_both(&yaml, "a | b | missing-name");
    }
    for nameless in ["", "/"] {
        let refused = Metadata::read("description: b\n", nameless, &lenient());
        assert_eq!(refused, Err(FrontmatterError::NoName), "{nameless:?} is no name");
    }
    check("name: a\n", "missing-description", "a |  | missing-description");
    check("name: a\ndescription:\n", "missing-description", "a |  | missing-description");
    check("name: a\ndescription: \"\\u200B\"\n", "missing-description", "a |  | hidden-characters");
    check_both("name: [a]\ndescription: b\n", "not-text");
    check_both("name: a\ndescription: {b: c}\n", "not-text");
}

#[test]
fn hidden_characters_are_refused_in_a_name() {
    for hidden in [
        "\\e[31m",
        "\\0",
        "\\u200B",
        "\\u202E",
        "\\uFEFF",
        "\\U000E0041",
        "\\n",
        "\\t",
        "\\x7F",
        "\\u2028",
    ] {
        check_both(&format!("name: \"a{hidden}b\"\ndescription: c\n"), "hidden-characters-in-name");
    }
    let refused = Metadata::read("description: b\n", "a\u{200B}", &lenient());
    assert_eq!(refused, Err(FrontmatterError::HiddenInName), "a folder's name is no exception");
}

#[test]
fn hidden_characters_are_stripped_from_a_description_and_reported() {
    let yaml = "name: a\ndescription: \"b\\u200B\\u202E\\e[31mc\\U000E0041\"\n";
    check_both(yaml, "a | b[31mc | hidden-characters");
    let metadata = read(yaml, &ReadOptions::default()).unwrap();
    let message = "removed 4 hidden characters from the description";
    assert_eq!(metadata.diagnostics[0].message, message);
    check_both("name: a\ndescription: \"b\\tc\\nd\"\n", "a | b\tc\nd | ");
}

#[test]
fn control_characters_need_no_escape_to_be_noticed() {
    for control in ["\0", "\u{7}", "\u{1B}", "\u{7F}", "\u{80}", "\u{9B}"] {
        let stripped = "a | b c | hidden-characters";
        check_both(&format!("name: a\ndescription: b{control} c\n"), stripped);
        check_both(&format!("name: a\ndescription: \"b {control}c\"\n"), stripped);
        check_both(&format!("name: a\ndescription: >\n  b\n  {control}c\n"), stripped);
        check_both(&format!("name: a{control}\ndescription: b\n"), "hidden-characters-in-name");
    }
    check_both(
        "name: a\ndescription: when: \u{7}now\n",
        "a | when: now | repaired-yaml hidden-characters",
    );
}

#[test]
fn hidden_characters_in_a_key_take_no_control_away() {
    for hidden in ["\u{7}", "\u{200B}"] {
        let fields =
            format!("{hidden}disable-model-invocation: true\nallowed-{hidden}tools: Read\n");
        let (controls, _) = controls(&fields);
        assert!(controls.disable_model_invocation, "{fields:?}");
        assert_eq!(controls.allowed_tools, Some(vec!["read_file".to_owned()]), "{fields:?}");
    }
}

#[test]
fn angle_brackets_are_refused_where_a_model_sees_them() {
    for field in [
        "description: b <c>",
        "description: b > c",
        "description: \"<\"",
        "description: b\nwhen_to_use: <c>",
        "description: b\n\u{200B}when_to_use: <c>",
        "description: b\nwhen_to_use: [c, \"<d>\"]",
        "description: >\n  b <c>",
    ] {
        let yaml = format!("name: a\n{field}\n");
        assert_eq!(outcome(&yaml, &ReadOptions::default()), "angle-brackets", "{yaml}");
        let relaxed = outcome(&yaml, &lenient());
        assert!(relaxed.ends_with("| angle-brackets"), "{yaml} is {relaxed}");
        let off = ReadOptions { block_angle_brackets: false, ..ReadOptions::default() };
        assert!(outcome(&yaml, &off).ends_with("| "), "{yaml}");
    }
    check_both("name: a\ndescription: >-\n  b\n", "a | b | ");
    check_both("name: a\ndescription: >\n  b\nx: >+\n  y\n", "a | b | ");
}

#[test]
fn angle_brackets_are_noted_where_no_model_sees_them() {
    for field in [
        "metadata:\n  c:\n    - d: [\"<e>\"]",
        "argument-hint: <file>",
        "author: Ann <ann@example.org>",
        "compatibility: torch>=2.0",
    ] {
        check_both(&format!("name: a\ndescription: b\n{field}\n"), "a | b | angle-brackets");
    }
    let kept = read("name: a\ndescription: b\nlicense: <c>\n", &ReadOptions::default()).unwrap();
    assert_eq!(kept.meta.license.as_deref(), Some("<c>"));
    let message = "`<` or `>` in `license` is kept: a model does not see this field";
    assert_eq!(kept.diagnostics[0].message, message);
}

#[test]
fn angle_brackets_are_escaped_where_lenient_mode_lets_them_in() {
    let yaml = "name: a\ndescription: \"<script> & &lt;\"\nversion: <1>\nmetadata: {author: <b>}\n";
    let metadata = read(yaml, &lenient()).unwrap();
    assert_eq!(metadata.description, "&lt;script&gt; & &lt;");
    assert_eq!(metadata.meta.version.as_deref(), Some("&lt;1&gt;"));
    assert_eq!(metadata.meta.author.as_deref(), Some("&lt;b&gt;"));
    let off = ReadOptions { block_angle_brackets: false, ..lenient() };
    assert_eq!(read(yaml, &off).unwrap().description, "<script> & &lt;");
    let long = format!("name: a\ndescription: \"{}\"\n", "<".repeat(1_024));
    assert_eq!(codes(&read(&long, &lenient()).unwrap()), ["angle-brackets"]);
}

#[test]
fn a_name_with_angle_brackets_is_refused_in_both_modes() {
    check_both("name: a<b>\ndescription: c\n", "angle-brackets");
    for options in [ReadOptions::default(), lenient()] {
        let refused = Metadata::read("description: b\n", "<a>", &options);
        assert_eq!(refused, Err(FrontmatterError::AngleBrackets { field: "name".to_owned() }));
    }
}

#[test]
fn each_field_with_angle_brackets_is_noted_in_lenient_mode() {
    let metadata = read("name: a\ndescription: <b>\nx: <c>\n\"\\ey\": <d>\n", &lenient()).unwrap();
    let messages: Vec<&str> = metadata.diagnostics.iter().map(|it| it.message.as_str()).collect();
    let expected = [
        "`<` or `>` in `description` is escaped when shown",
        "`<` or `>` in `x` is escaped when shown",
        r"`<` or `>` in `\u{1b}y` is escaped when shown",
    ];
    assert_eq!(messages, expected);
}

fn controls(fields: &str) -> (Controls, Vec<String>) {
    let metadata =
        read(&format!("name: a\ndescription: b\n{fields}\n"), &ReadOptions::default()).unwrap();
    let messages = metadata.diagnostics.into_iter().map(|it| it.message).collect();
    (metadata.controls, messages)
}

#[test]
fn controls_have_defaults() {
    let expected = Controls {
        allowed_tools: None,
        allowed_commands: None,
        disable_model_invocation: false,
        run_mode: RunMode::Inline,
        user_invocable: true,
    };
    assert_eq!(controls(""), (expected, vec![]));
}

/// The flag, and whether it was understood.
#[track_caller]
fn check_flag(value: &str, expected: bool, understood: bool) {
    let (read, notes) = controls(&format!("disable-model-invocation: {value}"));
    assert_eq!(
        (read.disable_model_invocation, notes.is_empty()),
        (expected, understood),
        "{value}"
    );
}

#[test]
fn a_flag_that_is_not_understood_counts_as_the_stricter_one() {
    for value in ["true", "True", "TRUE", "yes", "on", "\"true\"", "' Yes '", ">-\n  true"] {
        check_flag(value, true, true);
    }
    for value in ["false", "False", "no", "off", "'false'"] {
        check_flag(value, false, true);
    }
    for value in ["maybe", "1", "0", "", "~", "[false]", "{a: b}", "\"\"", "false false", "n"] {
        check_flag(value, true, false);
    }
    let note = "`disable-model-invocation` is not true or false; Skillful reads it as true";
    assert_eq!(controls("disable-model-invocation: maybe").1, [note]);
    for spelling in ["user-invocable", "user-invokable"] {
        for (value, expected) in [("true", true), ("false", false), ("maybe", false), ("", false)] {
            let (read, _) = controls(&format!("{spelling}: {value}"));
            assert_eq!(read.user_invocable, expected, "{spelling}: {value}");
        }
    }
    let both = controls("user-invokable: true\nuser-invocable: false").0;
    assert!(!both.user_invocable, "the correct spelling counts");
}

#[test]
fn a_flag_survives_the_repair_of_another_field() {
    let yaml = "name: a\ndescription: b: c\ndisable-model-invocation: true # hidden\nallowed-tools: Read # and Bash\n";
    let metadata = read(yaml, &ReadOptions::default()).unwrap();
    assert_eq!(codes(&metadata), ["repaired-yaml"]);
    assert!(metadata.controls.disable_model_invocation);
    assert_eq!(metadata.controls.allowed_tools, Some(vec!["read_file".to_owned()]));
}

#[test]
fn the_run_mode_is_one_of_two() {
    for (value, expected, notes) in [
        ("inline", RunMode::Inline, 0),
        ("subagent", RunMode::Subagent, 0),
        ("\" subagent \"", RunMode::Subagent, 0),
        ("Subagent", RunMode::Inline, 1),
        ("", RunMode::Inline, 1),
        ("[subagent]", RunMode::Inline, 1),
    ] {
        let (read, messages) = controls(&format!("run-mode: {value}"));
        assert_eq!((read.run_mode, messages.len()), (expected, notes), "{value}");
    }
}

#[track_caller]
fn check_tools(value: &str, expected: &[&str], notes: usize) {
    let (read, messages) = controls(&format!("allowed-tools: {value}"));
    let tools: Vec<String> = expected.iter().map(|tool| (*tool).to_owned()).collect();
    assert_eq!((read.allowed_tools, messages.len()), (Some(tools), notes), "{value}");
}

#[test]
fn allowed_tools_are_a_list_or_text() {
    check_tools("Read", &["read_file"], 0);
    check_tools("Read, Grep", &["read_file", "grep"], 0);
    check_tools("Read Grep", &["read_file", "grep"], 0);
    check_tools("[Read, \"Bash(git add:*)\"]", &["read_file", "run_command", "run_script"], 0);
    check_tools("\n  - Read\n  - Write, Edit\n", &["read_file", "write_file", "edit_file"], 0);
    check_tools("Bash(git add:*) Read", &["run_command", "run_script", "read_file"], 0);
}

#[test]
fn tools_that_cannot_be_read_allow_nothing() {
    check_tools("", &[], 0);
    check_tools("[]", &[], 0);
    check_tools("\"\"", &[], 0);
    check_tools("{Read: true}", &[], 1);
    check_tools("[Read, [Bash]]", &[], 1);
    check_tools("[Read, ~]", &[], 1);
    check_tools("[Read, {Bash: x}]", &[], 1);
}

#[track_caller]
fn check_meta(fields: &str, author: Option<&str>, version: Option<&str>) {
    let yaml = format!("name: a\ndescription: b\n{fields}\n");
    let meta = read(&yaml, &ReadOptions::default()).unwrap().meta;
    assert_eq!((meta.author.as_deref(), meta.version.as_deref()), (author, version), "{fields}");
}

#[test]
fn version_and_author_may_stand_in_the_metadata() {
    check_meta("version: 1.0\nauthor: x", Some("x"), Some("1.0"));
    check_meta("metadata:\n  version: 1.10\n  author: y", Some("y"), Some("1.10"));
    check_meta("version: 2\nmetadata:\n  version: 1\n  author: y", Some("y"), Some("2"));
    check_meta("version: ~\nmetadata:\n  version: 1", None, Some("1"));
    check_meta("version: [1]\nmetadata: {version: \"1\"}", None, Some("1"));
    check_meta("metadata: [version]", None, None);
    check_meta("metadata: version", None, None);
    check_meta("metadata:\n  nested:\n    version: 1", None, None);
    check_meta("version: \" 1\\u200B \"\nauthor: \"\\u202E\"", None, Some("1"));
}

#[test]
fn licence_and_compatibility_are_read_from_the_top_only() {
    let yaml = "name: a\ndescription: b\nlicense: MIT\ncompatibility: Needs git\nmetadata:\n  license: x\n";
    let meta = read(yaml, &ReadOptions::default()).unwrap().meta;
    assert_eq!(
        (meta.license.as_deref(), meta.compatibility.as_deref()),
        (Some("MIT"), Some("Needs git"))
    );
    let nested = "name: a\ndescription: b\nmetadata:\n  license: x\n  compatibility: y\n";
    let meta = read(nested, &ReadOptions::default()).unwrap().meta;
    assert_eq!((meta.license, meta.compatibility), (None, None));
}

#[test]
fn other_fields_are_no_error() {
    check_both(
        "name: a\ndescription: b\nmodel: x\nhooks:\n  c:\n    - d: e\n? f g\n: h\n",
        "a | b | ",
    );
}

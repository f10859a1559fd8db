/// The errors and warnings about a frontmatter in a folder called `a`.
#[track_caller]
fn check(yaml: &str, errors: &[&str], warnings: usize) {
    let verdict = super::check(format!("---\n{yaml}\n---\n").as_bytes(), "a");
    assert_eq!(
        (verdict.errors.iter().map(String::as_str).collect(), verdict.warnings.len()),
        (errors.to_vec(), warnings),
        "{yaml}"
    );
}

#[test]
fn a_skill_by_the_standard_is_valid() {
    check("name: a\ndescription: b", &[], 0);
    check(
        "name: a\ndescription: b\nlicense: c\ncompatibility: d\nallowed-tools: Read\nmetadata:\n  e: f",
        &[],
        0,
    );
    check("name: a\ndescription: 5\nlicense:\n  - x", &[], 0);
    check("name: a\ndescription: \"<b>\"", &[], 0);
}

#[test]
fn fields_are_those_of_the_standard() {
    let message = "unexpected fields: model, version; the standard has only allowed-tools, \
                   compatibility, description, license, metadata, name";
    check("version: 1\nname: a\ndescription: b\nmodel: x", &[message], 0);
    check("name: a", &["missing field: description"], 0);
    check("description: b", &["missing field: name"], 0);
    check(
        "name:\ndescription: ~",
        &["`name` must be text and not empty", "`description` must be text and not empty"],
        1,
    );
    check(
        "name: [a]\ndescription: {b: c}",
        &["`name` must be text and not empty", "`description` must be text and not empty"],
        1,
    );
    check("name: a\ndescription: b\ncompatibility:\n  - c", &["`compatibility` must be text"], 0);
}

#[test]
fn lengths_are_bounded() {
    let count = |yaml: String, folder: &str| {
        super::check(format!("---\n{yaml}\n---\n").as_bytes(), folder).errors.len()
    };
    for (over, expected) in [(0, 0), (1, 1)] {
        let text = |limit: usize| "é".repeat(limit + over);
        let name = text(64);
        assert_eq!(count(format!("name: {name}\ndescription: b"), &name), expected);
        assert_eq!(count(format!("name: a\ndescription: {}", text(1_024)), "a"), expected);
        let compatibility = text(500);
        let yaml = format!("name: a\ndescription: b\ncompatibility: {compatibility}");
        assert_eq!(count(yaml, "a"), expected);
    }
}

#[test]
fn names_follow_the_rules() {
    let errors = |name: &str, folder: &str| {
        super::check(format!("---\nname: {name}\ndescription: b\n---\n").as_bytes(), folder).errors
    };
    for name in ["a-b", "数据", "a1", "é"] {
        assert_eq!(errors(name, name), Vec::<String>::new(), "{name}");
    }
    assert_eq!(errors("cafe\u{301}", "caf\u{E9}"), Vec::<String>::new());
    for (name, count) in [
        ("Ab", 1),
        ("-a", 1),
        ("a-", 1),
        ("a--b", 1),
        ("a_b", 1),
        ("a b", 1),
        ("org/a", 1),
        ("मेरा", 1),
        ("A--_-", 4),
    ] {
        assert_eq!(errors(name, name).len(), count, "{name}");
    }
    assert_eq!(errors("a", "b"), ["the folder must have the skill's name: `b` is not `a`"]);
}

#[test]
fn where_the_reference_departs_from_the_specification_there_is_a_warning() {
    check("name: a\ndescription: b\nmetadata: {c: d}", &[], 1);
    check("name: a\ndescription: b\nallowed-tools: [Read]", &[], 1);
    check("name: a\ndescription: b --- c", &[], 1);
    check("name: a\ndescription: b\nmetadata:\n  c: [d]\n  e: '---'", &[], 2);
    let file = "\u{FEFF}---\nname: a\ndescription: b\n---\n";
    let verdict = super::check(file.as_bytes(), "a");
    assert_eq!((verdict.errors.len(), verdict.warnings.len()), (0, 1), "a byte order mark");
    for tab in
        ["name:\ta\ndescription: b", "name: a\ndescription: b\tc", "name: a\ndescription: b\t"]
    {
        check(tab, &[], 1);
    }
    for text in ["'b\tc'", "\"b\tc\"", ">\n  b\tc", "b # c\td"] {
        check(&format!("name: a\ndescription: {text}"), &[], 0);
    }
    let empty = ["`description` must be text and not empty"];
    check("name: a\ndescription: ~ # c", &empty, 1);
    check("name: a\ndescription: null", &empty, 1);
    check("name: a\ndescription:", &empty, 0);
    check("name: a\ndescription: '~'", &[], 0);
}

#[test]
fn nothing_is_repaired_and_what_is_hostile_is_refused() {
    for yaml in [
        "name: a\ndescription: b: c",
        "name: a\nname: a\ndescription: b",
        "name: &x a\ndescription: *x",
        "- a",
        "name: [a",
    ] {
        let verdict = super::check(format!("---\n{yaml}\n---\n").as_bytes(), "a");
        assert_eq!(verdict.errors.len(), 1, "{yaml}");
    }
    for file in ["", "name: a", "---\nname: a\n"] {
        assert_eq!(super::check(file.as_bytes(), "a").errors.len(), 1, "{file}");
    }
    assert_eq!(super::check(b"---\nname: \xFF\n---\n", "a").errors, ["the file is not UTF-8"]);
    let body = super::check(b"---\nname: a\ndescription: b\n---\n\xFF", "a");
    assert_eq!(body.errors, ["the file is not UTF-8"]);
    let deep = format!("---\nname: a\ndescription: b\nmetadata: {}\n---\n", "[".repeat(100_000));
    assert_eq!(super::check(deep.as_bytes(), "a").errors.len(), 1);
}

#[test]
fn hostile_text_does_not_reach_a_terminal_raw() {
    let file = "---\nname: \"a\\e[31m\"\n\"\\u202Ex\": y\n\"\\e\": z\ndescription: b\n---\n";
    let verdict = super::check(file.as_bytes(), "f\u{1B}");
    assert!(verdict.errors.len() >= 3);
    let raw = verdict.errors.iter().find(|error| basics::text::has_hidden(error));
    assert_eq!(raw, None);
}

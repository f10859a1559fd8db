use basics::failure::Explain;
use proptest::prelude::*;

use super::*;

/// The frontmatter and the body of a whole file, or the refusal's code.
fn outcome(file: &[u8]) -> String {
    match split_whole(file, &Limits::default()) {
        Ok((yaml, body)) => {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            format!("{:?} then {:?}", text(&file[yaml]), text(&file[body..]))
        }
        Err(error) => error.code().to_owned(),
    }
}

#[track_caller]
fn check(file: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(outcome(file.as_ref()), expected);
}

/// A file with `count` lines of `text` in its frontmatter.
fn with_lines(count: usize, text: &str) -> String {
    format!("---\n{}---\nbody", format!("{text}\n").repeat(count))
}

#[track_caller]
fn check_code(file: impl AsRef<[u8]>, expected: Option<&str>) {
    let refused = split_whole(file.as_ref(), &Limits::default()).err();
    assert_eq!(refused.as_ref().map(FrontmatterError::code), expected);
}

#[test]
fn a_frontmatter_stands_between_two_lines_of_dashes() {
    check("---\na: b\n---\nbody\n", r#""a: b\n" then "body\n""#);
    check("---\n---\n", r#""" then """#);
    check("---\na: b\n---\nbody\n---\nmore", r#""a: b\n" then "body\n---\nmore""#);
    check("---\r\na: b\r\n---\r\nbody\r\n", r#""a: b\r\n" then "body\r\n""#);
    check("\u{FEFF}---\na: b\n---\nbody", r#""a: b\n" then "body""#);
    check("---  \t\na: b\n---  \t\nbody", r#""a: b\n" then "body""#);
    check(
        "---\na: |\n  ---\n ---\n----\n---x\n---\n",
        r#""a: |\n  ---\n ---\n----\n---x\n" then """#,
    );
}

#[test]
fn the_closing_line_may_end_the_file() {
    check("---\na: b\n---", r#""a: b\n" then """#);
    check("---\na: b\n---  ", r#""a: b\n" then """#);
    check("---\r\na: b\r\n---\r", r#""a: b\r\n" then """#);
    check("---\n---", r#""" then """#);
}

#[test]
fn a_file_without_both_lines_is_refused() {
    for file in ["", "\n", "a: b\n", "# Title\n---\na: b\n---\n", "\n---\na: b\n---\n"] {
        check(file, "no-frontmatter");
    }
    for file in [" ---\na: b\n---\n", "--\na: b\n---\n", "----\na: b\n---\n", "--- a\n---\n"] {
        check(file, "no-frontmatter");
    }
    check("\u{FEFF}\u{FEFF}---\na: b\n---\n", "no-frontmatter");
    for file in ["---", "---\n", "---\na: b", "---\na: b\n", "---\na: b\n--", "---\na: b\n --- \n"]
    {
        check(file, "unclosed-frontmatter");
    }
    check("\u{FEFF}---\na: b\n", "unclosed-frontmatter");
}

#[test]
fn lines_are_bounded() {
    check_code(with_lines(200, "a"), None);
    check_code(with_lines(201, "a"), Some("too-many-lines"));
    check_code(with_lines(200, "a").trim_end_matches("\nbody"), None);
    check_code(with_lines(201, "a").trim_end_matches("\nbody"), Some("too-many-lines"));
}

#[test]
fn a_line_is_bounded_in_characters() {
    for character in ["a", "é", "漢", "🦀"] {
        check_code(with_lines(2, &character.repeat(2_000)), None);
        check_code(with_lines(2, &character.repeat(2_001)), Some("line-too-long"));
    }
    check_code(with_lines(1, &("a".repeat(2_000) + "\r")), None);
    let error = split_whole(with_lines(2, &"a".repeat(2_001)).as_bytes(), &Limits::default());
    assert_eq!(error, Err(FrontmatterError::LineTooLong { line: 2, limit: 2_000 }));
}

/// Without a bound a hostile file would be read to its end.
#[test]
fn a_prefix_that_is_too_long_already_is_refused_at_once() {
    for line in ["---\na: ", "---", "---\n---", "\u{FEFF}---\r"] {
        for filler in [b' ', b'a', 0x80, 0xFF] {
            let mut file = line.as_bytes().to_vec();
            file.resize(20_000, filler);
            let refused = split(&file, &Limits::default());
            assert!(refused.is_err(), "`{line}` with {filler:#x} is {refused:?}");
        }
    }
    let many = format!("---\n{}", "a\n".repeat(201));
    assert_eq!(
        split(many.as_bytes(), &Limits::default()),
        Err(FrontmatterError::TooManyLines { limit: 200 })
    );
}

#[test]
fn a_short_prefix_asks_for_more() {
    for file in ["", "-", "--", "---", "---\r", "---\n", "---\na", "---\na\n---", "\u{FEFF}---"] {
        assert_eq!(split(file.as_bytes(), &Limits::default()), Ok(Split::Unfinished), "{file:?}");
    }
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => Just("---".to_owned()),
        4 => "[a-z]{0,3}: [ -~é漢]{0,12}",
        1 => "-{0,5}[ \t]{0,14}",
        1 => "[ -~é漢]{0,12}",
    ];
    let ending = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r"), 1 => Just("")];
    let start = prop_oneof![2 => Just(""), 1 => Just("\u{FEFF}"), 3 => Just("---\n")];
    let lines = prop::collection::vec((line, ending), 0..8);
    (start, lines, prop::collection::vec(any::<u8>(), 0..3)).prop_map(|(start, lines, rest)| {
        let lines: String = lines.into_iter().map(|(line, ending)| line + ending).collect();
        [start.as_bytes(), lines.as_bytes(), &rest].concat()
    })
}

proptest! {
    /// Files are read in blocks, so where a block ends must not change the answer.
    #[test]
    fn every_prefix_gives_the_answer_of_the_whole_or_none(file in file()) {
        let limits = Limits { lines: 3, line_chars: 10, depth: 8 };
        let whole = split(&file, &limits);
        for end in 0..file.len() {
            let part = split(&file[..end], &limits);
            prop_assert!(
                part == Ok(Split::Unfinished) || part == whole,
                "{:?} at {end}: {part:?}, then {whole:?}", String::from_utf8_lossy(&file)
            );
        }
    }

    #[test]
    fn what_is_found_lies_between_fences(file in file()) {
        let limits = Limits { lines: 3, line_chars: 10, depth: 8 };
        if let Ok((yaml, body)) = split_whole(&file, &limits) {
            prop_assert!(file[..yaml.start].ends_with(b"\n"));
            prop_assert!(is_fence(file[yaml.end..body].strip_suffix(b"\n").unwrap_or(&file[yaml.end..body])));
            let lines: Vec<&[u8]> = file[yaml].split_inclusive(|b| *b == b'\n').collect();
            prop_assert!(lines.len() <= limits.lines);
            prop_assert!(lines.iter().all(|line| line.ends_with(b"\n")));
        }
    }
}

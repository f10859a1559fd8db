use super::*;

#[track_caller]
fn check(name: &str, folder: &str, expected: &[&str]) {
    let found = departures(name, "d", folder);
    let codes: Vec<&str> = found.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(codes, expected, "{name} in {folder}");
}

#[test]
fn a_name_by_the_standard_is_not_remarked_on() {
    for name in ["a", "pdf-form-filler", "a1-2b", "数据-分析", "ünïcode", &"x".repeat(64)] {
        check(name, name, &[]);
    }
}

#[test]
fn departures_are_named() {
    check(&"x".repeat(65), &"x".repeat(65), &["name-too-long"]);
    for name in ["Upper", "with space", "dot.ted", "under_score", "a&b", "é!"] {
        check(name, name, &["name-characters"]);
    }
    for name in ["-a", "a-", "a--b"] {
        check(name, name, &["name-hyphens"]);
    }
    check("a", "b", &["name-directory-mismatch"]);
    check("A-", "a", &["name-characters", "name-hyphens", "name-directory-mismatch"]);
}

#[test]
fn a_namespace_is_accepted() {
    check("org/name", "name", &[]);
    check("org/name", "org", &["name-directory-mismatch"]);
    check("Org/name", "name", &["name-characters"]);
    check("org/-name", "-name", &["name-hyphens"]);
    check("a/b/c", "c", &["name-characters"]);
    check("/name", "name", &["name-characters"]);
    check("org/", "", &["name-characters"]);
}

#[test]
fn names_are_compared_as_they_look() {
    check("caf\u{E9}", "cafe\u{301}", &[]);
    check("\u{FF41}", "a", &[]);
}

#[test]
fn a_long_description_is_remarked_on() {
    let codes = |length: usize| departures("a", &"é".repeat(length), "a").len();
    assert_eq!((codes(1_024), codes(1_025)), (0, 1));
    assert_eq!(departures("a", &"é".repeat(1_025), "a")[0].code, "description-too-long");
}

#[test]
fn a_folders_name_does_not_reach_a_terminal_raw() {
    let message = departures("a", "d", "\u{1B}[31m\u{202E}")[0].message.clone();
    assert_eq!(message, r"the name `a` differs from the folder's name `\u{1b}[31m\u{202e}`");
}

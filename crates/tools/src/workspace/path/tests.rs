use proptest::prelude::*;

use super::normal_path;

fn check(path: &str, expected: Option<&str>) {
    assert_eq!(normal_path(path).as_deref(), expected, "{path}");
}

#[test]
fn a_path_has_one_spelling() {
    for path in ["a/b", "./a/b", "a//b/", "a/./b", "x/../a/b"] {
        check(path, Some("a/b"));
    }
    for path in ["", ".", "./", "a/.."] {
        check(path, Some("."));
    }
    check("/a/../b", Some("/b"));
    check("/", Some("/"));
    check("skill://x", Some("skill://x"));
    check("skill://x/", Some("skill://x"));
    check("skill://x/./a//b", Some("skill://x/a/b"));
}

#[test]
fn a_path_that_climbs_out_has_none() {
    for path in
        ["..", "a/../..", "/..", "skill://x/..", "skill://", "skill://../x", "skill:///x", "a\0b"]
    {
        check(path, None);
    }
}

proptest! {
    #[test]
    fn a_normal_path_stays_as_it_is(path in "(skill://)?([a./ ]|\\.\\.){0,12}") {
        if let Some(normal) = normal_path(&path) {
            prop_assert_eq!(normal_path(&normal), Some(normal.clone()));
            prop_assert!(normal.split('/').all(|part| part != ".."));
        }
    }
}

use proptest::prelude::*;

use super::{normal_path, real_path_beneath};

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

#[test]
fn a_link_is_followed_as_it_is_seen_and_not_out_of_the_folder() {
    let place = tempfile::TempDir::new().unwrap();
    let folder = place.path();
    std::fs::create_dir_all(folder.join("a/b")).unwrap();
    let link = |name: &str, target: &str| {
        std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
    };
    link("near", "a/b");
    link("own", "/seen/a");
    link("away", "/etc");
    link("up", "../x");
    link("round", "round");
    link("a/back", "../near/../c");
    let root = std::fs::File::open(folder).unwrap();
    let check = |inner: &str, expected: &str| {
        use std::os::fd::AsFd;
        let real = real_path_beneath(root.as_fd(), "/seen".as_ref(), inner.as_ref());
        let real = real.map_or_else(|error| error.to_string(), |real| real.display().to_string());
        assert!(real.starts_with(expected), "{inner}: {real}");
    };
    check("near/new", "/seen/a/b/new");
    check("own/b", "/seen/a/b");
    check("a/back/d", "/seen/a/c/d");
    check("away/passwd", "/etc/passwd");
    check("up/y", "/seen/../x/y");
    check("missing/deep", "/seen/missing/deep");
    check("round", "Too many levels");
    check("", "/seen");
}

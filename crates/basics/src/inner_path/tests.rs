use std::path::{Component, PathBuf};

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(path: &str, expected: Result<&str, &str>) {
    let read = InnerPath::new(path);
    let shown = read.as_ref().map(InnerPath::as_str).map_err(|refused| refused.reason);
    assert_eq!(shown, expected, "{path:?}");
}

#[test]
fn a_path_within_is_tidied_up() {
    for (path, tidy) in [
        ("a", "a"),
        ("a/b.md", "a/b.md"),
        ("./a", "a"),
        ("a//b/./c/", "a/b/c"),
        ("...", "..."),
        ("a/..b", "a/..b"),
        (".hidden", ".hidden"),
        ("ä/漢 字", "ä/漢 字"),
        ("a/~", "a/~"),
        ("ab:c", "ab:c"),
        ("1:c", "1:c"),
    ] {
        check(path, Ok(tidy));
    }
}

#[test]
fn a_path_out_is_refused_with_its_reason() {
    for path in ["..", "../a", "a/..", "a/../b", "./..", "a/./../..", "a//..//b"] {
        check(path, Err("it leads upwards"));
    }
    for path in ["/", "/a", "//a", "/..", "~", "~/a", "~user/a", "./~/a"] {
        check(path, Err("it is absolute"));
    }
    for path in ["a\\b", "..\\a", "\\a", "\\\\server\\share", "C:\\a"] {
        check(path, Err("it holds a backslash"));
    }
    for path in ["C:", "C:a", "c:/a", "./C:/a"] {
        check(path, Err("it names a drive"));
    }
    for path in ["\0", "a\0b", "a/\0", "../\0"] {
        check(path, Err("it holds a NUL character"));
    }
    for path in ["", ".", "./", "././"] {
        check(path, Err("it is empty"));
    }
}

#[test]
fn a_refusal_spells_hidden_characters_out() {
    let refused = InnerPath::new("../\u{1B}[31m\u{202E}").unwrap_err();
    let message = r"`../\u{1b}[31m\u{202e}` is not a path within the folder: it leads upwards";
    assert_eq!(refused.to_string(), message);
    assert_eq!(InnerPath::new("a//b").unwrap().to_string(), "a/b");
}

/// Where a path leads by its words alone.
fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2_000)))]

    #[test]
    fn an_accepted_path_never_leaves_its_folder(
        path in "([.]{1,3}|[a-cC:~\\\\]|/|\0| |é){0,12}",
        base in prop_oneof![Just("/"), Just("/base"), Just("/base/folder")],
    ) {
        if let Ok(inner) = InnerPath::new(&path) {
            let joined = Path::new(base).join(&inner);
            prop_assert!(resolved(&joined).starts_with(base));
            prop_assert_ne!(resolved(&joined), Path::new(base));
            prop_assert!(inner.as_ref().components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert!(!inner.as_str().contains(['\0', '\\']));
            prop_assert_eq!(InnerPath::new(inner.as_str()), Ok(inner));
        }
    }

    #[test]
    fn a_path_of_plain_parts_is_accepted(parts in prop::collection::vec("[b-z][a-z.]{1,6}", 1..5)) {
        let path = parts.join("/");
        prop_assert_eq!(InnerPath::new(&path).map(|inner| inner.to_string()), Ok(path));
    }
}

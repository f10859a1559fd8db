use super::*;

fn refused(path: &[u8]) -> Option<Flaw> {
    PackPath::new(path).err().map(|refusal| refusal.flaw)
}

#[test]
fn ordinary_names_are_taken() {
    for path in [
        "a/SKILL.md",
        "a/.env.example",
        "报告/说明.md",
        "a/con-text.md",
        "a/com10",
        "a/b c/d",
        "a/.github/x",
        "a/...x",
    ] {
        assert_eq!(refused(path.as_bytes()), None, "{path}");
    }
}

#[test]
fn each_bad_name_has_its_own_reason() {
    let long = format!("a/{}", "x".repeat(239));
    let deep = "a/".repeat(16) + "x";
    let check = |path: &[u8], flaw| {
        assert_eq!(refused(path), Some(flaw), "{}", String::from_utf8_lossy(path))
    };
    check(b"/etc/passwd", Flaw::AbsolutePath);
    check(b"C:/x", Flaw::DrivePath);
    check(b"c:x", Flaw::DrivePath);
    check(b"\\\\server\\share", Flaw::UncPath);
    check(b"//server/share", Flaw::UncPath);
    check(b"a/../b", Flaw::ParentSegment);
    check(b"..", Flaw::ParentSegment);
    check(b"a/./b", Flaw::DotSegment);
    check(b"a//b", Flaw::EmptySegment);
    check(b"", Flaw::EmptySegment);
    check(b"a\\b", Flaw::Backslash);
    check(b"a/b\0.md", Flaw::NulCharacter);
    check(b"a/\x1b[31m", Flaw::ControlCharacter);
    check("a/\u{202e}dm".as_bytes(), Flaw::ControlCharacter);
    check(b"a/\xff", Flaw::NotUtf8);
    check(b"a/CON", Flaw::WindowsDevice);
    check(b"a/nul.txt", Flaw::WindowsDevice);
    check("a/COM¹.md".as_bytes(), Flaw::WindowsDevice);
    check(b"a/x.", Flaw::TrailingDotOrSpace);
    check(b"a/x /y", Flaw::TrailingDotOrSpace);
    check(long.as_bytes(), Flaw::NameTooLong);
    check(deep.as_bytes(), Flaw::TooDeep);
    check(b"a/.git/config", Flaw::StateFolder);
    check(b"a/.GIT/config", Flaw::StateFolder);
    check(b".agent/x", Flaw::StateFolder);
}

/// A path that ends with `/` is a folder.
fn first_refused(paths: &[&str]) -> Option<Flaw> {
    let mut names = Names::default();
    paths.iter().find_map(|path| {
        let inner = PackPath::new(path.trim_end_matches('/').as_bytes()).unwrap();
        let added =
            if path.ends_with('/') { names.add_folder(&inner) } else { names.add_file(&inner) };
        added.err().map(|refusal| refusal.flaw)
    })
}

#[test]
fn names_that_are_one_on_some_system_are_refused() {
    assert_eq!(first_refused(&["a/", "a/b", "a/c/", "a/c/d"]), None);
    assert_eq!(first_refused(&["a/b", "a/"]), None);
    assert_eq!(first_refused(&["a/b", "a/b"]), Some(Flaw::DuplicateName));
    assert_eq!(first_refused(&["a/", "a/"]), Some(Flaw::DuplicateName));
    assert_eq!(first_refused(&["a/b", "a/B"]), Some(Flaw::CaseTwin));
    assert_eq!(first_refused(&["a/b", "A/c"]), Some(Flaw::CaseTwin));
    assert_eq!(first_refused(&["a/é", "a/e\u{301}"]), Some(Flaw::UnicodeTwin));
    assert_eq!(first_refused(&["a/É", "a/e\u{301}"]), Some(Flaw::CaseTwin));
    assert_eq!(first_refused(&["a/b", "a/b/c"]), Some(Flaw::FileAndFolder));
    assert_eq!(first_refused(&["a/b/c", "a/b"]), Some(Flaw::FileAndFolder));
    assert_eq!(first_refused(&["a/b/", "a/b"]), Some(Flaw::FileAndFolder));
}

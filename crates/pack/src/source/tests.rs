use basics::failure::Explain;

use super::*;

fn git(repository: &str, reference: Option<&str>, subfolder: Option<&str>) -> Source {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Source::Git(GitSource {
        repository: repository.to_owned(),
        reference: owned(reference),
        subfolder: owned(subfolder),
    })
}

#[test]
fn addresses_are_understood() {
    let check = |text: &str, source: Source| {
        let parsed = Source::parse(text, Path::new("/nowhere")).unwrap();
        assert_eq!(parsed, source, "{text}");
        assert_eq!(Source::parse(&parsed.to_text(None), Path::new("/nowhere")).unwrap(), parsed);
        assert!(parsed.is_remote());
    };
    check("https://host/a.zip", Source::Https("https://host/a.zip".to_owned()));
    check("https://host/a?x=1", Source::Https("https://host/a?x=1".to_owned()));
    check("https://host/a.git", git("https://host/a.git", None, None));
    check("git+https://host/a", git("https://host/a", None, None));
    check("https://host/a#v1", git("https://host/a", Some("v1"), None));
    check("https://host/a.git#v1//b/c", git("https://host/a.git", Some("v1"), Some("b/c")));
    check("https://host/a.git//b#v1", git("https://host/a.git", Some("v1"), Some("b")));
    check("https://host/a//b", git("https://host/a", None, Some("b")));
}

#[test]
fn everything_in_the_clear_is_refused() {
    for text in [
        "http://host/a.zip",
        "git://host/a",
        "ssh://host/a",
        "git+ssh://host/a",
        "ftp://host/a",
        "git@host:a/b.git",
        "ext::sh -c x",
    ] {
        let error = Source::parse(text, Path::new("/nowhere")).unwrap_err();
        let expected = if text.starts_with("ext") { "SourceNotFound" } else { "NotHttps" };
        assert_eq!(error.code(), expected, "{text}");
    }
}

#[test]
fn paths_are_what_is_there() {
    let world = tempfile::tempdir().unwrap();
    let base = world.path().canonicalize().unwrap();
    std::fs::create_dir_all(base.join("folder")).unwrap();
    std::fs::create_dir_all(base.join("odd#name//".trim_end_matches('/'))).unwrap();
    std::fs::create_dir_all(base.join("repository/.git")).unwrap();
    std::fs::write(base.join("a.zip"), "").unwrap();
    let parse = |text: &str| Source::parse(text, &base);
    let repository = base.join("repository").to_string_lossy().into_owned();
    assert_eq!(parse("a.zip").unwrap(), Source::Zip(base.join("a.zip")));
    assert_eq!(parse("./folder").unwrap(), Source::Folder(base.join("folder")));
    assert_eq!(parse("odd#name").unwrap(), Source::Folder(base.join("odd#name")));
    assert_eq!(parse("repository").unwrap(), git(&repository, None, None));
    assert_eq!(parse("repository#main//a").unwrap(), git(&repository, Some("main"), Some("a")));
    assert_eq!(
        parse(&format!("file://{repository}#main")).unwrap(),
        git(&repository, Some("main"), None)
    );
    assert_eq!(parse("repository#main").unwrap().to_text(Some(&base)), "git+repository#main");
    assert_eq!(parse("a.zip").unwrap().to_text(Some(&base)), "a.zip");
    assert_eq!(parse("nothing").unwrap_err().code(), "SourceNotFound");
    assert_eq!(parse("").unwrap_err().code(), "InvalidSource");
}

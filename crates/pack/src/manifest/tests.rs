use super::*;

const ONE: &str = r#"{"format_version": "1", "skills": [{"name": "a", "version": "1.0.0", "dir": "a"}],
 "files": [{"path": "a/SKILL.md", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size": 0, "mode": "0644"}]}"#;

#[test]
fn the_contracts_example_is_read_and_written_back() {
    let manifest = Manifest::parse(ONE.as_bytes()).unwrap();
    assert_eq!(manifest.labels(), "a@1.0.0");
    assert_eq!(Manifest::parse(&manifest.to_bytes()).unwrap(), manifest);
}

#[test]
fn what_is_not_understood_whole_is_refused() {
    let check = |from: &str, to: &str, flaw| {
        let text = ONE.replacen(from, to, 1);
        assert_ne!(text, ONE);
        assert_eq!(Manifest::parse(text.as_bytes()).unwrap_err().flaw, flaw, "{text}");
    };
    check("\"1\"", "\"2\"", Flaw::InvalidManifest);
    check("\"1\"", "1", Flaw::InvalidManifest);
    check("{\"format", "{\"more\": 1, \"format", Flaw::InvalidManifest);
    check("{\"format", "{\"skills\": [], \"format", Flaw::DuplicateKey);
    check("\"size\": 0", "\"size\": 0, \"size\": 1", Flaw::DuplicateKey);
    check("\"size\": 0", "\"size\": -1", Flaw::InvalidManifest);
    check("\"0644\"", "\"4755\"", Flaw::InvalidManifest);
    check("a/SKILL.md", "../SKILL.md", Flaw::ParentSegment);
    check("e3b0", "E3B0", Flaw::InvalidManifest);
    check("e3b0", "", Flaw::InvalidManifest);
    check("]}", "]} x", Flaw::InvalidManifest);
    check("\"a\"", "\"a\\u0000\\ud800\"", Flaw::InvalidManifest);
}

#[test]
fn deep_nesting_does_not_overflow() {
    let deep = "[".repeat(100_000);
    assert_eq!(Manifest::parse(deep.as_bytes()).unwrap_err().flaw, Flaw::InvalidManifest);
}

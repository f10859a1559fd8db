#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use super::*;

fn world(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn case(id: &str) -> String {
    format!(r#"{{"id": "{id}", "input": "go"}}"#)
}

#[test]
fn suites_are_folders_files_and_skills() {
    let standard = r#"{"evals": [{"prompt": "x"}]}"#;
    let folder = world(&[
        ("csv/b/case.json", &case("b")),
        ("csv/b/inputs/data.json", "not a case"),
        ("csv/a/case.yaml", "id: a\ninput: go"),
        ("many.json", &format!("[{}, {}]", case("one"), case("two"))),
        ("skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n"),
        ("skills/s/evals/evals.json", standard),
        ("skills/s/assets/other.json", "not a case"),
        (".hidden/case.json", "not a case"),
    ]);
    let (cases, problems) = find(&[folder.path().to_owned()]);
    assert!(problems.is_empty(), "{problems:?}");
    let names: Vec<String> = cases.iter().map(Located::name).collect();
    assert_eq!(names, ["csv/a", "csv/b", "many/one", "many/two", "s/1"]);
    let (cases, _) = find(&[folder.path().join("skills/s")]);
    assert_eq!(cases.len(), 1, "a skill's own evals");
}

#[test]
fn a_broken_file_does_not_hide_the_others() {
    let folder = world(&[("a.json", &case("a")), ("b.json", "{"), ("a.yaml", "id: a\ninput: go")]);
    let (cases, problems) = find(&[folder.path().to_owned(), folder.path().join("none.json")]);
    assert_eq!(cases.len(), 1);
    let kinds: Vec<&str> = problems
        .iter()
        .map(|problem| match problem {
            CaseError::SameName { .. } => "same name",
            CaseError::Invalid { .. } => "invalid",
            CaseError::Unreadable { .. } => "unreadable",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["same name", "invalid", "unreadable"]);
}

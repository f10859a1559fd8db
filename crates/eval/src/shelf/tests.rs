#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use std::fs;

use serde_json::{Value, json};

use super::*;

/// A project with a case, in a folder that also holds what is not its own.
struct World {
    root: TempDir,
    project: PathBuf,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().canonicalize().unwrap().join("project");
        let world = Self { root, project };
        world.write("project/evals/inputs/a.txt", "one");
        world.write("project/skills/tool/SKILL.md", "a tool");
        world.write("mine/own/SKILL.md", "my own");
        world.write("other/SKILL.md", "another's");
        world
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn located(&self, setup: &Value) -> Located {
        let text = json!({"id": "a", "input": "go", "setup": setup}).to_string();
        let path = self.project.join("evals/case.json");
        crate::case::read(&path, &text).unwrap().remove(0)
    }

    fn take(&self, setup: Value) -> Result<(Shelf, Taken), ShelfError> {
        let mine = [self.project.parent().unwrap().join("mine")];
        let reach = Reach { project: &self.project, users: &mine };
        let mut shelf = Shelf::new()?;
        let taken = shelf.take(&[self.located(&setup)], reach)?;
        Ok((shelf, taken))
    }

    fn refusal(&self, setup: Value) -> String {
        match self.take(setup).unwrap_err() {
            ShelfError::Case { case, source } => format!("{case}: {source}"),
            error => panic!("{error}"),
        }
    }
}

#[test]
fn a_case_that_was_taken_reads_nothing_of_its_project() {
    let world = World::new();
    let setup = json!({"files": ["inputs/a.txt"], "skill_roots": ["skills", "../skills", "gone"]});
    let (_shelf, taken) = world.take(setup).unwrap();
    fs::remove_dir_all(&world.project).unwrap();
    let located = &taken.cases[0];
    assert_eq!(fs::read_to_string(located.folder.join("inputs/a.txt")).unwrap(), "one");
    let find = |path: &str| located.resolve(Path::new(path), Path::new("/"));
    assert_eq!(fs::read_to_string(find("skills").join("tool/SKILL.md")).unwrap(), "a tool");
    assert_eq!(find("skills"), find("../skills"), "one folder is copied once");
    assert!(!find("gone").exists() && !find("gone").starts_with("/gone"));
}

#[test]
fn folders_of_the_user_are_used_where_they_are() {
    let world = World::new();
    let mine = world.project.parent().unwrap().join("mine");
    let (_shelf, taken) = world.take(json!({"skill_roots": [&mine]})).unwrap();
    assert_eq!(taken.cases[0].resolve(&mine, Path::new("/")), mine);
}

#[test]
fn what_lies_outside_is_refused_and_named() {
    let world = World::new();
    let other = "../../other";
    for setup in [
        json!({"skill_roots": [other]}),
        json!({"preinstall_skills": [other]}),
        json!({"refused_skills": [other]}),
    ] {
        assert_eq!(
            world.refusal(setup),
            "evals/a: `../../other` is outside the project".replace("evals/a", "project/a")
        );
    }
    for path in ["../../other/SKILL.md", "/etc/hostname", ".git/config", "./.agent/runs", "."] {
        let refusal = world.refusal(json!({"files": [path]}));
        assert_eq!(refusal, format!("project/a: `{path}` is not a path inside the case's folder"));
    }
}

#[test]
fn the_hash_is_of_everything_that_cases_bring_along() {
    let world = World::new();
    let setup =
        json!({"files": ["inputs/a.txt"], "skill_roots": ["skills"], "refused_skills": ["p.zip"]});
    let mut seen = Vec::new();
    let mut differs = |setup: &Value, what: &str| {
        let hash = world.take(setup.clone()).unwrap().1.sha256;
        assert_eq!(hash, world.take(setup.clone()).unwrap().1.sha256);
        assert!(!seen.contains(&hash), "{what}");
        seen.push(hash);
    };
    differs(&setup, "at first");
    for path in [
        "evals/inputs/a.txt",
        "evals/inputs/b.txt",
        "evals/expected/a.txt",
        "skills/tool/SKILL.md",
        "p.zip",
    ] {
        world.write(&format!("project/{path}"), "other");
        differs(&setup, path);
    }
    differs(&json!({"files": ["inputs/a.txt"]}), "the case");
}

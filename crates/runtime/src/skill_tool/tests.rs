use std::fs;

use basics::skill::Source;
use permission::{Answer, ApprovalRequest, Configuration, Engine};
use serde_json::{Value, json};
use skill::index::{Index, IndexOptions};
use skill::roots::Root;
use tempfile::TempDir;

use super::*;

fn world(skills: &[&str]) -> (TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    for name in skills {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo {name}.\n");
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("SKILL.md"), text).unwrap();
    }
    let root = Root { source: Source::User, path: folder.path().to_owned(), priority: 0 };
    let index = Index::build(&[root], &IndexOptions::default());
    (folder, index)
}

fn engine(rules: Value) -> Engine {
    let user = serde_json::from_value(rules).unwrap();
    Engine::new("project", Configuration { user, ..Default::default() })
}

/// Answers the same every time, and counts.
struct Person(Option<Answer>, usize);

impl Approver for Person {
    fn ask(&mut self, _: &ApprovalRequest) -> Option<Answer> {
        self.1 += 1;
        self.0.clone()
    }
}

fn check(rules: Value, answer: Option<Answer>, calls: &[(Value, &str)], asked: usize) {
    let (_folder, index) = world(&["alpha", "beta"]);
    let engine = engine(rules);
    let denied = engine.denials(Permission::Skill);
    let offer = index.offer(|entry| !denied(&entry.name));
    let mut tool = SkillTool::new(&offer, engine.clone());
    let mut person = Person(answer, 0);
    for (arguments, expected) in calls {
        let said = match tool.call(arguments.clone(), &mut person) {
            Ok(text) => text,
            Err(refusal) => format!("{}: {}", refusal.code, refusal.message),
        };
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    assert_eq!(person.1, asked);
}

#[test]
fn a_skill_is_handed_over_once() {
    let alpha = json!({"name": "alpha"});
    let calls = [
        (alpha.clone(), "Do alpha."),
        (alpha, "alpha already loaded; see above."),
        (json!({"name": "beta", "source": "user"}), "Do beta."),
        (json!({"name": "beta"}), "beta already loaded"),
        (json!({"name": "beta", "source": "project"}), "SkillNotFound"),
        (json!({"name": "gamma"}), "SkillNotFound: Skill 'gamma' not found."),
        (json!({}), "InvalidAction: the arguments of `skill` cannot be understood"),
        (json!({"name": "alpha", "more": 1}), "InvalidAction"),
        (json!([]), "InvalidAction"),
    ];
    check(json!({}), None, &calls, 0);
}

#[test]
fn permission_comes_before_the_body() {
    let calls =
        [(json!({"name": "alpha"}), "SkillNotFound"), (json!({"name": "beta"}), "Do beta.")];
    check(json!({"skill": {"alpha": "deny"}}), None, &calls, 0);
    let ask = json!({"skill": "ask"});
    let alpha = json!({"name": "alpha"});
    check(ask.clone(), None, &[(alpha.clone(), "ApprovalRequired: an approval is needed")], 1);
    let no = Answer::Reject { message: None };
    check(
        ask.clone(),
        Some(no),
        &[(alpha.clone(), "ApprovalDenied"), (alpha.clone(), "ApprovalDenied")],
        2,
    );
    check(ask, Some(Answer::Once), &[(alpha.clone(), "Do alpha."), (alpha, "already loaded")], 1);
}

#[test]
fn a_tool_describes_what_there_is_and_nothing_else() {
    let (_folder, index) = world(&["alpha", "beta"]);
    let engine = engine(json!({"skill": {"beta": "deny"}, "run_script": "deny"}));
    let denied = engine.denials(Permission::Skill);
    let offer = index.offer(|entry| !denied(&entry.name));
    let catalog = offer.catalog(CatalogLimits::default(), "");
    let tools = definitions(&offer, &engine, &catalog);
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        ["skill", "load_skill_chunk", "load_skill_resource", "search_skills", "read_observation"]
    );
    assert_eq!(tools[0].input_schema["properties"]["name"]["enum"], json!(["alpha"]));
    assert!(!format!("{tools:?}").contains("beta"));
    let nothing = index.offer(|_| false);
    assert_eq!(definitions(&nothing, &engine, &catalog), []);
}

#[test]
fn every_tool_that_is_described_can_be_called() {
    let (_folder, index) = world(&["alpha"]);
    let engine = engine(json!({}));
    let offer = index.offer(|_| true);
    let values = json!({"name": "alpha", "source": "user", "chunk_id": "c", "relative_path": "a.md",
        "section_hint": "s", "query": "q", "limit": 3, "ref": "1", "offset": 2, "pattern": "p", "args": ["x"], "stdin": "y"});
    for tool in definitions(&offer, &engine, &offer.catalog(CatalogLimits::default(), "")) {
        let Value::Object(properties) = &tool.input_schema["properties"] else { panic!() };
        let arguments = properties.keys().map(|key| (key.clone(), values[key].clone())).collect();
        let action = action(tool.name, Value::Object(arguments));
        assert!(matches!(action, Some(Ok(_))), "{}: {action:?}", tool.name);
    }
    assert_eq!(action("nope", json!({})), None);
}

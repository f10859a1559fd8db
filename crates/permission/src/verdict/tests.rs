use basics::failure::Explain;
use serde_json::{Value, json};

use super::super::{
    Answer, ApprovalId, Configuration, Denial, Effect, Engine, Invocation, Pending, Permission,
    Reason, Request, Risk, Scope, SkillHash, Verdict,
};

#[derive(Debug)]
struct Script(&'static str);

impl Request for Script {
    fn permission(&self) -> Permission {
        Permission::RunScript
    }
    fn patterns(&self) -> Vec<String> {
        vec![format!("pdf-form-filler/{}", self.0)]
    }
    fn risk(&self) -> Risk {
        Risk::Medium
    }
    fn effect(&self) -> String {
        "runs python3 in a sandbox".to_owned()
    }
    fn params(&self) -> Value {
        json!({"skill": {"name": "pdf-form-filler", "source": "project"}, "relative_path": self.0, "args": []})
    }
}

fn pending() -> Pending<Script> {
    let engine = Engine::new("/project", Configuration::default());
    match engine.decide(Script("scripts/fill.py"), Some(&SkillHash("abc".to_owned()))) {
        Verdict::Ask(pending) => pending,
        other => panic!("scripts ask by default, not {:?}", std::mem::discriminant(&other)),
    }
}

fn invocation() -> Invocation {
    Invocation { command: vec!["skillful".into(), "run".into()], arguments: vec!["fill it".into()] }
}

fn id() -> ApprovalId {
    ApprovalId::try_from("ap_1".to_owned()).unwrap()
}

#[test]
fn the_question_has_the_form_of_the_contract() {
    let question = pending().question(id(), "the form must be filled", &invocation());
    assert_eq!(
        serde_json::to_string(&question).unwrap(),
        r#"{"id":"ap_1","tool":"run_script","risk":"medium","reason":"the form must be filled","params":{"args":[],"relative_path":"scripts/fill.py","skill":{"name":"pdf-form-filler","source":"project"}},"patterns":["pdf-form-filler/scripts/fill.py"],"always":"this script of this skill, in this project, until its files change","effect":"runs python3 in a sandbox","replay":"skillful run --approve run_script:pdf-form-filler/scripts/fill.py 'fill it'"}"#
    );
}

#[test]
fn a_yes_is_remembered_as_long_as_its_scope() {
    for (answer, scope, remembered) in [
        (Answer::Once, Scope::Once, 0),
        (Answer::Run, Scope::Run, 1),
        (Answer::Always, Scope::Always, 1),
    ] {
        let granted = pending().answer(answer).unwrap();
        assert_eq!((granted.scope, granted.grants.len()), (scope, remembered));
        let decision = granted.approved.decision();
        assert_eq!(
            (decision.action, &decision.rulings[0].reason),
            (Effect::Allow, &Reason::Answered(scope))
        );
        for grant in &granted.grants {
            assert_eq!(grant.skill_hash, Some(SkillHash("abc".to_owned())));
            assert_eq!(
                grant.to_string(),
                "`run_script` on `pdf-form-filler/scripts/fill.py` in `/project`"
            );
        }
    }
}

#[test]
fn answers_are_read_from_their_json() {
    for (json, expected) in [
        (json!({"answer": "once"}), Some(Answer::Once)),
        (json!({"answer": "reject"}), Some(Answer::Reject { message: None })),
        (
            json!({"answer": "reject", "message": "no"}),
            Some(Answer::Reject { message: Some("no".to_owned()) }),
        ),
        (json!({"answer": "maybe"}), None),
        (json!({"message": "sure"}), None),
    ] {
        assert_eq!(serde_json::from_value::<Answer>(json.clone()).ok(), expected, "{json}");
    }
}

fn check(denial: &Denial, code: &str, message: &str, hint: &str) {
    assert_eq!((denial.code(), &*denial.to_string(), &*denial.hint()), (code, message, hint));
}

#[test]
fn every_denial_says_why_and_what_to_do() {
    let rejected = pending()
        .answer(Answer::Reject { message: Some("use the web form".to_owned()) })
        .unwrap_err();
    check(
        &rejected,
        "ApprovalDenied",
        "`run_script` was rejected: use the web form",
        "do not try the same again; do something else or ask the user",
    );
    let waiting = pending();
    let question = waiting.question(id(), "", &invocation());
    check(
        &waiting.refuse(question),
        "ApprovalRequired",
        "`run_script` needs an approval and nobody is there to give it",
        "to allow it, run: skillful run --approve run_script:pdf-form-filler/scripts/fill.py 'fill it'",
    );
    let user = serde_json::from_str(r#"{"run_script": {"pdf-*": "deny"}}"#).unwrap();
    let engine = Engine::new("/project", Configuration { user, ..Configuration::default() });
    let Verdict::Denied(denial) = engine.decide(Script("scripts/fill.py"), None) else {
        panic!("it is denied")
    };
    check(
        &denial,
        "ToolNotAllowed",
        "`run_script` on `pdf-form-filler/scripts/fill.py` is denied by the rule `run_script: pdf-* = deny` of the user configuration",
        "change the rule in the user configuration",
    );
}

#[test]
fn what_is_bound_to_no_content_is_never_approved_for_always() {
    let engine = Engine::new("/project", Configuration::default());
    let Verdict::Ask(pending) = engine.decide(Script("scripts/fill.py"), None) else {
        panic!("scripts ask by default");
    };
    let question = pending.question(id(), "why", &invocation());
    assert_eq!(question.always, None);
    let granted = pending.answer(Answer::Always).unwrap();
    assert_eq!((granted.scope, granted.grants.len()), (Scope::Run, 1));
}

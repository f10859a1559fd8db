use agent::budget::Budget;
use agent::run::{Patience, Run, Setup};
use agent::step::{Input, Loaded, Observation, Prepared, Refusal, Request, SelectedSkill, Step};
use serde_json::Value;
use tools::permission::{Action as Rule, Decision as PermissionDecision, Risk, SkillHash, ToolSet};

use super::*;

const CSV: &str = "# CSV\n\n## Steps\n\n1. Look at it.\n2. Report.\n\n## Scripts\n\n- `scripts/report.sh FILE` — prints a Markdown summary of a CSV file (.csv, .tsv)\n";

/// Drives the planner; what comes of a script is given. Answers with the kinds of action and the answer.
fn check(
    request: &str,
    candidates: &[(&str, bool)],
    skill: &str,
    script: Observation,
) -> (Vec<String>, String) {
    let source = Source::Builtin;
    let candidates = candidates.iter().map(|(name, convincing)| Candidate {
        name: (*name).to_owned(),
        source,
        convincing: *convincing,
    });
    let mut model = Offline::new(request, candidates.collect());
    let mut run = Run::start(Setup {
        run_id: "r".to_owned(),
        request: request.to_owned(),
        catalog: String::new(),
        tools: ToolSet::up_to(Risk::Medium),
        budget: Budget::default(),
        patience: Patience::default(),
        invoked: None,
        preloaded: Vec::new(),
        is_child: false,
        facts: Value::Null,
    });
    let mut actions = Vec::new();
    for _ in 0..20 {
        let input = match run.step() {
            Step::CallModel(prompt) => {
                Input::Replied(model.decide(&prompt, &Cancel::default(), &mut |_| {}))
            }
            Step::Prepare(action) => {
                actions.push(action.summary());
                let decision = PermissionDecision {
                    permission: "x".to_owned(),
                    action: Rule::Allow,
                    rulings: Vec::new(),
                };
                Input::Prepared(Prepared::Allowed { request: request_of(action), decision })
            }
            Step::Perform(request) => Input::Observed(match &request.action {
                Action::SelectSkills { skills, .. } => selected(&skills[0].name, skill),
                _ => script.clone(),
            }),
            Step::Done(outcome) => return (actions, outcome.answer.clone()),
            Step::Ask { .. } => unreachable!(),
        };
        run.advance(input, 1).unwrap();
    }
    panic!("it does not end");
}

fn request_of(action: &Action) -> Request {
    Request {
        action: action.clone(),
        permission: "x".to_owned(),
        patterns: Vec::new(),
        risk: Risk::Low,
        effect: String::new(),
        params: Value::Null,
        skill_hash: None,
        read_only: true,
    }
}

fn selected(name: &str, text: &str) -> Observation {
    let skill = SelectedSkill {
        name: name.to_owned(),
        source: Source::Builtin,
        hash: SkillHash("h".to_owned()),
        allowed_tools: None,
        run_mode: skill::metadata::RunMode::Inline,
        report: Value::Null,
    };
    Observation { loaded: vec![Loaded::Skill(skill)], ..Observation::of(text) }
}

#[test]
fn the_documented_script_is_run_on_the_file_the_request_names() {
    let output = Observation::of("exit code 0\n[stdout]\n# sales.csv\n3 rows\n");
    let (actions, answer) =
        check("Summarise \"sales.csv\", please.", &[("csv-report", true)], CSV, output);
    assert_eq!(
        actions,
        ["select_skills csv-report", "run_script csv-report/scripts/report.sh sales.csv"]
    );
    assert!(answer.starts_with("# sales.csv\n3 rows\n") && answer.contains(NOTE), "{answer}");
}

#[test]
fn without_a_file_that_fits_the_steps_are_handed_over() {
    for request in ["Summarise my data", "Summarise notes.txt"] {
        let (actions, answer) = check(request, &[("csv-report", true)], CSV, Observation::of(""));
        assert_eq!(actions, ["select_skills csv-report"]);
        assert!(answer.contains("1. Look at it.\n2. Report.") && answer.contains(NOTE), "{answer}");
    }
}

#[test]
fn a_script_that_failed_is_reported_with_its_reason_and_the_steps() {
    let failed = Observation::failed(&Refusal::new("ApprovalDenied", "the user said no", "ask"));
    let (actions, answer) = check("Summarise a.csv", &[("csv-report", true)], CSV, failed);
    assert_eq!(actions.len(), 2);
    assert!(answer.contains("ApprovalDenied") && answer.contains("1. Look at it."), "{answer}");
}

#[test]
fn a_request_that_nothing_fits_is_answered_honestly() {
    let (actions, answer) =
        check("Write a poem", &[("csv-report", false)], CSV, Observation::of(""));
    assert!(
        actions.is_empty() && answer.contains("csv-report") && answer.contains(NOTE),
        "{answer}"
    );
    assert!(check("Write a poem", &[], CSV, Observation::of("")).1.contains("No skill fits"));
}

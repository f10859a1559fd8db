#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::case::Case;
use crate::fingerprint::Fingerprints;

/// A program that does what the request says, in place of the real one.
const PROGRAM: &str = r#"#!/bin/sh
for request; do :; done
if [ "$1" = install ]; then
  case "$request" in *bad.zip) exit 4;; *messy.zip) touch "$HOME/.agent/skills/rest"; exit 4;; esac
  mkdir "$HOME/.agent/skills/good" && touch "$HOME/.agent/skills/good/SKILL.md"; exit 0
fi
finish() { printf '{"v":1,"seq":1,"ts":"","run_id":"r","turn":1,"type":"run_finished","data":{"status":"degraded","stop_reason":"%s","answer":"","usage":{},"spent":{}},"prev":""}\n' "$1"; }
answer() { printf '{"v":1,"seq":1,"ts":"","run_id":"r","turn":1,"type":"run_finished","data":{"status":"completed","stop_reason":"final_answer","answer":"%s","usage":{},"spent":{}},"prev":""}\n' "$1"; }
case "$request" in
  hang) sleep 600 & wait;;
  crash) echo "it broke" >&2; kill -SEGV $$;;
  misuse) echo "wrong words" >&2; exit 2;;
  explain) printf 'warning: old\nerror: no disk\n\nhint: buy one\n' >&2; answer late; exit 1;;
  degraded) echo "a note" >&2; answer none; exit 1;;
  panic) printf 'thread main panicked at x.rs:1:\nboom\nnote: more\n' >&2; exit 101;;
  unreachable) finish model_error; exit 1;;
  silent) exit 0;;
  garbage) echo 'not JSON'; answer late;;
  cut) answer done; printf '{"v":1,';;
  where) answer "$PWD $HOME";;
  files) answer "$(cat a.txt sub/b.txt)";;
  config) answer "$(tr -d '"' < "$HOME/.agent/config.json")";;
  settings) answer "$(tr -d '"' < "$HOME/../settings.json")";;
  arguments) answer "$*";;
  environment) answer "$(env | cut -d= -f1 | sort | tr '\n' ' ')";;
  meet-1) echo here > "$(dirname "$0")/meeting"; answer met;;
  meet-2) answer "$(cat "$(dirname "$0")/meeting")";;
  alone-*) echo "+$request" >> "$(dirname "$0")/log"; echo "-$request" >> "$(dirname "$0")/log"; answer done;;
  *Statement:*) answer "$SAYS";;
  write) mkdir -p .agent/runs/r/layer/upper; echo made > .agent/runs/r/layer/upper/out.txt; answer made;;
  ask) printf '{"v":1,"seq":1,"ts":"","run_id":"r","turn":1,"type":"question_asked","data":{"number":1,"about":"task","question":"Which?"},"prev":""}\n'; exit 3;;
  --answer=again) for request in ask; do printf '{"v":1,"seq":2,"ts":"","run_id":"r","turn":1,"type":"question_asked","data":{"number":2,"about":"task","question":"Which?"},"prev":""}\n'; exit 3; done;;
  --answer=*) answer "$*";;
  log) answer "$(git log --format=%s | tr '\n' '|') $(git status --short)";;
  smuggle) echo made > out.txt; answer made;;
esac
"#;

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("records")).unwrap();
        Self { folder }
    }

    fn options(&self) -> Options {
        Options {
            program: self.folder.path().join("program"),
            program_id: "1".to_owned(),
            model: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            config: Map::new(),
            elsewhere: self.folder.path().to_owned(),
            records: self.folder.path().join("records"),
            jobs: 2,
            time_limit: Duration::from_secs(60),
            grader: None,
        }
    }

    fn located(&self, input: &str, more: Value) -> Located {
        let mut case = json!({"id": input, "input": input});
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let case: Case = serde_json::from_value(case).unwrap();
        let folder = self.folder.path().to_owned();
        Located {
            case,
            suite: "s".to_owned(),
            file: folder.join("case.json"),
            sha256: String::new(),
            folder,
            brought: BTreeMap::new(),
            should_trigger: None,
        }
    }

    fn run(&self, cases: &[Located], options: &Options) -> BTreeMap<String, CaseResult> {
        let jobs: Vec<Job<'_>> = cases
            .iter()
            .map(|located| Job { located, number: 1, without: None, fingerprint: None })
            .collect();
        let done = Mutex::new(BTreeMap::new());
        run(&jobs, options, &AtomicBool::new(false), &|result| {
            done.lock().unwrap().insert(result.id.clone(), result);
        });
        done.into_inner().unwrap()
    }

    fn answer(&self, input: &str, more: Value) -> String {
        let results = self.run(&[self.located(input, more)], &self.options());
        let result = &results[input];
        result.answer.clone().unwrap_or_else(|| panic!("{:?}", result.error))
    }
}

#[test]
fn a_case_that_breaks_is_a_failed_case_and_the_others_go_on() {
    let world = World::new();
    let cases = [
        "crash",
        "misuse",
        "explain",
        "degraded",
        "panic",
        "unreachable",
        "silent",
        "garbage",
        "cut",
        "where",
        "hang",
    ]
    .map(|input| world.located(input, json!({})));
    let options = Options { time_limit: Duration::from_millis(300), ..world.options() };
    let began = Instant::now();
    let results = world.run(&cases, &options);
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "the hanging one was ended, with its children"
    );
    let errors: Vec<(&str, bool, Option<&str>)> = results
        .values()
        .map(|result| (result.id.as_str(), result.passed, result.error.as_deref()))
        .collect();
    assert_eq!(
        errors,
        [
            ("crash", false, Some("was killed by signal 11: it broke")),
            ("cut", true, None),
            ("degraded", true, None),
            ("explain", false, Some("ended with exit code 1: error: no disk; hint: buy one")),
            (
                "garbage",
                false,
                Some("line 1 of the record is not an event: expected ident at line 1 column 2")
            ),
            ("hang", false, Some("took longer than 0 s")),
            ("misuse", false, Some("ended with exit code 2: wrong words")),
            (
                "panic",
                false,
                Some("ended with exit code 101: thread main panicked at x.rs:1:; boom; note: more")
            ),
            ("silent", false, Some("the run left no record")),
            ("unreachable", false, Some("the run broke (`model_error`)")),
            ("where", true, None),
        ]
    );
}

#[test]
fn each_case_has_a_workspace_and_home_of_its_own_that_go_away() {
    let world = World::new();
    let answer = world.answer("where", json!({}));
    let (workspace, home) = answer.split_once(' ').unwrap();
    assert_ne!(workspace, home);
    assert!(!Path::new(workspace).exists() && !Path::new(home).exists());
    assert_ne!(world.answer("where", json!({})), answer);
    let names = world.answer("environment", json!({}));
    for name in names.split_whitespace() {
        assert!(
            ["HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "TZ", "_"].contains(&name),
            "{name}"
        );
    }
}

#[test]
fn files_settings_and_limits_reach_the_run() {
    let world = World::new();
    for (path, text) in [("inputs/a.txt", "one"), ("more/sub/b.txt", "two")] {
        let path = world.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(world.folder.path().join("sub")).unwrap();
    fs::write(world.folder.path().join("sub/b.txt"), "two").unwrap();
    assert_eq!(
        world.answer("files", json!({"setup": {"files": ["inputs/a.txt", "sub/b.txt"]}})),
        "onetwo"
    );
    let told = json!({"setup": {"skill_roots": ["inputs"], "approve": ["run_script:*"], "yes": true, "skill": "x"}, "constraints": {"deny_tools": ["grep"]}});
    let root = world.folder.path().join("inputs");
    let answer = world.answer("arguments", told);
    let (before, after) = answer.split_once(" --project-config ").unwrap();
    assert_eq!(before, "run --events --quiet --model offline");
    let (settings, after) = after.split_once(' ').unwrap();
    assert!(settings.ends_with("/settings.json"), "{settings}");
    assert_eq!(
        after,
        format!("--root {} --deny grep --yes --skill x -- arguments", root.display())
    );
}

#[test]
fn a_case_can_only_lower_what_the_user_has_set() {
    let world = World::new();
    let mut options = world.options();
    let users = json!({"budget": {"max_turns": 5, "max_cost_usd": null}, "execution": {"timeout_seconds": 60}, "security": {"max_skill_body_lines": 100}, "audit": {"store_prompts": false}});
    options.config = users.as_object().unwrap().clone();
    let check = |more: Value, expected: &str| {
        let case = world.located("config", more);
        let results = world.run(&[case], &options);
        assert_eq!(
            results["config"].answer.as_deref(),
            Some(expected),
            "{:?}",
            results["config"].error
        );
    };
    let with = |budget: &str, time: &str, lines: &str, rules: &str| {
        format!(
            "{{audit:{{store_prompts:false}},budget:{{{budget}}},execution:{{timeout_seconds:{time}}}{rules},security:{{max_skill_body_lines:{lines}}}}}"
        )
    };
    let same = "max_cost_usd:null,max_turns:5";
    check(json!({}), &with(same, "60", "100", ""));
    check(
        json!({"constraints": {"max_turns": 9, "max_script_seconds": 90}}),
        &with(same, "60", "100", ""),
    );
    check(
        json!({"constraints": {"max_turns": 2, "max_tool_calls": 7, "max_script_seconds": 1}}),
        &with("max_cost_usd:null,max_tool_calls:7,max_turns:2", "1", "100", ""),
    );
    let config = |lines: u32| json!({"setup": {"config": {"security": {"max_skill_body_lines": lines}, "audit": {"store_prompts": true}, "disclosure": "core"}}});
    check(config(9), &with(same, "60", "9", ""));
    check(config(900), &with(same, "60", "100", ""));
    check(
        json!({"setup": {"approve": ["grep", "write_file:a.txt", "write_file:b:c"]}}),
        &with(
            same,
            "60",
            "100",
            ",permissions:{grep:{*:allow},write_file:{a.txt:allow,b:c:allow}}",
        ),
    );
}

#[test]
fn what_a_case_says_about_settings_is_handed_over_as_a_projects_word() {
    let world = World::new();
    let setup = json!({"setup": {"config": {"disclosure": "core"}}});
    assert_eq!(world.answer("settings", setup.clone()), "{disclosure:core}");
    assert_eq!(world.answer("config", setup), "{}");
    assert_eq!(world.answer("settings", json!({})), "{}", "also where it says nothing");
}

#[test]
fn a_limit_that_no_clock_reaches_is_none() {
    let world = World::new();
    for seconds in [u64::MAX, 10_000_000_000_000_000_000] {
        let answer =
            world.answer("arguments", json!({"constraints": {"max_wall_seconds": seconds}}));
        assert!(answer.starts_with("run --events"), "{answer}");
    }
}

#[test]
fn what_a_run_writes_can_be_judged() {
    let world = World::new();
    let case = world.located(
        "write",
        json!({"expect": {"files": [{"path": "out.txt"}, {"path": "none.txt", "exists": false}]}}),
    );
    let results = world.run(&[case], &world.options());
    assert!(results["write"].passed, "{:?}", results["write"]);
    assert!(world.folder.path().join("records").join(&results["write"].record).is_file());
}

#[test]
fn a_workspace_that_changed_by_itself_is_a_failed_case() {
    let world = World::new();
    let results = world.run(&[world.located("smuggle", json!({}))], &world.options());
    let checks = &results["smuggle"].verdict.as_ref().unwrap().checks;
    let wrong: Vec<&str> =
        checks.iter().filter(|c| !c.passed).map(|c| c.message.as_str()).collect();
    assert_eq!(wrong, ["`out.txt` changed, but was not applied"]);
}

#[test]
fn questions_are_answered_one_after_the_other() {
    let world = World::new();
    let answered = |answers: Value| {
        let case = world.located("ask", json!({"setup": {"answers": answers}}));
        world.run(&[case], &world.options())["ask"].answer.clone()
    };
    assert_eq!(answered(json!([])), None);
    assert_eq!(answered(json!(["again"])), None);
    for answers in [json!(["Q1"]), json!(["again", "Q1", "never"])] {
        let said = answered(answers).unwrap();
        assert!(said.ends_with("--resume r --answer=Q1"), "{said}");
        assert!(
            said.starts_with("run --events --quiet --model offline --project-config "),
            "{said}"
        );
    }
}

#[test]
fn what_a_case_says_about_hands_is_handed_over() {
    let world = World::new();
    let apply = json!({"setup": {"apply": true}});
    assert_eq!(world.answer("config", apply), "{permissions:{apply_changes:{*:allow}}}");
    let silent = world.answer("arguments", json!({"setup": {"no_questions": true}}));
    assert!(silent.contains(" --no-questions -- "), "{silent}");
}

#[test]
fn commits_make_the_workspace_a_repository() {
    if std::process::Command::new("git").arg("--version").output().is_err() {
        println!("skipped: not installed: git");
        return;
    }
    let world = World::new();
    fs::write(world.folder.path().join("a.txt"), "a").unwrap();
    let setup = json!({"setup": {"files": ["a.txt"], "commits": ["one", "-two"]}});
    assert_eq!(world.answer("log", setup), "-two|one| ");
}

#[test]
fn files_are_held_against_the_expected_folder_of_a_case() {
    for (expected, wrong) in [
        (vec![("out.txt", "made\n"), (".gitkeep", "")], vec![]),
        (vec![("out.txt", "made")], vec![r#"`out.txt`: line 1 is "made\n", expected "made""#]),
        (
            vec![("out.txt", "made\nmore\n")],
            vec![r#"`out.txt`: line 2 is nothing, expected "more\n""#],
        ),
        (vec![("out.txt", "")], vec![r#"`out.txt`: line 1 is "made\n", expected nothing"#]),
        (
            vec![("sub/none.txt", ""), ("out.txt", "ma\u{e9}\n")],
            vec![
                r#"`out.txt`: line 1 is "made\n", expected "maé\n""#,
                "`sub/none.txt`: should be there, but is not",
            ],
        ),
    ] {
        let world = World::new();
        for (path, text) in expected {
            let path = world.folder.path().join("expected").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let results = world.run(&[world.located("write", json!({}))], &world.options());
        let checks = &results["write"].verdict.as_ref().unwrap().checks;
        let failed: Vec<&str> =
            checks.iter().filter(|c| !c.passed).map(|c| c.message.as_str()).collect();
        assert_eq!(failed, wrong);
    }
    let world = World::new();
    fs::create_dir(world.folder.path().join("expected")).unwrap();
    fs::write(world.folder.path().join("expected/out.txt"), b"ma\xff").unwrap();
    let results = world.run(&[world.located("write", json!({}))], &world.options());
    let checks = &results["write"].verdict.as_ref().unwrap().checks;
    let message = "`out.txt`: differs from `expected/` at byte 3";
    assert!(checks.iter().any(|check| check.message == message), "{checks:?}");
}

#[test]
fn a_file_outside_of_the_workspace_is_not_copied_there() {
    let world = World::new();
    for path in ["../x", "/etc/hostname"] {
        let results = world
            .run(&[world.located("where", json!({"setup": {"files": [path]}}))], &world.options());
        assert_eq!(
            results["where"].error.as_deref(),
            Some(format!("`{path}` leads outside the workspace").as_str())
        );
    }
    let results = world.run(
        &[world.located("where", json!({"setup": {"files": ["none.txt"]}}))],
        &world.options(),
    );
    assert!(results["where"].error.as_deref().unwrap().starts_with("cannot copy `"));
}

#[test]
fn a_stop_ends_what_is_under_way_and_begins_nothing_more() {
    let world = World::new();
    let cases = ["write", "hang", "where"].map(|input| world.located(input, json!({})));
    let jobs: Vec<Job<'_>> = cases
        .iter()
        .map(|located| Job { located, number: 1, without: None, fingerprint: None })
        .collect();
    let stop = AtomicBool::new(false);
    let done = Mutex::new(Vec::new());
    let options = Options { jobs: 1, ..world.options() };
    run(&jobs, &options, &stop, &|result| {
        done.lock().unwrap().push(result.id);
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(done.into_inner().unwrap(), ["write"]);
}

#[test]
fn a_grader_sees_its_own_environment_and_cases_do_not() {
    let world = World::new();
    let says = r#"{\"passed\": true, \"evidence\": \"PATH\"}"#;
    let grader = Grader {
        model: "judge".to_owned(),
        environment: vec![("SAYS".into(), says.into())],
        config: Map::new(),
    };
    let options = Options { grader: Some(grader), ..world.options() };
    let asserts = json!({"assertions": ["It names variables"]});
    let cases = ["environment", "silent"].map(|input| world.located(input, asserts.clone()));
    let results = world.run(&cases, &options);
    let evidence = |id: &str| {
        let [graded] = results[id].graded.as_slice() else { panic!("{:?}", results[id]) };
        (graded.passed, graded.evidence.clone())
    };
    assert_eq!(evidence("environment"), (true, "PATH".to_owned()));
    assert!(!results["environment"].answer.as_ref().unwrap().contains("SAYS"));
    assert_eq!(evidence("silent"), (false, "not judged: the run had no answer".to_owned()));
}

#[test]
fn as_many_cases_run_at_a_time_as_there_are_jobs() {
    let world = World::new();
    let meeting = world.folder.path().join("meeting");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &meeting,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let met = world
        .run(&["meet-1", "meet-2"].map(|input| world.located(input, json!({}))), &world.options());
    assert_eq!(met["meet-2"].answer.as_deref(), Some("here"), "each waited for the other");
    let cases: Vec<Located> =
        (0..8).map(|number| world.located(&format!("alone-{number}"), json!({}))).collect();
    let results = world.run(&cases, &Options { jobs: 1, ..world.options() });
    assert_eq!(results.len(), 8);
    let log = fs::read_to_string(world.folder.path().join("log")).unwrap();
    let expected: String =
        (0..8).map(|number| format!("+alone-{number}\n-alone-{number}\n")).collect();
    assert_eq!(log, expected, "one after the other");
}

#[test]
fn records_of_different_jobs_have_different_names() {
    let world = World::new();
    let cases = ["a b", "a_b", "a/b"].map(|id| world.located(id, json!({})));
    let mut names = std::collections::BTreeSet::new();
    for located in &cases {
        for (number, without) in [(1, None), (2, None), (1, Some("x"))] {
            names.insert(Job { located, number, without, fingerprint: None }.record());
        }
    }
    assert_eq!(names.len(), 9);
    assert!(names.iter().all(|name| !name.contains('/')));
}

#[test]
fn a_result_is_told_from_that_of_another_case_run_model_or_program() {
    let world = World::new();
    let options = world.options();
    let other = Options { model: Some("other".to_owned()), ..world.options() };
    let newer = Options { program_id: "2".to_owned(), ..world.options() };
    let (one, edited) = (
        world.located("a", json!({})),
        world.located("a", json!({"expect": {"stop_reason": "final_answer"}})),
    );
    let mut fingerprints = std::collections::BTreeSet::new();
    for (located, number, without, options) in [
        (&one, 1, None, &options),
        (&one, 2, None, &options),
        (&one, 1, Some("x"), &options),
        (&edited, 1, None, &options),
        (&one, 1, None, &other),
        (&one, 1, None, &newer),
    ] {
        let made = || Fingerprints::new(options).of(located, number, without).unwrap();
        fingerprints.insert(made());
        assert_eq!(made(), made());
    }
    assert_eq!(fingerprints.len(), 6);
}

#[test]
fn what_cannot_be_read_has_no_fingerprint() {
    let world = World::new();
    let skill = world.folder.path().join("skill");
    fs::create_dir(&skill).unwrap();
    let _pipe = std::os::unix::net::UnixListener::bind(skill.join("socket")).unwrap();
    let case = world.located("a", json!({"setup": {"preinstall_skills": ["skill"]}}));
    assert_eq!(Fingerprints::new(&world.options()).of(&case, 1, None), None);
}

#[test]
fn a_pack_that_must_be_refused_leaves_nothing_behind() {
    let world = World::new();
    for (pack, expected) in [
        ("bad.zip", None),
        ("good.zip", Some("should have been refused, but was installed")),
        ("messy.zip", Some("was refused, but left files behind")),
    ] {
        let path = world.folder.path().join(pack);
        fs::write(&path, "").unwrap();
        let case = world.located("where", json!({"setup": {"refused_skills": [pack]}}));
        let results = world.run(&[case], &world.options());
        let expected = expected.map(|reason| format!("`{}` {reason}", path.display()));
        assert_eq!(results["where"].error, expected, "{pack}");
    }
}

//! Whole runs on this machine: commands, questions, plans and changes, with their records, killed and taken up again.

#![cfg(all(target_os = "linux", not(portable)))]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use agent::action::{Action, Decision};
use agent::budget::Usage;
use agent::context::{Prompt, Role};
use agent::event::{Event, EventData};
use agent::model::{Cancel, Model};
use agent::question::{About, Question, QuestionAnswer};
use agent::reply::{Raw, Reply};
use permission::{Answer, ApprovalRequest, Mode, Permission};
use serde_json::{Value, json};
use skillful_runtime::changes::KeptRun;
use skillful_runtime::driver::{Approver, Ending, Listener};
use skillful_runtime::journal::{self, ProblemKind};
use skillful_runtime::open::{Runtime, Start};
use skillful_runtime::runner::Finished;
use tempfile::TempDir;
use tools::changes::Selection;

/// A folder with a project and a home.
struct Place {
    _folder: TempDir,
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for part in ["home", "project/.git"] {
            fs::create_dir_all(root.join(part)).unwrap();
        }
        fs::write(root.join("project/old.txt"), "old\n").unwrap();
        Self { _folder: folder, root }
    }

    fn runtime(&self, settings: &[(&str, &str)]) -> Runtime {
        let own = [("PATH", "/usr/bin:/bin"), ("HOME", self.root.join("home").to_str().unwrap())]
            .map(|(name, value)| (name.into(), value.into()));
        let settings = settings.iter().map(|(name, value)| (name.into(), value.into()));
        Runtime::open(Start {
            directory: Some(self.root.join("project")),
            environment: own.into_iter().chain(settings).collect(),
            ..Start::default()
        })
        .unwrap()
    }

    fn project(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join("project").join(name)).ok()
    }

    fn record(&self) -> PathBuf {
        let runs = fs::read_dir(self.root.join("project/.agent/runs")).unwrap();
        let mut found: Vec<PathBuf> = runs.map(|entry| entry.unwrap().path()).collect();
        found.retain(|path| path.join("events.jsonl").is_file());
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn run_id(&self) -> String {
        self.record().file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn events(&self) -> Vec<Event> {
        journal::read(&self.record()).unwrap()
    }

    fn kinds(&self) -> Vec<String> {
        self.events().iter().map(|event| event.data.kind().to_owned()).collect()
    }

    fn summary(&self) -> Value {
        serde_json::from_slice(&fs::read(self.record().join("run.json")).unwrap()).unwrap()
    }

    fn problems(&self) -> Vec<ProblemKind> {
        let owner = self.runtime(&[]).known_owner(&self.run_id()).unwrap();
        let verified = journal::verify(&self.record(), Some(&owner)).unwrap();
        verified.problems.iter().map(|problem| problem.kind).collect()
    }

    /// The record is what was written, and the run comes out the same when it is repeated.
    fn check_record(&self) {
        assert_eq!(self.problems(), []);
        let events = self.events();
        let catalog = journal::catalog(&self.record()).unwrap();
        let setup = journal::setup_of(&events[0], catalog).unwrap();
        assert_eq!(journal::replay(setup, &events), Ok(()));
    }

    fn kept(&self, runtime: &Runtime) -> KeptRun {
        let index = runtime.index().unwrap();
        KeptRun::open(runtime, &index, &self.run_id(), "runs apply").unwrap()
    }
}

/// A model that says one line after the other; where it is shows in the prompt.
struct Lines<'s>(&'s [Value]);

impl Model for Lines<'_> {
    fn decide(&mut self, prompt: &Prompt<'_>, _: &Cancel, _: &mut dyn FnMut(&str)) -> Reply {
        let said = prompt.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let action: Action = serde_json::from_value(self.0[said].clone()).unwrap();
        let decision = Decision { action, plan_update: None, diagnostics: None };
        Reply::decided(decision, Usage::default(), Raw::default())
    }
}

fn command(line: &str) -> Value {
    json!({"type": "call_tool", "payload": {"tool": "run_command", "params": {"command": line}}})
}

fn finish(text: &str) -> Value {
    json!({"type": "final_answer", "payload": {"content": text}})
}

fn question(text: &str, is_secret: bool) -> Value {
    json!({"type": "ask_user", "payload": {"question": text, "secret": is_secret}})
}

/// A person; what they do is up to the test.
struct Person<A, Q> {
    permit: A,
    say: Q,
}

impl<A, Q> Approver for Person<A, Q>
where
    A: FnMut(&ApprovalRequest) -> Option<Answer>,
    Q: FnMut(&Question) -> Option<QuestionAnswer>,
{
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        (self.permit)(question)
    }

    fn question(&mut self, question: &Question) -> Option<QuestionAnswer> {
        (self.say)(question)
    }
}

fn yes(_: &ApprovalRequest) -> Option<Answer> {
    Some(Answer::Once)
}

/// Lets commands run, and looks at the changes another day.
fn later(question: &ApprovalRequest) -> Option<Answer> {
    Some(if question.tool == Permission::ApplyChanges { Answer::Later } else { Answer::Once })
}

fn nobody(_: &Question) -> Option<QuestionAnswer> {
    None
}

/// Sees what happens, and may end the process there.
struct Watch<'w> {
    seen: &'w mut String,
    killed_at: fn(&Event) -> bool,
}

impl Listener for Watch<'_> {
    fn event(&mut self, event: &Event) {
        *self.seen += &json!(event).to_string();
        assert!(!(self.killed_at)(event), "killed");
    }

    fn output(&mut self, text: &str) {
        *self.seen += text;
    }
}

fn never(_: &Event) -> bool {
    false
}

/// Begins a run, or goes on with it; nothing where it was killed.
fn work(
    runtime: &Runtime,
    lines: &[Value],
    resumed: Option<&str>,
    approver: &mut dyn Approver,
    watch: &mut Watch<'_>,
) -> Option<Finished> {
    let mut model = Lines(lines);
    let work = || {
        let runner = runtime.runner().unwrap().model("lines", &mut model);
        let runner = runner.approver(approver).listener(watch);
        match resumed {
            None => runner.run("Do it."),
            Some(run_id) => runner.resume(run_id),
        }
        .unwrap()
    };
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The same, for what nobody watches.
fn begin(runtime: &Runtime, lines: &[Value], approver: &mut dyn Approver) -> Finished {
    let mut seen = String::new();
    let watch = &mut Watch { seen: &mut seen, killed_at: never };
    work(runtime, lines, None, approver, watch).unwrap()
}

fn observed(events: &[Event]) -> Vec<Option<String>> {
    let recorded = events.iter().filter_map(|event| match &event.data {
        EventData::ObservationRecorded(recorded) => Some(recorded.code.clone()),
        _ => None,
    });
    recorded.collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.symlink_metadata().unwrap() {
            about if about.is_dir() => files(&path, found),
            about if about.is_file() => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn a_plan_is_made_approved_and_carried_out() {
    let place = Place::new();
    let runtime = place.runtime(&[("SKILLFUL_MODE", "plan")]);
    let lines = [
        command("echo early > made.txt"),
        finish("1. Make it."),
        command("echo hi > made.txt"),
        finish("done"),
    ];
    let mut asked = Vec::new();
    let mut person = Person {
        permit: |question: &ApprovalRequest| {
            asked.push(question.tool);
            Some(Answer::Once)
        },
        say: |question: &Question| {
            assert_eq!((question.about, question.question.as_str()), (About::Plan, "1. Make it."));
            Some(QuestionAnswer::CarryOut(Mode::Ask))
        },
    };
    let finished = begin(&runtime, &lines, &mut person);
    assert_eq!(finished.answer(), "done");
    assert_eq!(asked, [Permission::RunCommand, Permission::ApplyChanges]);
    let codes = observed(&place.events());
    assert_eq!(codes.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, false]);
    assert_eq!(place.project("made.txt").as_deref(), Some("hi\n"));
    assert_eq!(place.summary()["changes"]["applied"][0]["paths"], json!(["made.txt"]));
    place.check_record();
}

#[test]
fn a_plan_that_was_approved_in_an_earlier_process_is_carried_out_in_the_next() {
    let place = Place::new();
    let runtime = place.runtime(&[("SKILLFUL_MODE", "plan")]);
    let lines = [finish("The plan."), command("echo hi > made.txt"), finish("done")];
    let approve = |_: &Question| Some(QuestionAnswer::CarryOut(Mode::Contained));
    let mut seen = String::new();
    let mut watch = Watch {
        seen: &mut seen,
        killed_at: |event| matches!(event.data, EventData::ActionExecuted(_)),
    };
    let mut asked = 0;
    let mut person = Person { permit: yes, say: approve };
    assert!(work(&runtime, &lines, None, &mut person, &mut watch).is_none());
    let mut watch = Watch { seen: &mut String::new(), killed_at: never };
    let mut person = Person {
        permit: |_: &ApprovalRequest| {
            asked += 1;
            Some(Answer::Once)
        },
        say: |_: &Question| panic!("it was approved"),
    };
    let lines = [&lines[..2], &[command("echo ho > other.txt"), finish("done")]].concat();
    let finished = work(&runtime, &lines, Some(&place.run_id()), &mut person, &mut watch).unwrap();
    assert_eq!(finished.answer(), "done");
    assert_eq!(asked, 2, "what was approved before lets nothing through unasked");
    assert_eq!(place.project("other.txt").as_deref(), Some("ho\n"));
    place.check_record();
}

#[test]
fn a_secret_answer_reaches_programs_and_nothing_else() {
    const SECRET: &str = "horse9";
    let place = Place::new();
    let runtime = place.runtime(&[]);
    let line =
        "echo \"it is $ANSWER_1.\"; printf %s \"$ANSWER_1\" >&2; test \"$ANSWER_1\" = horse''9";
    let lines = [question("The password?", true), command(line), finish("done")];
    let mut seen = String::new();
    let mut watch = Watch { seen: &mut seen, killed_at: never };
    let mut person = Person {
        permit: yes,
        say: |_: &Question| Some(QuestionAnswer::Said(vec![SECRET.to_owned()])),
    };
    let finished = work(&runtime, &lines, None, &mut person, &mut watch).unwrap();
    assert_eq!(finished.answer(), "done");
    assert_eq!(observed(&place.events()), [None, None], "the program had it: {seen}");
    assert!(seen.contains("it is [redacted:environment]."), "{seen}");
    assert!(!seen.contains(SECRET), "{seen}");
    let mut found = Vec::new();
    files(&place.record(), &mut found);
    assert!(found.len() > 5);
    for file in found {
        let bytes = fs::read(&file).unwrap();
        let has = bytes.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes());
        assert!(!has, "{} has it", file.display());
    }
    place.check_record();
}

#[test]
fn a_secret_that_cannot_be_kept_is_not_handed_on() {
    let place = Place::new();
    let lines = [question("The PIN?", true), command("test -z \"$ANSWER_1\""), finish("done")];
    let say = |_: &Question| Some(QuestionAnswer::Said(vec!["42".to_owned()]));
    begin(&place.runtime(&[]), &lines, &mut Person { permit: yes, say });
    assert_eq!(observed(&place.events()), [None, None]);
    let answered = place.events().into_iter().find_map(|event| match event.data {
        EventData::QuestionAnswered(answered) => Some(answered.answer),
        _ => None,
    });
    assert!(matches!(answered, Some(QuestionAnswer::No(Some(_)))));
}

#[test]
fn a_question_is_put_in_the_words_of_the_model_and_noted_without_secrets() {
    let place = Place::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("Is {token} the token?");
    let lines = [question(&text, false), finish("done")];
    let mut asked = Vec::new();
    let say = |question: &Question| {
        asked.push(question.question.clone());
        Some(QuestionAnswer::Said(vec!["yes".to_owned()]))
    };
    begin(&place.runtime(&[]), &lines, &mut Person { permit: yes, say });
    assert_eq!(asked, [text]);
    let events = fs::read_to_string(place.record().join("events.jsonl")).unwrap();
    assert!(!events.contains(&token) && events.contains("Is [redacted:github_token] the token?"));
    place.check_record();
}

#[test]
fn a_run_that_waits_for_an_answer_goes_on_with_it() {
    let place = Place::new();
    let runtime = place.runtime(&[]);
    let lines = [question("Which quarter?", false), finish("done")];
    let parked = begin(&runtime, &lines, &mut Person { permit: yes, say: nobody });
    assert!(matches!(&parked.ending, Ending::Parked(asked) if asked.question == "Which quarter?"));
    drop(parked);
    place.check_record();
    let mut watch = Watch { seen: &mut String::new(), killed_at: never };
    let say = |_: &Question| Some(QuestionAnswer::Said(vec!["Q1".to_owned()]));
    let mut person = Person { permit: yes, say };
    let finished = work(&runtime, &lines, Some(&place.run_id()), &mut person, &mut watch).unwrap();
    assert_eq!(finished.answer(), "done");
    let kinds = place.kinds();
    for kind in ["question_asked", "question_answered", "run_finished"] {
        assert_eq!(kinds.iter().filter(|found| **found == kind).count(), 1, "{kind}");
    }
    place.check_record();
}

#[test]
fn a_run_that_was_killed_in_a_question_asks_it_again() {
    let place = Place::new();
    let runtime = place.runtime(&[]);
    let lines = [question("Which quarter?", false), finish("done")];
    let mut watch = Watch {
        seen: &mut String::new(),
        killed_at: |event| matches!(event.data, EventData::QuestionAnswered(_)),
    };
    let mut asked = 0;
    let mut person = Person {
        permit: yes,
        say: |_: &Question| {
            asked += 1;
            Some(QuestionAnswer::Said(vec![format!("Q{asked}")]))
        },
    };
    assert!(work(&runtime, &lines, None, &mut person, &mut watch).is_none());
    watch.killed_at = never;
    let finished = work(&runtime, &lines, Some(&place.run_id()), &mut person, &mut watch).unwrap();
    assert_eq!((finished.answer(), asked), ("done", 2));
    let events = place.events();
    let answers = events.iter().filter_map(|event| match &event.data {
        EventData::QuestionAnswered(answered) => Some(answered.answer.clone()),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [QuestionAnswer::Said(vec!["Q2".to_owned()])]);
    place.check_record();
}

#[test]
fn a_run_that_was_killed_in_a_command_has_what_it_wrote_and_does_not_run_it_again() {
    let place = Place::new();
    let runtime = place.runtime(&[]);
    let lines = [command("echo once >> made.txt"), finish("done")];
    let mut watch = Watch {
        seen: &mut String::new(),
        killed_at: |event| matches!(event.data, EventData::ActionExecuted(_)),
    };
    let mut person = Person { permit: yes, say: nobody };
    assert!(work(&runtime, &lines, None, &mut person, &mut watch).is_none());
    assert_eq!(place.project("made.txt"), None);
    watch.killed_at = never;
    work(&runtime, &lines, Some(&place.run_id()), &mut person, &mut watch).unwrap();
    assert_eq!(observed(&place.events()), [Some("Interrupted".to_owned()), None]);
    assert_eq!(place.project("made.txt").as_deref(), Some("once\n"));
    place.check_record();
}

fn is_applied(event: &Event) -> bool {
    matches!(&event.data, EventData::ActionExecuted(executed) if executed.observation.applied.is_some())
}

#[test]
fn a_run_that_was_killed_after_its_changes_arrived_knows_it() {
    let place = Place::new();
    let runtime = place.runtime(&[]);
    let lines = [
        command("echo new > made.txt; echo more >> old.txt"),
        json!({"type": "apply_changes", "payload": {}}),
        command("echo again >> old.txt"),
        finish("done"),
    ];
    let mut asked = 0;
    let mut person = Person {
        permit: |question: &ApprovalRequest| {
            asked += usize::from(question.tool == Permission::ApplyChanges);
            Some(Answer::Once)
        },
        say: nobody,
    };
    let mut watch = Watch { seen: &mut String::new(), killed_at: is_applied };
    assert!(work(&runtime, &lines, None, &mut person, &mut watch).is_none());
    assert_eq!(place.project("old.txt").as_deref(), Some("old\nmore\n"));
    watch.killed_at = never;
    work(&runtime, &lines, Some(&place.run_id()), &mut person, &mut watch).unwrap();
    assert_eq!(asked, 2, "once for each change set");
    assert_eq!(observed(&place.events()), vec![None; 4]);
    assert_eq!(place.project("old.txt").as_deref(), Some("old\nmore\nagain\n"));
    let summary = place.summary();
    assert_eq!(summary["changes"]["applied"].as_array().unwrap().len(), 2, "{summary}");
    assert_eq!(summary["changes"]["kept"], Value::Null);
    place.check_record();
    let mut kept = place.kept(&runtime);
    for applied in kept.applied().unwrap().into_iter().rev() {
        kept.undo(&applied).unwrap();
    }
    drop(kept);
    assert_eq!(
        (place.project("old.txt").as_deref(), place.project("made.txt")),
        (Some("old\n"), None)
    );
    place.check_record();
}

/// A run that has ended, whose changes nobody has looked at.
fn ended(place: &Place) -> Runtime {
    let runtime = place.runtime(&[]);
    let lines = [command("echo new > made.txt; rm old.txt"), finish("done")];
    begin(&runtime, &lines, &mut Person { permit: later, say: nobody });
    assert_eq!((place.project("made.txt"), place.project("old.txt").is_some()), (None, true));
    runtime
}

#[test]
fn what_becomes_of_changes_after_the_end_is_in_the_record() {
    let place = Place::new();
    let runtime = ended(&place);
    place.check_record();
    assert_eq!(place.summary()["changes"]["kept"]["paths"], json!(["made.txt", "old.txt"]));
    assert_eq!(place.kinds().last().unwrap(), "run_finished");
    let mut kept = place.kept(&runtime);
    let set = kept.collect().unwrap();
    kept.apply(&set, &Selection::default()).unwrap();
    drop(kept);
    assert_eq!(
        (place.project("made.txt").as_deref(), place.project("old.txt")),
        (Some("new\n"), None)
    );
    let kinds = place.kinds();
    assert_eq!(kinds[kinds.len() - 3..], ["run_finished", "changes_applied", "changes_made"]);
    let summary = place.summary();
    assert_eq!(summary["changes"]["applied"][0]["paths"], json!(["made.txt", "old.txt"]));
    assert_eq!(summary["changes"]["kept"], Value::Null);
    place.check_record();
    let mut kept = place.kept(&runtime);
    let applied = kept.applied().unwrap().remove(0);
    kept.undo(&applied).unwrap();
    drop(kept);
    assert_eq!(
        (place.project("made.txt"), place.project("old.txt").as_deref()),
        (None, Some("old\n"))
    );
    assert_eq!(place.kinds().last().unwrap(), "changes_undone");
    assert_eq!(place.summary()["changes"]["undone"].as_array().unwrap().len(), 1);
    place.check_record();
}

/// A record whose changes were applied after the end, and which somebody then touched.
fn forged(forge: impl FnOnce(&Path)) -> Vec<ProblemKind> {
    let place = Place::new();
    let runtime = ended(&place);
    let mut kept = place.kept(&runtime);
    let set = kept.collect().unwrap();
    kept.apply(&set, &Selection::default()).unwrap();
    drop(kept);
    forge(&place.record());
    place.problems()
}

#[test]
fn a_forged_epilogue_shows() {
    let edit = |name: &'static str, from: &'static str, to: &'static str| {
        move |record: &Path| {
            let path = record.join(name);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{text}");
            let place = text.rfind(from).unwrap();
            let text = format!("{}{to}{}", &text[..place], &text[place + from.len()..]);
            fs::write(path, text).unwrap();
        }
    };
    assert_eq!(forged(|_| {}), []);
    let plan = edit("applied/0001/plan.json", "made.txt", "mode.txt");
    assert!(forged(plan).contains(&ProblemKind::Reference));
    assert!(!forged(edit("events.jsonl", "\"deleted\":0", "\"deleted\":7")).is_empty());
    assert!(!forged(edit("run.json", "made.txt", "mode.txt")).is_empty());
    // An end that says that everything was taken back.
    assert!(!forged(edit("events.jsonl", "\"changes_applied\"", "\"changes_undone\"")).is_empty());
    let cut = forged(|record| {
        let path = record.join("events.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        fs::write(path, lines[..lines.len() - 2].join("\n") + "\n").unwrap();
    });
    assert!(cut.contains(&ProblemKind::Missing), "{cut:?}");
    let added = forged(|record| {
        let path = record.join("events.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let last = text.lines().last().unwrap();
        fs::write(&path, format!("{text}{last}\n")).unwrap();
    });
    assert!(!added.is_empty());
}

#[test]
fn a_plan_that_the_program_did_not_write_is_neither_finished_nor_taken_back() {
    let place = Place::new();
    let runtime = place.runtime(&[]);
    let lines = [command("echo new > made.txt"), finish("done")];
    let mut watch = Watch { seen: &mut String::new(), killed_at: never };
    let mut person = Person { permit: yes, say: nobody };
    work(&runtime, &lines, None, &mut person, &mut watch).unwrap();
    assert_eq!(place.project("made.txt").as_deref(), Some("new\n"));
    // The same list, but for another file, as somebody would write it who has no key.
    let applied = place.record().join("applied");
    fs::create_dir_all(applied.join("0002/slots")).unwrap();
    let plan = fs::read_to_string(applied.join("0001/plan.json")).unwrap();
    fs::write(applied.join("0002/plan.json"), plan.replace("made.txt", "evil.txt")).unwrap();
    fs::copy(applied.join("0001/seal"), applied.join("0002/seal")).unwrap();
    fs::write(applied.join("0002/slots/1"), "new\n").unwrap();
    fs::write(applied.join("0002/phase"), "\"apply\"").unwrap();
    let marker = place.record().with_file_name(format!(".applying-{}", place.run_id()));
    fs::write(marker, "").unwrap();
    let told = runtime.finish_interrupted_changes();
    assert!(told[0].contains("is damaged"), "{told:?}");
    assert_eq!(place.project("evil.txt"), None);
    fs::write(applied.join("0002/phase"), "\"applied\"").unwrap();
    assert_eq!(place.kept(&runtime).applied().unwrap_err().code, "DamagedRecord");
    fs::remove_dir_all(applied.join("0002")).unwrap();
    let mut kept = place.kept(&runtime);
    let one = kept.applied().unwrap().remove(0);
    assert_eq!(kept.undo(&one).unwrap(), ["made.txt"]);
}

#[test]
fn a_folder_that_became_a_link_is_noted_as_applied() {
    let place = Place::new();
    let runtime = place.runtime(&[]);
    fs::create_dir(runtime.surroundings.working_directory.join("d")).unwrap();
    fs::write(runtime.surroundings.working_directory.join("d/x"), "x").unwrap();
    let lines = [command("mv d e; ln -s e d"), finish("done")];
    let mut watch = Watch { seen: &mut String::new(), killed_at: never };
    let mut person = Person { permit: yes, say: nobody };
    work(&runtime, &lines, None, &mut person, &mut watch).unwrap();
    assert_eq!(place.project("d/x").as_deref(), Some("x"));
    assert_eq!(observed(&place.events()).last(), Some(&None));
    let summary = place.summary();
    assert_eq!(summary["changes"]["applied"].as_array().unwrap().len(), 1, "{summary}");
    assert_eq!(summary["changes"]["kept"], Value::Null);
}

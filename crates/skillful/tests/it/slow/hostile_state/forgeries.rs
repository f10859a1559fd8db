//! Records that somebody else made, or made from a genuine one.
//!
//! A chain of hashes is no secret, so each forged record has a sound one where that makes it more dangerous.

use std::fs;

use serde_json::{Value, json};

use super::stage::{Genuine, Stage, change_strings, link};
use super::tricks::RAW;
use crate::forge::{forge, hash, of};

/// Makes a record, and answers with its run.
type Forge = fn(&Stage, &Genuine) -> String;

/// A run that would be the newest for a long time.
const NEWEST: &str = "99991231_235959_zzzz";

/// Those that take long to look at, in a program that is built for tests.
pub(crate) const LARGE: &[&str] = &[
    "a hundred generations",
    "one long text in every event",
    "many short events",
    "events of many values",
    "a summary of many values",
    "seals of many commits",
];

/// All of them, by what is wrong with them.
pub(crate) const FORGERIES: &[(&str, Forge)] = &[
    ("a sound chain that nobody signed", |stage, genuine| waiting(stage, genuine, |_| {})),
    ("an approval is already there", |stage, genuine| {
        waiting(stage, genuine, |events| {
            let mut granted = events.last().unwrap().clone();
            granted["type"] = json!("approval_granted");
            granted["data"] = json!({"answer": {"answer": "yes", "scope": "always"}, "by": "user"});
            events.push(granted);
        })
    }),
    ("another action than the planned one", |stage, genuine| {
        waiting(stage, genuine, |events| {
            allow(events, "read_file");
            of(events, "action_planned")["data"]["action"]["payload"] =
                json!({"tool": "read_file", "params": {"path": "README.md"}});
        })
    }),
    ("an action that is called harmless", |stage, genuine| {
        waiting(stage, genuine, |events| allow(events, "read_file"))
    }),
    ("a script that is called harmless", |stage, genuine| {
        waiting(stage, genuine, |events| {
            let script = json!({"type": "run_script", "payload": {"skill": "tidy", "script": "scripts/mark.sh", "args": []}});
            of(events, "action_planned")["data"]["action"] = script.clone();
            allow(events, "read_file");
            of(events, "action_validated")["data"]["prepared"]["request"]["action"] = script;
        })
    }),
    ("a path outside of the project", |stage, genuine| {
        let target = stage.path("home/.bashrc");
        waiting(stage, genuine, |events| {
            for name in
                ["action_planned", "action_validated", "model_response", "approval_required"]
            {
                change_strings(&mut of(events, name)["data"], &|text| match text {
                    "Makefile" => target.display().to_string(),
                    text => text.to_owned(),
                });
            }
        })
    }),
    ("a record of no workspace", |stage, genuine| {
        waiting(stage, genuine, |events| {
            events[0]["data"]["setup"]["facts"].as_object_mut().unwrap().remove("workspace");
        })
    }),
    ("a model of its own", |stage, genuine| {
        waiting(stage, genuine, |events| {
            let facts = &mut events[0]["data"]["setup"]["facts"];
            facts["model"] = json!("scripted:../asks.json");
            facts["server"] = json!("http://127.0.0.1:1/");
            events.truncate(1);
        })
    }),
    ("a budget without end", |stage, genuine| {
        waiting(stage, genuine, |events| {
            let budget = events[0]["data"]["setup"]["budget"].as_object_mut().unwrap();
            budget.values_mut().for_each(|limit| *limit = json!(u64::MAX));
        })
    }),
    ("under the newest name", |stage, genuine| {
        stage.shell(
            &format!("cp -a \"$1\" .agent/runs/{NEWEST}"),
            &stage.run_folder(&genuine.waiting),
        );
        NEWEST.to_owned()
    }),
    ("under the newest name, with a sound chain", |stage, genuine| {
        let own = stage.run_folder(&genuine.waiting);
        fs::rename(own, stage.run_folder(NEWEST)).unwrap();
        forge(&stage.run_folder(NEWEST), |events| {
            events.iter_mut().for_each(|event| event["run_id"] = json!(NEWEST));
            events[0]["data"]["setup"]["run_id"] = json!(NEWEST);
        });
        NEWEST.to_owned()
    }),
    ("of another home", |stage, genuine| shelved(stage, &genuine.other_home)),
    ("of another workspace", |stage, genuine| shelved(stage, &genuine.other_workspace)),
    ("seals of another run", |stage, genuine| {
        let [one, other] = [&genuine.finished, &genuine.waiting].map(|run| stage.run_folder(run));
        fs::copy(one.join("events.seal"), other.join("events.seal")).unwrap();
        genuine.waiting.clone()
    }),
    ("the events of another run", |stage, genuine| {
        let [one, other] = [&genuine.finished, &genuine.waiting].map(|run| stage.run_folder(run));
        for name in ["events.jsonl", "events.seal"] {
            fs::copy(other.join(name), one.join(name)).unwrap();
        }
        genuine.finished.clone()
    }),
    ("runs that change places", |stage, genuine| {
        let [one, other] = [&genuine.finished, &genuine.waiting].map(|run| stage.run_folder(run));
        let between = stage.run_folder(".between");
        fs::rename(&one, &between).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::rename(&between, &other).unwrap();
        genuine.finished.clone()
    }),
    ("signatures that are made up", |stage, genuine| {
        signatures(stage, genuine, |_| format!("made:{}", "0".repeat(64)))
    }),
    ("signatures that call it adopted", |stage, genuine| {
        signatures(stage, genuine, |mac| mac.replace("made:", "adopted:"))
    }),
    ("signatures of the commit before", |stage, genuine| {
        let path = stage.run_folder(&genuine.waiting).join("events.seal");
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap().rsplit_once(' ').unwrap().1.to_owned();
        signatures(stage, genuine, |_| first.clone())
    }),
    ("signatures with escapes", |stage, genuine| {
        signatures(stage, genuine, |mac| format!("{mac}{RAW}"))
    }),
    ("seals without events", |stage, genuine| {
        fs::write(stage.run_folder(&genuine.waiting).join("events.jsonl"), "").unwrap();
        genuine.waiting.clone()
    }),
    ("events cut off within a signed commit", |stage, genuine| {
        cut(stage, &genuine.waiting, |length| length - 40)
    }),
    ("events cut in half", |stage, genuine| cut(stage, &genuine.waiting, |length| length / 2)),
    ("the first event cut off", |stage, genuine| cut(stage, &genuine.waiting, |_| 100)),
    ("an event less", |stage, genuine| waiting(stage, genuine, |events| drop(events.remove(2)))),
    ("an event twice", |stage, genuine| {
        waiting(stage, genuine, |events| events.insert(2, events[2].clone()))
    }),
    ("events the other way round", |stage, genuine| {
        waiting(stage, genuine, |events| events.reverse())
    }),
    ("a version of the future", |stage, genuine| {
        waiting(stage, genuine, |events| events.iter_mut().for_each(|event| event["v"] = json!(99)))
    }),
    ("numbers that are too large", |stage, genuine| {
        let run = waiting(stage, genuine, |events| {
            events.iter_mut().for_each(|event| event["turn"] = json!(u64::MAX));
        });
        let path = stage.run_folder(&run).join("events.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"seq\":2,", &format!("\"seq\":{},", u64::MAX))).unwrap();
        run
    }),
    ("escapes in every text", |stage, genuine| {
        let change = |text: &str| format!("{text}{RAW}");
        waiting(stage, genuine, |events| {
            for event in events {
                for name in ["ts", "run_id", "data"] {
                    change_strings(&mut event[name], &change);
                }
            }
        })
    }),
    ("escapes instead of every text", |stage, genuine| {
        finished(stage, genuine, |events| {
            for event in events {
                for name in ["ts", "run_id", "data"] {
                    change_strings(&mut event[name], &|_| RAW.to_owned());
                }
            }
        })
    }),
    ("data that is something else", |stage, genuine| {
        finished(stage, genuine, |events| {
            let others =
                [json!(null), json!([]), json!("text"), json!(1e300), json!({"setup": []})];
            for (event, data) in events.iter_mut().zip(others.iter().cycle()) {
                event["data"] = data.clone();
            }
        })
    }),
    ("names of runs that are paths", |stage, genuine| {
        finished(stage, genuine, |events| {
            for event in events {
                event["run_id"] = json!("../../../home");
            }
        })
    }),
    ("child runs that are paths", |stage, genuine| {
        finished(stage, genuine, |events| {
            let facts = &mut of(events, "action_executed")["data"]["observation"]["facts"];
            facts["child_run"] = json!("../../../home/.ssh");
        })
    }),
    ("a run that is its own child", |stage, genuine| {
        let run = genuine.finished.clone();
        finished(stage, genuine, move |events| {
            of(events, "action_executed")["data"]["observation"]["facts"]["child_run"] = json!(run);
        })
    }),
    ("a hundred generations", |stage, genuine| {
        let own = stage.run_folder(&genuine.finished);
        for generation in 1..100 {
            let name = format!("{}{}", genuine.finished, ".1".repeat(generation));
            stage.shell(&format!("cp -a \"$1\" .agent/runs/{name}"), &own);
        }
        genuine.finished.clone()
    }),
    ("content that lies outside", |stage, genuine| {
        let secret = fs::read(stage.path("home/.ssh/id_x")).unwrap();
        let sha256 = hash(&secret);
        let path = "../../../../home/.ssh/id_x";
        let absolute = stage.path("home/.ssh/id_x").display().to_string();
        finished(stage, genuine, |events| {
            let observation = &mut of(events, "action_executed")["data"]["observation"];
            observation["storage_ref"] = json!(path);
            observation["facts"]["stdout"] = json!({"ref": absolute, "sha256": sha256});
            observation["content"] = json!({"$ref": path, "sha256": sha256, "chars": secret.len()});
            events[0]["data"]["setup"]["request"] =
                json!({"$ref": absolute, "sha256": sha256, "chars": secret.len()});
        })
    }),
    ("changes of files outside", |stage, genuine| changes(stage, genuine, "../home/.bashrc")),
    ("changes of files by absolute paths", |stage, genuine| {
        changes(stage, genuine, &stage.path("home/.bashrc").display().to_string())
    }),
    ("changes of files through a link", |stage, genuine| {
        let beside = stage.path("project/.agent/away");
        link(&beside, &stage.path("home"));
        changes(stage, genuine, ".agent/away/.bashrc")
    }),
    ("changes of what git runs", |stage, genuine| changes(stage, genuine, ".git/hooks/pre-commit")),
    ("one long text in every event", |stage, genuine| {
        let text = "a".repeat(8 << 20);
        let sha256 = hash(text.as_bytes());
        let name = format!("observations/{}.txt", &sha256[..16]);
        let run = finished(stage, genuine, |events| {
            let mut event = of(events, "observation_recorded").clone();
            event["data"] = json!({"text": {"$ref": name, "sha256": sha256, "chars": text.len()}});
            let more = std::iter::repeat_n(event, 100);
            events.splice(3..3, more);
        });
        fs::write(stage.run_folder(&run).join(&name), &text).unwrap();
        run
    }),
    ("many short events", |stage, genuine| {
        finished(stage, genuine, |events| {
            let mut event = events[1].clone();
            event["data"] = json!({});
            events.splice(2..2, std::iter::repeat_n(event, 60_000));
        })
    }),
    ("events of many values", |stage, genuine| {
        finished(stage, genuine, |events| {
            let mut event = events[1].clone();
            event["data"] = json!({"many": vec![json!({"": 0}); 1_000]});
            events.splice(2..2, std::iter::repeat_n(event, 4_000));
        })
    }),
    ("a summary of many values", |stage, genuine| {
        let path = stage.run_folder(&genuine.finished).join("run.json");
        let mut summary: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        summary["skills"] = json!(vec!["a"; 4 << 20]);
        fs::write(&path, summary.to_string()).unwrap();
        genuine.finished.clone()
    }),
    ("seals of many commits", |stage, genuine| {
        let path = stage.run_folder(&genuine.finished).join("events.seal");
        fs::write(&path, format!("{}\n", "0".repeat(64)).repeat(900_000)).unwrap();
        genuine.finished.clone()
    }),
];

/// The run that waits, with other events.
fn waiting(stage: &Stage, genuine: &Genuine, change: impl FnOnce(&mut Vec<Value>)) -> String {
    forge(&stage.run_folder(&genuine.waiting), change);
    genuine.waiting.clone()
}

/// The run that has ended, with other events.
fn finished(stage: &Stage, genuine: &Genuine, change: impl FnOnce(&mut Vec<Value>)) -> String {
    forge(&stage.run_folder(&genuine.finished), change);
    genuine.finished.clone()
}

/// As if an action had been allowed, by the rule for another permission, and cut off before it was done.
fn allow(events: &mut Vec<Value>, permission: &str) {
    let prepared = &mut of(events, "action_validated")["data"]["prepared"];
    prepared["verdict"] = json!("allowed");
    prepared["request"]["permission"] = json!(permission);
    prepared["request"]["read_only"] = json!(true);
    prepared["decision"] = json!({"permission": permission, "action": "allow", "rulings": []});
    prepared.as_object_mut().unwrap().remove("question");
    let end = events.iter().position(|event| event["type"] == "action_validated").unwrap();
    events.truncate(end + 1);
}

/// Puts back a record that was taken from elsewhere.
fn shelved(stage: &Stage, run: &str) -> String {
    stage.shell("cp -a \"$1\" .agent/runs", &stage.shelf(run));
    run.to_owned()
}

fn signatures(stage: &Stage, genuine: &Genuine, change: impl Fn(&str) -> String) -> String {
    let path = stage.run_folder(&genuine.waiting).join("events.seal");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| match line.rsplit_once(' ') {
        Some((hashes, mac)) => format!("{hashes} {}\n", change(mac)),
        None => format!("{line}\n"),
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
    genuine.waiting.clone()
}

fn cut(stage: &Stage, run: &str, end: impl FnOnce(usize) -> usize) -> String {
    let path = stage.run_folder(run).join("events.jsonl");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..end(bytes.len())]).unwrap();
    run.to_owned()
}

/// A run that says it changed this file, which was a program of its owner's.
fn changes(stage: &Stage, genuine: &Genuine, path: &str) -> String {
    let folder = stage.run_folder(&genuine.finished).join("applied/0001");
    let content = b"#!/bin/sh\ntouch ~/mark\n";
    let file =
        |bytes: &[u8]| json!({"file": {"size": bytes.len(), "mode": 0o755, "sha256": hash(bytes)}});
    let act = match fs::read(stage.path("project").join(path)) {
        Ok(now) => json!({"swap": {"slot": 1, "was": file(content), "becomes": file(&now)}}),
        Err(_) => json!({"take": {"slot": 1, "was": file(content)}}),
    };
    fs::write(folder.join("slots/1"), content).unwrap();
    let plan = json!({"set": hash(b""), "steps": [{"path": path, "act": act}]}).to_string();
    fs::write(folder.join("plan.json"), &plan).unwrap();
    finished(stage, genuine, |events| {
        let applied = &mut of(events, "changes_applied")["data"];
        applied["paths"] = json!([path]);
        applied["sha256"] = json!(hash(plan.as_bytes()));
    })
}

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends there")]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::LazyLock;

use agent::model::Cancel;
use basics::run_id::RunId;
use permission::{Configuration, Engine, Verdict};
use skill::index::IndexOptions;
use tools::sandbox::{Confinement, Kernel};
use tools::script::{ArgumentLimits, Environment, Interpreters};

use super::*;
use crate::journal::Durability;

#[test]
fn what_leads_elsewhere_since_it_was_allowed_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["harmless", "precious"] {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("file"), name).unwrap();
    }
    symlink("harmless", root.join("link")).unwrap();
    let index = Index::build(&[], &IndexOptions::default());
    let offer = index.offer(|_| true);
    let mut bench = Workbench {
        index: &index,
        offer: &offer,
        invoked: None,
        read: ReadOptions::default(),
        limits: Limits::default(),
        workspace: Workspace::open(&root).unwrap(),
        folder: root.clone(),
        scripts: ScriptSettings {
            kernel: LazyLock::new(Kernel::detect),
            environment: Environment::default(),
            interpreters: Interpreters::default(),
            arguments: ArgumentLimits::default(),
            confinement: Confinement::default(),
        },
        copy_bytes: 0,
        closed: Vec::new(),
        opened: Instant::now(),
        run: None,
        inherited: None,
        background: Vec::new(),
        seen: None,
        unnoted: None,
        noted: None,
        prepared: None,
        copies: HashMap::new(),
    };
    let (engine, redactor, cancel) = (
        Engine::new("/project", Configuration::default()),
        Redactor::new([], []).unwrap(),
        Cancel::default(),
    );
    let means = Means {
        engine: &engine,
        redactor: &redactor,
        cancel: &cancel,
        chunks: &[],
        selected: &[],
        sees: false,
        show: &|_| {},
    };
    let run_id = "20261115_083000_k3f9".parse::<RunId>().unwrap();
    let mut journal =
        Journal::create(&root.join("runs"), run_id, Durability::NoSync, None).unwrap();
    let read = |bench: &mut Workbench<'_>, journal: &mut Journal, between: &dyn Fn()| {
        let params = json!({"path": "link/file"});
        let action = Action::CallTool { tool: "read_file".to_owned(), params, skill: None };
        let request = bench.prepare(&action, &means).unwrap();
        assert_eq!(request.patterns, ["harmless/file"]);
        let Verdict::Allowed(approved) = engine.decide(request, None) else { panic!("no") };
        between();
        bench.perform(approved, &means, journal)
    };
    let swapped = read(&mut bench, &mut journal, &|| {
        fs::remove_file(root.join("link")).unwrap();
        symlink("precious", root.join("link")).unwrap();
    });
    assert_eq!(swapped.code.as_deref(), Some("ApprovalRequired"));
    assert!(!swapped.text.contains("precious"), "{}", swapped.text);
    fs::remove_file(root.join("link")).unwrap();
    symlink("harmless", root.join("link")).unwrap();
    let same = read(&mut bench, &mut journal, &|| {});
    assert_eq!(same.code, None);
    assert!(same.text.contains("harmless"), "{}", same.text);
}

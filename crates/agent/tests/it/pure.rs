//! A run decides; it does nothing by itself. What it is made of could not, either.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates of this workspace that decide only.
const PURE: [&str; 3] = ["agent", "basics", "permission"];

/// What they are made of: data, text, hashes, and what the compiler runs. None of it opens a file or a socket.
const HARMLESS: &[&str] = &[
    "block-buffer",
    "cfg-if",
    "const-oid",
    "cpufeatures",
    "crypto-common",
    "digest",
    "dyn-clone",
    "hybrid-array",
    "itoa",
    "memchr",
    "proc-macro2",
    "quote",
    "ref-cast",
    "ref-cast-impl",
    "schemars",
    "schemars_derive",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_derive_internals",
    "serde_json",
    "sha2",
    "strsim",
    "syn",
    "thiserror",
    "thiserror-impl",
    "typenum",
    "unicode-ident",
    "zmij",
];

#[test]
fn nothing_that_a_run_is_made_of_can_open_a_file_or_a_socket() {
    let Some(repository) = repository() else { return };
    let arguments = "tree -p skillful-agent -e normal --prefix none --offline --locked";
    let mut cargo = Command::new(env!("CARGO"));
    let output = match cargo.args(arguments.split(' ')).current_dir(repository).output() {
        Ok(output) => output,
        // Who may run the tests need not have built them.
        Err(error) => return eprintln!("skipped: cargo cannot be run here: {error}"),
    };
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 10, "{}", String::from_utf8_lossy(&output.stderr));
    let unknown: Vec<&&str> = names
        .iter()
        .filter(|name| {
            !PURE.contains(&name.trim_start_matches("skillful-")) && !HARMLESS.contains(name)
        })
        .collect();
    assert!(unknown.is_empty(), "can {unknown:?} open a file or a socket? If not, name it above.");
}

#[test]
fn nothing_in_them_asks_the_system_for_anything() {
    let reaches =
        ["fs", "net", "process", "env", "os", "thread", "io"].map(|name| format!("std::{name}"));
    let Some(repository) = repository() else { return };
    let crates = repository.join("crates");
    for file in PURE.iter().flat_map(|name| sources(&crates.join(name).join("src"))) {
        let text = fs::read_to_string(&file).unwrap();
        let words: Vec<&str> =
            text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).collect();
        for reach in &reaches {
            // An error of the system is a value like any other.
            let used = |word: &&&str| {
                !word.starts_with("std::io::Error")
                    && word
                        .strip_prefix(reach.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            };
            assert!(words.iter().find(used).is_none(), "{} uses {reach}", file.display());
        }
        assert!(!words.contains(&"SystemTime"), "{} reads the clock", file.display());
    }
}

/// The repository around this crate; a published crate is alone.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = root.join("ARCHITECTURE.md").is_file();
    if !found {
        eprintln!("skipped: this needs the whole repository");
    }
    found.then_some(root)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    below.filter(|path| is_source(path) && !path.ends_with("tests.rs")).collect()
}

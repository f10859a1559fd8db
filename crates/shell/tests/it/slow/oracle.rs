//! A real bash as judge: whatever line it is given, if the marker ran, the line was not taken for harmless.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use skillful_shell::read;
use tempfile::TempDir;

use crate::hiding::{MARKER, hidden};
use crate::is_noticed;

/// A folder with the marker on its `PATH`, which leaves a file when it runs.
struct Judge {
    folder: TempDir,
    shell: &'static str,
}

impl Judge {
    fn new(shell: &'static str) -> Option<Self> {
        let works = Command::new(shell)
            .args(["-c", "exit 0"])
            .status()
            .is_ok_and(|status| status.success());
        if !works {
            eprintln!("skipped: there is no `{shell}` here");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("bin").join(MARKER);
        fs::create_dir(folder.path().join("bin")).unwrap();
        let ran = folder.path().join("ran");
        fs::write(&marker, format!("#!/bin/sh\n: > '{}'\n", ran.display())).unwrap();
        fs::set_permissions(&marker, fs::Permissions::from_mode(0o755)).unwrap();
        Some(Self { folder, shell })
    }

    /// Whether the marker runs.
    fn runs(&self, line: &str) -> bool {
        let work = self.folder.path().join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).unwrap();
        // Names of files that wildcards could find.
        fs::write(work.join(MARKER), "").unwrap();
        let ran = self.folder.path().join("ran");
        let _ = fs::remove_file(&ran);
        self.run(line, &work);
        ran.exists()
    }

    fn run(&self, line: &str, work: &Path) {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        let child = Command::new("timeout")
            .args(["-k", "1", "3", self.shell, "-c", line])
            .env_clear()
            .env("PATH", path)
            .env("HOME", work)
            .current_dir(work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return };
        let _ = child.wait();
    }
}

/// Pieces that mean something to a shell, for lines that nobody would write.
fn soup() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "marker",
        "marker",
        "marker ",
        " marker ",
        "mark",
        "er",
        "echo ",
        "echo a",
        "true",
        "cat ",
        "x",
        "a",
        " ",
        " ",
        " ",
        ";",
        "; ",
        "\n",
        "\n",
        "|",
        " | ",
        "&",
        "&&",
        " && ",
        "||",
        "(",
        ")",
        "{ ",
        " }",
        "; }",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$",
        "$(",
        "`",
        "#",
        " # ",
        "<",
        ">",
        ">f ",
        " >f",
        "<<E\n",
        "<<E ",
        "<<'E' ",
        "<<-E ",
        "<<'E'\n",
        "\nE\n",
        "E",
        "<<<",
        "&>f ",
        "2>&1",
        ">&",
        "if ",
        "if true; then ",
        "then ",
        "; fi",
        "fi",
        "else ",
        "for x in a; do ",
        "for x in a",
        "do ",
        "; done",
        "done",
        "while true; do ",
        "break; ",
        "case a in ",
        "a) ",
        "*) ",
        ";;",
        " esac",
        "esac",
        "in ",
        "time ",
        "! ",
        "[[ ",
        " ]]",
        "((",
        "))",
        "f() ",
        "function f ",
        "f",
        "x=",
        "x=1 ",
        "$x",
        "\"$x\"",
        "${x}",
        "$'",
        "\\x6d",
        "*",
        "?",
        "[m]",
        "~",
        "{a,b}",
        "eval ",
        "exec ",
        "env ",
        "command ",
        "sh -c ",
        "xargs ",
        "timeout 1 ",
        "-c ",
        "-p ",
        "-- ",
        "coproc ",
        "\t",
        "=",
        "é",
        "%",
        "!",
        "1",
        "{",
        "}",
        "[ ",
        " ]",
        "test ",
        ":",
        ". ",
        "trap ",
        "RANDOM=",
        "OPTIND=",
        "export ",
        "'a[$(marker)]'",
        " 'a[$(marker)]'",
        "'$(marker)'",
        "'`marker`'",
        "for SECONDS in ",
        "wait ",
        "-np ",
        "-f",
        "printf ",
        "%n ",
        "PATH",
        "-v ",
        "-[v] ",
        "bash ",
        "dash ",
        "'marker'",
        " 'marker x'",
        "- ",
        "+x ",
        "-o",
        "-e",
        "-oc ",
        "errexit ",
        "env =x ",
        "find marker -exec ",
        "{} ",
        "\\;",
        "-k",
    ];
    proptest::collection::vec(select(PIECES.to_vec()), 1..14).prop_map(|pieces| pieces.concat())
}

fn judged(shell: &'static str, cases: u32, lines: impl Strategy<Value = String>) {
    let Some(judge) = Judge::new(shell) else { return };
    let begun = Instant::now();
    let patience = Duration::from_secs(if asked_for().is_some() { 3_600 } else { 60 });
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let judged = runner.run(&lines, |line| {
        // Only lines that pass are worth asking about, and a slow machine need not ask all.
        let read = read(&line);
        if !is_noticed(&read, MARKER) && begun.elapsed() < patience {
            prop_assert!(!judge.runs(&line), "{shell} runs it: {line:?}\n{read:#?}");
        }
        Ok(())
    });
    judged.unwrap();
}

#[test]
fn the_judge_sees_a_marker_that_runs() {
    let Some(judge) = Judge::new("bash") else { return };
    assert!(judge.runs("marker"));
    assert!(judge.runs("echo a | xargs $'\\x6darker'"));
    assert!(!judge.runs("echo marker"));
}

#[test]
fn what_bash_runs_is_noticed_in_lines_that_hide_it() {
    judged("bash", 3_000, hidden());
}

#[test]
fn what_bash_runs_is_noticed_in_lines_that_nobody_would_write() {
    judged("bash", cases(8_000), soup());
}

#[test]
fn what_another_shell_runs_is_noticed_too() {
    judged("dash", cases(4_000), soup());
}

/// More of them with `ORACLE_CASES`.
fn cases(usual: u32) -> u32 {
    asked_for().unwrap_or(usual)
}

fn asked_for() -> Option<u32> {
    std::env::var("ORACLE_CASES").ok()?.parse().ok()
}

//! What a command did: to what lies outside of the state, to the terminal, to the machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use super::commands::{CLIENT, MCP};
use super::stage::{CANARY, Stage};
use crate::world::is_seen;

/// Seconds of the processor, whatever else the machine has to do. What users run is several times as fast as a
/// program that is built for tests.
const SECONDS: u32 = if cfg!(debug_assertions) { 25 } else { 5 };
/// Of memory that is the command's own.
const KIBIBYTES: u32 = 200 << 10;
/// Seconds after which a command counts as one that waits.
const HANGS: u32 = 240;

/// What commands may change, below the world.
const THEIRS: &[&str] = &["project/.agent", "project/out.txt", "home/.cache", "home/.agent/keys"];

/// Runs commands one after the other; answers with the promises that they broke.
pub(crate) fn over(stage: &Stage, lines: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut before = outside(&stage.root());
    for line in lines {
        let output = run(stage, line);
        let after = outside(&stage.root());
        let mut complain = |what: String| wrong.push(format!("`{line}` {what}"));
        look_at(&output, &mut complain);
        differences(&before, &after).for_each(&mut complain);
        before = after;
    }
    wrong
}

fn run(stage: &Stage, line: &str) -> Output {
    let limits = format!("ulimit -t {SECONDS}; ulimit -d {KIBIBYTES}; ulimit -c 0;");
    let mut command = stage.command(&format!("{limits} exec timeout -k 1 {HANGS} skillful {line}"));
    if line != MCP {
        return command.output().unwrap();
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may have ended before; what it said tells why.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), CLIENT.as_bytes());
    child.wait_with_output().unwrap()
}

fn look_at(output: &Output, complain: &mut impl FnMut(String)) {
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    let said = String::from_utf8_lossy(stderr);
    let begin: String = said.chars().take(300).collect();
    match output.status.code() {
        Some(0..=4) => {}
        Some(124) => complain("waits".to_owned()),
        code => complain(format!("ended with {code:?}: {}", begin.escape_debug())),
    }
    for (name, bytes) in [("stdout", stdout), ("stderr", stderr)] {
        match std::str::from_utf8(bytes) {
            Err(_) => complain(format!("printed what is not UTF-8 to {name}")),
            Ok(text) => {
                if let Some(c) = text.chars().find(|c| !is_seen(*c)) {
                    complain(format!("printed {c:?} to {name}"));
                }
                if let Some(place) = text.find(CANARY) {
                    let from = text[..place].rfind('\n').map_or(0, |line| line + 1);
                    let part: String = text[from..].chars().take(300).collect();
                    complain(format!("printed what is outside to {name}: {}", part.escape_debug()));
                }
            }
        }
    }
}

type Seen = BTreeMap<PathBuf, String>;

/// Everything below the world that is not the commands' to change: kind, owner, mode and content.
fn outside(root: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let inner = path.strip_prefix(root).unwrap();
        if THEIRS.iter().any(|own| inner == Path::new(own)) {
            continue;
        }
        let found = fs::symlink_metadata(&path).unwrap();
        let kind = found.file_type();
        let mut state = format!("{}:{} {:o} ", found.uid(), found.gid(), found.mode());
        if kind.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if kind.is_symlink() {
            write!(state, "to {}", fs::read_link(&path).unwrap().display()).unwrap();
        } else if kind.is_file() {
            state += &String::from_utf8_lossy(&fs::read(&path).unwrap());
        } else {
            write!(state, "pipe: {}, socket: {}", kind.is_fifo(), kind.is_socket()).unwrap();
        }
        seen.insert(inner.to_owned(), state);
    }
    seen
}

fn differences(before: &Seen, after: &Seen) -> impl Iterator<Item = String> {
    let removed = before.keys().filter(|path| !after.contains_key(*path));
    let removed = removed.map(|path| format!("removed `{}`", path.display()));
    let changed = after.iter().filter(|(path, state)| before.get(*path) != Some(*state));
    let changed = changed.map(|(path, state)| {
        let state: String = state.chars().take(200).collect();
        format!("made or changed `{}`: {}", path.display(), state.escape_debug())
    });
    removed.chain(changed)
}

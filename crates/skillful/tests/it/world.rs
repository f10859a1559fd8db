//! A place to run the real program in: a temporary folder with a home and a project of its own, and
//! no environment but what a test sets.
//!
//! Invariant: nothing outside the folder shows in what a test sees, neither its path nor a time.

pub(crate) mod packs;
mod terminal;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
pub(crate) use terminal::Sitting;
use terminal::Terminal;
pub(crate) use terminal::is_seen;

/// An empty home and an empty project, which is a repository.
pub(crate) struct World {
    _folder: TempDir,
    root: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let world = Self { _folder: folder, root, variables: Vec::new() };
        fs::create_dir_all(world.path("project/.git")).unwrap();
        fs::create_dir_all(world.path("home")).unwrap();
        let home = world.path("home");
        // Nobody listens there, whatever runs on the machine.
        world.with("HOME", home).with("OLLAMA_HOST", "127.0.0.1:1")
    }

    /// Sets a variable; an empty one is as good as none.
    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o777
    }

    /// What the model `scripted:turns.json` says, one after the other.
    pub(crate) fn turns(&self, turns: &[Value]) -> &Self {
        self.write("project/turns.json", json!({"turns": turns}).to_string())
    }

    /// A skill whose folder has its name.
    pub(crate) fn skill(&self, folder: &str, description: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_string_lossy().into_owned();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n");
        self.write(&format!("{folder}/SKILL.md"), text)
    }

    /// Runs a line of shell in the project, with the program in its path.
    pub(crate) fn output(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_skillful")).parent().unwrap();
        let mut path = program.as_os_str().to_owned();
        path.push(":/usr/bin:/bin");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).current_dir(self.path("project")).stdin(Stdio::null());
        command.env_clear().env("PATH", path).envs(self.variables.iter().cloned());
        command
    }

    /// What a terminal of that many columns gets.
    pub(crate) fn terminal(&self, line: &str, columns: u16) -> String {
        let terminal = Terminal::new(columns);
        let mut command = self.command(line);
        let mut child = command.stdout(terminal.side()).stderr(terminal.side()).spawn().unwrap();
        // Reading ends when all handles on the other side are closed.
        drop(command);
        let written = terminal.read();
        child.wait().unwrap();
        self.shown(&written)
    }

    /// The program at a terminal of that size.
    pub(crate) fn sit(&self, line: &str, columns: u16, rows: u16) -> Sitting {
        let mut command = self.command(&format!("exec setsid --wait --ctty {line}"));
        if !self.variables.iter().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm-256color");
        }
        Sitting::new(command, columns, rows)
    }

    /// What a user sees who sits at a terminal and presses `keys` at `question`.
    pub(crate) fn dialogue(&self, line: &str, question: &str, keys: &str) -> String {
        self.conversation(line, &[(question, keys)])
    }

    /// The same with several questions, one after the other.
    pub(crate) fn conversation(&self, line: &str, answers: &[(&str, &str)]) -> String {
        self.meanwhile(line, "", || {}, "", answers)
    }

    /// The same where something happens while the first question waits for its answer.
    pub(crate) fn meanwhile(
        &self,
        line: &str,
        question: &str,
        happens: impl FnOnce(),
        keys: &str,
        answers: &[(&str, &str)],
    ) -> String {
        let mut terminal = Terminal::new(200);
        // In a session of its own, so that keys like Ctrl-C reach it as they do a user's program.
        let mut command = self.command(&format!("exec setsid --ctty {line}"));
        command.stdin(terminal.side()).stdout(terminal.side()).stderr(terminal.side());
        let mut child = command.spawn().unwrap();
        drop(command);
        terminal.leave();
        terminal.press(question, "");
        happens();
        terminal.press("", keys);
        answers.iter().for_each(|(question, keys)| terminal.press(question, keys));
        let written = terminal.read();
        let status = child.wait().unwrap();
        let output = Output { status, stdout: Vec::new(), stderr: Vec::new() };
        self.shown(&written) + &self.beside(&output)
    }

    /// What a user sees: stdout, then stderr and the exit code if there are any.
    pub(crate) fn run(&self, line: &str) -> String {
        let output = self.output(line);
        self.shown(&output.stdout) + &self.beside(&output)
    }

    /// The same, with the one JSON document on stdout laid out for people and without times.
    pub(crate) fn run_json(&self, line: &str) -> String {
        let output = self.output(line);
        let document = self.document(line, &output);
        format!("{document:#}\n{}", self.beside(&output))
    }

    /// The JSON document on stdout.
    pub(crate) fn json(&self, line: &str) -> Value {
        self.document(line, &self.output(line))
    }

    fn document(&self, line: &str, output: &Output) -> Value {
        let text = self.shown(&output.stdout);
        assert_eq!(text.lines().count(), 1, "`{line}` printed more than a document:\n{text}");
        let mut document = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("`{line}` printed no JSON: {error}\n{text}"));
        still(&mut document);
        document
    }

    fn beside(&self, output: &Output) -> String {
        let mut seen = String::new();
        if !output.stderr.is_empty() {
            seen.push_str("[stderr]\n");
            seen.push_str(&self.shown(&output.stderr));
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => seen.push_str(&format!("[exit {code}]\n")),
            None => seen.push_str("[killed]\n"),
        }
        seen
    }

    /// Paths and hashes of paths differ from run to run.
    fn shown(&self, bytes: &[u8]) -> String {
        let text = std::str::from_utf8(bytes).expect("output is UTF-8");
        let text = text.replace(self.root.to_str().unwrap(), "[world]");
        let mut parts = text.split("sha256:");
        let mut shown = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            let is_hash = part.len() - rest.len() == 64;
            shown.push_str(if is_hash { "sha256:[hash]" } else { "sha256:" });
            shown.push_str(if is_hash { rest } else { part });
        }
        shown
    }
}

/// Times differ from run to run.
fn still(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "milliseconds" => *value = Value::from(0),
                    _ => still(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(still),
        _ => {}
    }
}

/// The repository around this crate; a published crate is alone.
pub(crate) fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let found = root.join("ARCHITECTURE.md").is_file();
    if !found {
        eprintln!("skipped: this needs the whole repository");
    }
    found.then_some(root)
}

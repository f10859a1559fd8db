//! A user with files of their own, and a project whose folder of state is genuine again and again.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::commands::RUN;
use crate::turns::{self, turns, write};
use crate::world::World;

/// What the user's own files say, and no output may.
pub(crate) const CANARY: &str = "canary-5fe0c1";
/// What the genuine state says in the same places.
pub(crate) const WORD: &str = "kingfisher";
/// Somebody without rights.
const ORDINARY: u32 = 54_321;

/// Who runs the commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the test.
    Current,
    /// Somebody else, without rights; only root can do that.
    Ordinary,
}

/// The names in the genuine folder of state.
#[derive(Debug)]
pub(crate) struct Genuine {
    /// A run that has ended.
    pub(crate) finished: String,
    /// A run that waits for an approval, to write a Makefile.
    pub(crate) waiting: String,
    /// A run of another user in this project, and one of this user in another project.
    pub(crate) other_home: String,
    pub(crate) other_workspace: String,
    index: String,
    observation: String,
    results: String,
    record: String,
    backup: String,
}

/// Where commands run.
pub(crate) struct Stage {
    world: World,
    user: User,
    /// What no command knows of: the genuine state, and more records.
    shelf: TempDir,
}

impl Stage {
    pub(crate) fn new(user: User) -> (Self, Genuine) {
        let stage = Self { world: World::new(), user, shelf: TempDir::new().unwrap() };
        if user == User::Ordinary {
            // Where it was built, another user may not look.
            let program = Path::new(env!("CARGO_BIN_EXE_skillful"));
            let copy = stage.shelf("skillful");
            fs::hard_link(program, &copy).or_else(|_| fs::copy(program, &copy).map(drop)).unwrap();
            stage.shell("chmod 755 \"$1\"", stage.shelf.path());
        }
        stage.furnish();
        stage.hand_over();
        let genuine = stage.make_genuine();
        stage.forbid();
        (stage, genuine)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.world.path("")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.world.path(path)
    }

    pub(crate) fn shelf(&self, name: &str) -> PathBuf {
        self.shelf.path().join(name)
    }

    pub(crate) fn run_folder(&self, run: &str) -> PathBuf {
        self.path("project/.agent/runs").join(run)
    }

    /// A line of shell in the project, as the user.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.world.command(line);
        command.env("TMPDIR", self.path("tmp"));
        if self.user == User::Ordinary {
            command.env("PATH", format!("{}:/usr/bin:/bin", self.shelf.path().display()));
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command
    }

    /// Makes the state genuine again.
    pub(crate) fn reset(&self) {
        let own = self.path("project/.agent");
        if own.is_symlink() || !own.is_dir() {
            let _ = fs::remove_file(&own);
        } else {
            // Not by this program's own means: a tree may be too deep for them, or closed.
            self.shell("chmod -R u+rwX \"$1\"; rm -rf \"$1\"", &own);
        }
        let _ = fs::remove_file(self.path("project/out.txt"));
        let _ = fs::remove_dir_all(self.path("twin"));
        self.shell("cp -a \"$1\" .agent", &self.shelf(".agent"));
    }

    /// Gives everything to the user.
    pub(crate) fn hand_over(&self) {
        if self.user == User::Ordinary {
            let line = format!("chown -hR {ORDINARY}:{ORDINARY} \"$1\"");
            self.shell(&line, &self.root());
        }
    }

    /// A line of shell about a path, as whoever runs the test.
    pub(crate) fn shell(&self, line: &str, path: &Path) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line, "sh"]).arg(path).current_dir(self.path("project"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// What the user has before any command.
    fn furnish(&self) {
        let world = &self.world;
        for path in ["home/.bashrc", "home/.ssh/id_x", "home/.ssh/config", "beside/notes.txt"] {
            world.write(path, format!("{CANARY} in {path}\n"));
        }
        world.write(
            "beside/secret.json",
            json!({CANARY: CANARY, "skill_roots": [CANARY]}).to_string(),
        );
        fs::create_dir_all(self.path("tmp")).unwrap();
        // Long enough for a file of its own.
        let answer = format!("{WORD} ").repeat(400);
        for (file, written) in [("turns.json", "out.txt"), ("asks.json", "Makefile")] {
            let turns = turns(&[write(written, "all: evil"), turns::answer(&answer)]);
            world.write(file, turns.to_string());
        }
        world
            .write("home/case.json", json!({"id": "one", "input": WORD, "expect": {}}).to_string());
        world.skill("kingfisher/tidy", "Tidies up.");
        let mark = "#!/bin/sh\ntouch \"$HOME/mark\" ../mark mark\n";
        world.write("kingfisher/tidy/scripts/mark.sh", mark);
        world.write("project/README.md", "read me\n");
        world.write("project/.agent/config.json", json!({"skill_roots": [WORD]}).to_string());
        self.rule("ask");
    }

    fn rule(&self, others: &str) {
        let write = json!({"*": others, "out.txt": "allow"});
        let rules = json!({"permissions": {"write_file": write, "run_script": "deny"}});
        self.world.write("home/.agent/config.json", rules.to_string());
    }

    /// From now on nothing but `out.txt` may be written.
    fn forbid(&self) {
        self.rule("deny");
        self.hand_over();
    }

    fn make_genuine(&self) -> Genuine {
        let install = "install ../kingfisher/tidy --scope project --allow-unsafe";
        for line in [install, "uninstall tidy --scope project", install] {
            self.expect(0, line);
        }
        self.expect(0, &format!("{install} --backup"));
        self.expect(0, RUN);
        let finished = self.only("runs");
        self.expect(0, "eval from-run last");
        self.expect(0, "eval run ../home/case.json");
        self.expect(3, &RUN.replace("turns", "asks"));
        let waiting = self.newest_but(&[&finished]);
        self.world.write("home2/.agent/config.json", self.world.read("home/.agent/config.json"));
        self.hand_over();
        let asks = RUN.replace("turns", "asks");
        self.shelve("", &format!("HOME={} skillful {asks}", self.path("home2").display()));
        let other_home = self.newest_but(&[&finished, &waiting]);
        fs::rename(self.run_folder(&other_home), self.shelf(&other_home)).unwrap();
        fs::create_dir_all(self.path("project2/.git")).unwrap();
        self.hand_over();
        self.shelve("cd ../project2;", &format!("skillful {asks}"));
        let there = names(&self.path("project2/.agent/runs"));
        let other_workspace = there.into_iter().next().unwrap();
        let from = self.path("project2/.agent/runs").join(&other_workspace);
        self.shell(&format!("cp -a \"$1\" '{}'", self.shelf("").display()), &from);
        for path in ["home2", "project2"] {
            fs::remove_dir_all(self.path(path)).unwrap();
        }
        let results = self.only("eval-runs");
        let backup = self.only("skills/.backup/tidy");
        let genuine = Genuine {
            index: self.only("runs/.indexes"),
            observation: format!(
                "observations/{}",
                self.only(&format!("runs/{finished}/observations"))
            ),
            record: self.only(&format!("eval-runs/{results}/records")),
            backup: backup.trim_end_matches(".json").to_owned(),
            finished,
            waiting,
            other_home,
            other_workspace,
            results,
        };
        self.shell(
            &format!("cp -a .agent '{}'; rm -f out.txt", self.shelf("").display()),
            &self.root(),
        );
        genuine
    }

    fn expect(&self, code: i32, line: &str) {
        let output = self.command(&format!("skillful {line}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
    }

    /// Makes a record that waits for an approval.
    fn shelve(&self, before: &str, line: &str) {
        let output = self.command(&format!("{before} {line}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{line}: {said}");
    }

    /// The first name in a folder of state.
    fn only(&self, folder: &str) -> String {
        let folder = self.path("project/.agent").join(folder);
        names(&folder).into_iter().next().unwrap_or_else(|| panic!("{} is empty", folder.display()))
    }

    fn newest_but(&self, known: &[&str]) -> String {
        let names = names(&self.path("project/.agent/runs"));
        names.into_iter().find(|name| !known.contains(&name.as_str())).unwrap()
    }
}

/// The names in a folder that are not hidden, in their order.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

impl Genuine {
    /// A place with the names of this state.
    pub(crate) fn fill_in(&self, place: &str) -> String {
        let names = [
            ("{run}", &self.finished),
            ("{waiting}", &self.waiting),
            ("{index}", &self.index),
            ("{observation}", &self.observation),
            ("{results}", &self.results),
            ("{record}", &self.record),
            ("{backup}", &self.backup),
        ];
        names.iter().fold(place.to_owned(), |place, (mark, name)| place.replace(mark, name))
    }
}

/// A link that takes the place of whatever is there.
pub(crate) fn link(path: &Path, target: &Path) {
    symlink(target, path).unwrap();
}

/// Every string in a value, changed.
pub(crate) fn change_strings(value: &mut Value, change: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| change_strings(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| change_strings(item, change)),
        _ => {}
    }
}

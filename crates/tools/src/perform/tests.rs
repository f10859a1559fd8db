//! The tools from the outside: an action goes in, a result for the model comes out.

mod change;
mod grep;
mod list;
mod read;
mod rules;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use basics::failure::Explain;
use permission::{Approved, Configuration, Engine, Verdict};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::perform;
use crate::call::Call;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// A workspace, a skill in it, a skill elsewhere and something outside of both.
struct World {
    folder: TempDir,
    workspace: Workspace,
    engine: Engine,
}

impl World {
    /// A world in which everything is allowed, with these files in the workspace.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for inner in ["work/.agent/skills/inner", "skills/outer", "outside"] {
            fs::create_dir_all(folder.path().join(inner)).unwrap();
        }
        fs::write(folder.path().join("outside/secret.txt"), "outside").unwrap();
        fs::write(folder.path().join("skills/outer/guide.md"), "outer guide\n").unwrap();
        fs::write(folder.path().join("work/.agent/skills/inner/guide.md"), "inner guide\n")
            .unwrap();
        let mut workspace = Workspace::open(&folder.path().join("work")).unwrap();
        workspace.select_skill("outer", &folder.path().join("skills/outer")).unwrap();
        workspace.select_skill("inner", &folder.path().join("work/.agent/skills/inner")).unwrap();
        let world = Self { folder, workspace, engine: engine(r#"{"*": "allow"}"#) };
        for (path, content) in files {
            world.write(path, content);
        }
        world
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("work").join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(path)).unwrap();
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn resolve(&self, tool: &str, params: Value) -> Result<Call, ToolError> {
        Call::parse(tool, params).unwrap().resolve(&self.workspace)
    }

    fn approve(&self, call: Call) -> Approved<Call> {
        match self.engine.decide(call, None) {
            Verdict::Allowed(approved) => approved,
            _ => panic!("the call should be allowed"),
        }
    }

    fn perform(&mut self, call: Call) -> Result<Outcome, ToolError> {
        let call = self.approve(call);
        perform(call, &self.engine, &self.workspace)
    }

    fn call(&mut self, tool: &str, params: Value) -> Result<Outcome, ToolError> {
        let call = self.resolve(tool, params)?;
        self.perform(call)
    }

    /// The result without its hash, as the model would see it.
    fn result(&mut self, tool: &str, params: Value) -> Value {
        let mut result = self.call(tool, params).unwrap().to_json(None);
        result.as_object_mut().unwrap().remove("sha256");
        result
    }

    fn shown(&mut self, tool: &str, params: Value) -> String {
        self.call(tool, params).unwrap().content.unwrap()
    }

    fn refused(&mut self, tool: &str, params: Value) -> &'static str {
        let error = self.call(tool, params).unwrap_err();
        assert!(!error.hint().is_empty());
        error.code()
    }
}

fn engine(user: &str) -> Engine {
    let user = serde_json::from_str(user).unwrap();
    Engine::new("/project", Configuration { user, ..Configuration::default() })
}

#[test]
fn a_result_has_the_form_of_the_contract() {
    let mut world = World::new(&[("a.txt", "one\n")]);
    world.workspace.limits.shown_bytes = 2;
    let outcome = world.call("read_file", json!({"path": "a.txt"})).unwrap();
    assert_eq!(
        outcome.to_json(Some("observations/1.txt")),
        json!({
            "ok": true, "path": "a.txt", "size": 4, "first_line": 1, "last_line": 1, "total_lines": 1,
            "content": "on", "truncated": true,
            "sha256": "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806",
            "storage_ref": "observations/1.txt",
        })
    );
    assert_eq!(outcome.full.as_deref(), Some(&b"one\n"[..]));
}

#[test]
fn an_error_has_the_form_of_the_contract() {
    let mut world = World::new(&[]);
    let error = world.call("read_file", json!({"path": "/etc/passwd"})).unwrap_err();
    assert_eq!(
        error.to_json(),
        json!({"ok": false, "error": {
            "code": "PathTraversalBlocked",
            "message": "`/etc/passwd` is outside of the workspace and of the selected skills",
            "hint": "use a path in the workspace or in a selected skill",
        }})
    );
}

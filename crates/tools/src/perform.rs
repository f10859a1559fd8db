//! Doing what was approved.
//!
//! ```
//! use basics::failure::Explain;
//! use serde_json::json;
//! use skillful_tools::call::Call;
//! use skillful_tools::perform::perform;
//! use permission::{Configuration, Engine, Verdict};
//! use skillful_tools::workspace::Workspace;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("notes.md"), "hello")?;
//! # let project = folder.path();
//! let engine = Engine::new(project.to_string_lossy(), Configuration::default());
//! let workspace = Workspace::open(project)?;
//! let call = Call::parse("read_file", json!({"path": "notes.md"}))?;
//! match engine.decide(workspace.resolve(call)?, None) {
//!     Verdict::Allowed(call) => {
//!         let outcome = perform(call, &engine, &workspace, &mut |_undo| Ok(()))?;
//!         assert_eq!(outcome.content.as_deref(), Some("hello"));
//!     }
//!     Verdict::Ask(pending) => println!("may it {:?}?", pending.request()),
//!     Verdict::Denied(denial) => println!("{denial}: {}", denial.hint()),
//! }
//! # Ok(())
//! # }
//! ```

use std::io;

use permission::{Approved, Effect, Engine, Permission, Request};

use crate::call::Call;
use crate::file::{change, grep, list, read};
use crate::network;
use crate::outcome::{Outcome, ToolError};
use crate::undo::Undo;
use crate::workspace::Workspace;

/// Does what was approved.
///
/// Before a file is changed, `record` gets what is needed to undo the change; if it fails, the file
/// stays as it is. Whoever records must have it on disk when it returns.
pub fn perform(
    call: Approved<Call>,
    engine: &Engine,
    workspace: &Workspace,
    record: &mut dyn FnMut(&Undo) -> io::Result<()>,
) -> Result<Outcome, ToolError> {
    let sight = Sight::new(&call, engine);
    match call.into_request() {
        Call::ReadFile(call) => read::read_file(&call, workspace),
        Call::ListDir(call) => list::list_dir(&call, workspace, &sight),
        Call::Grep(call) => grep::grep(&call, workspace, &sight),
        Call::WriteFile(call) => change::write_file(&call, workspace, record),
        Call::DeleteFile(call) => change::delete_file(&call, workspace, record),
        Call::NetworkRequest(call) => Ok(network::network_request(&call, workspace, &sight)?),
    }
}

/// How far an approval reaches beyond the very thing that was approved: to what is in a directory, or
/// where a redirect leads, but not to anything for which the rules are stricter.
pub(crate) struct Sight<'e> {
    engine: &'e Engine,
    permission: Permission,
    approved: Effect,
}

impl<'e> Sight<'e> {
    pub(crate) fn new(call: &Call, engine: &'e Engine) -> Self {
        let permission = call.tool().into();
        let patterns = call.patterns();
        let actions = patterns.iter().map(|pattern| engine.action(permission, pattern));
        Self { engine, permission, approved: actions.max().unwrap_or(Effect::Allow) }
    }

    /// Whether the rules treat this no more strictly than what was approved.
    pub(crate) fn covers(&self, pattern: &str) -> bool {
        self.engine.action(self.permission, pattern) <= self.approved
    }

    /// Whether a file in the directory that was approved can be seen.
    pub(crate) fn shows(&self, name: &str) -> bool {
        self.covers(name) && self.engine.action(Permission::ReadFile, name) != Effect::Deny
    }
}

#[cfg(test)]
mod tests;

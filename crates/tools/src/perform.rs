//! Doing what was approved.

use std::io;

use crate::call::Call;
use crate::file::{change, grep, list, read};
use crate::network;
use crate::outcome::{Outcome, ToolError};
use crate::permission::{Action, Approved, Engine, Request};
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
        Call::NetworkRequest(call) => Ok(network::network_request(&call, workspace)?),
    }
}

/// What a call on a directory may see in it.
///
/// An approval for a directory does not reach a file in it for which the rules are stricter than for
/// the directory, or which must not be read at all.
pub(crate) struct Sight<'e> {
    engine: &'e Engine,
    permission: &'static str,
    approved: Action,
}

impl<'e> Sight<'e> {
    fn new(call: &Call, engine: &'e Engine) -> Self {
        let permission = call.tool().name();
        let patterns = call.patterns();
        let actions = patterns.iter().map(|pattern| engine.action(permission, pattern));
        Self { engine, permission, approved: actions.max().unwrap_or(Action::Allow) }
    }

    pub(crate) fn shows(&self, name: &str) -> bool {
        self.engine.action(self.permission, name) <= self.approved
            && self.engine.action("read_file", name) != Action::Deny
    }
}

#[cfg(test)]
mod tests;

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
//! match engine.decide(call.resolve(&workspace)?, None) {
//!     Verdict::Allowed(call) => {
//!         let outcome = perform(call, &engine, &workspace)?;
//!         assert_eq!(outcome.content.as_deref(), Some("hello"));
//!     }
//!     Verdict::Ask(pending) => println!("may it {:?}?", pending.request()),
//!     Verdict::Denied(denial) => println!("{denial}: {}", denial.hint()),
//! }
//! # Ok(())
//! # }
//! ```

use permission::params::ReadFile;
use permission::{Approved, Engine};

use crate::call::Call;
use crate::error::ToolError;
use crate::file::{change, grep, list, read};
use crate::network;
use crate::outcome::Outcome;
use crate::sight::Sight;
use crate::workspace::Workspace;

/// Does what was approved. Files are changed where the workspace is seen: in the run's layer.
pub fn perform(
    call: Approved<Call>,
    engine: &Engine,
    workspace: &Workspace,
) -> Result<Outcome, ToolError> {
    let sight = Sight::new(&*call, engine);
    match call.into_request() {
        Call::ReadFile(call) => read::read_file(&call, workspace),
        Call::ListDir(call) => list::list_dir(&call, workspace, &sight),
        Call::Grep(call) => grep::grep(&call, workspace, &sight),
        Call::WriteFile(call) => change::write_file(&call, workspace),
        Call::EditFile(call) => change::edit_file(&call, workspace),
        Call::DeleteFile(call) => change::delete_file(&call, workspace),
        Call::NetworkRequest(call) => {
            let Workspace { limits, network: policy, .. } = workspace;
            Ok(network::network_request(&call, policy, limits, &sight)?)
        }
    }
}

/// The bytes of a file for which reading was approved, up to a limit.
pub fn read_bytes(
    call: &ReadFile,
    workspace: &Workspace,
    limit: u64,
) -> Result<Vec<u8>, ToolError> {
    read::bytes(&call.path, workspace, limit)
}

/// What reading a file gives whose text somebody else made out.
pub fn read_text(call: &ReadFile, text: &str, workspace: &Workspace) -> Outcome {
    read::lines_of(call, text, workspace)
}

#[cfg(test)]
mod tests;

//! A tool call as the model writes it: `{tool, params}`, checked before anybody is asked about it.
//!
//! Invariant: a path in a parsed call is lexically normal (no `.`, `..` or doubled slashes, `.` alone
//! for the workspace itself), so that a rule about `private/*` cannot be walked around in spelling.

use std::borrow::Cow;

use basics::failure::Explain;
use permission::params::{
    DeleteFile, EditFile, Grep, ListDir, Method, NetworkRequest, ReadFile, WriteFile,
};
use permission::{Permission, Request, Risk, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ToolError, failure};
use crate::network::{InvalidRequest, normal_request};
use crate::workspace::{LONGEST, Workspace, normal_path};

/// What a model wants a tool to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Call {
    /// Read a text file.
    ReadFile(ReadFile),
    /// List a directory.
    ListDir(ListDir),
    /// Search files.
    Grep(Grep),
    /// Write a file.
    WriteFile(WriteFile),
    /// Replace a text in a file.
    EditFile(EditFile),
    /// Delete a file.
    DeleteFile(DeleteFile),
    /// Send an HTTP request.
    NetworkRequest(NetworkRequest),
}

/// Why a call cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum InvalidCall {
    /// There is no such tool.
    #[error("there is no tool `{tool}`")]
    UnknownTool {
        /// What was asked for.
        tool: String,
    },
    /// Its parameters are wrong.
    #[error("wrong params for `{tool}`")]
    Params {
        /// The tool.
        tool: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// Its path climbs out of where it starts.
    #[error("`{path}` leads out of the workspace")]
    Path {
        /// The path as it was given.
        path: String,
    },
    /// Its path is too long for any file.
    #[error("the path has {bytes} bytes, more than the limit of {LONGEST}")]
    LongPath {
        /// How many it has.
        bytes: usize,
    },
    /// It is not a request that can be sent.
    #[error(transparent)]
    Request(#[from] InvalidRequest),
}

impl InvalidCall {
    /// The error as a result for the model.
    pub fn to_json(&self) -> Value {
        failure(self)
    }
}

impl Explain for InvalidCall {
    fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "PathTraversalBlocked",
            _ => "InvalidAction",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::UnknownTool { .. } => {
                let names: Vec<_> =
                    Call::TOOLS.iter().map(|tool| format!("`{}`", tool.name())).collect();
                format!("call one of {}", names.join(", "))
            }
            Self::Params { tool, .. } => {
                format!("look at the schema of `{tool}` and call it again")
            }
            Self::Path { .. } => "use a path in the workspace or in a selected skill".to_owned(),
            Self::LongPath { .. } => "use a shorter path".to_owned(),
            Self::Request(error) => return error.hint(),
        }
        .into()
    }
}

impl Call {
    /// The tools that are called this way; they need no sandbox.
    pub const TOOLS: [Tool; 7] = [
        Tool::ReadFile,
        Tool::ListDir,
        Tool::Grep,
        Tool::WriteFile,
        Tool::EditFile,
        Tool::DeleteFile,
        Tool::NetworkRequest,
    ];

    /// Understands the `tool` and `params` of a `call_tool` action.
    pub fn parse(tool: &str, params: Value) -> Result<Self, InvalidCall> {
        let mut call = match Tool::from_name(tool) {
            Some(Tool::ReadFile) => Self::ReadFile(read(Tool::ReadFile, params)?),
            Some(Tool::ListDir) => Self::ListDir(read(Tool::ListDir, params)?),
            Some(Tool::Grep) => Self::Grep(read(Tool::Grep, params)?),
            Some(Tool::WriteFile) => Self::WriteFile(read(Tool::WriteFile, params)?),
            Some(Tool::EditFile) => Self::EditFile(read(Tool::EditFile, params)?),
            Some(Tool::DeleteFile) => Self::DeleteFile(read(Tool::DeleteFile, params)?),
            Some(Tool::NetworkRequest) => Self::NetworkRequest(read(Tool::NetworkRequest, params)?),
            // Programs are run by whoever has a sandbox for them.
            Some(
                Tool::RunScript
                | Tool::RunCommand
                | Tool::CommandOutput
                | Tool::CommandInput
                | Tool::CommandStop,
            )
            | None => {
                return Err(InvalidCall::UnknownTool { tool: tool.to_owned() });
            }
        };
        if let Some(path) = call.path_mut() {
            if path.len() > LONGEST {
                return Err(InvalidCall::LongPath { bytes: path.len() });
            }
            *path = normal_path(path).ok_or_else(|| InvalidCall::Path { path: path.clone() })?;
        }
        if let Self::NetworkRequest(request) = &mut call {
            *request = normal_request(request)?;
        }
        Ok(call)
    }

    /// Gives the path its one name in the workspace: absolute paths are recognised and links are followed,
    /// so that rules are asked about the file that would really be touched.
    ///
    /// A call that was not resolved is safe, too: it fails where a link is in its way.
    pub fn resolve(mut self, workspace: &Workspace) -> Result<Self, ToolError> {
        // To delete a link is to delete the link, not what it points to.
        let keeps_last = matches!(self, Self::DeleteFile(_));
        if let Some(path) = self.path_mut() {
            *path = workspace.one_name(path, keeps_last)?;
        }
        Ok(self)
    }

    /// Which tool is called.
    pub fn tool(&self) -> Tool {
        match self {
            Self::ReadFile(_) => Tool::ReadFile,
            Self::ListDir(_) => Tool::ListDir,
            Self::Grep(_) => Tool::Grep,
            Self::WriteFile(_) => Tool::WriteFile,
            Self::EditFile(_) => Tool::EditFile,
            Self::DeleteFile(_) => Tool::DeleteFile,
            Self::NetworkRequest(_) => Tool::NetworkRequest,
        }
    }

    fn path_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::ReadFile(ReadFile { path, .. })
            | Self::ListDir(ListDir { path, .. })
            | Self::Grep(Grep { path, .. })
            | Self::WriteFile(WriteFile { path, .. })
            | Self::EditFile(EditFile { path, .. })
            | Self::DeleteFile(DeleteFile { path }) => Some(path),
            Self::NetworkRequest(_) => None,
        }
    }
}

impl Request for Call {
    fn permission(&self) -> Permission {
        self.tool().into()
    }

    /// The path, or the address without what comes after its `?`; for a `POST` that address with
    /// `POST` before it, too, so that leave to fetch is not leave to send.
    fn patterns(&self) -> Vec<String> {
        match self {
            Self::ReadFile(ReadFile { path, .. })
            | Self::ListDir(ListDir { path, .. })
            | Self::Grep(Grep { path, .. })
            | Self::WriteFile(WriteFile { path, .. })
            | Self::EditFile(EditFile { path, .. })
            | Self::DeleteFile(DeleteFile { path }) => vec![path.clone()],
            Self::NetworkRequest(NetworkRequest { url, method, .. }) => {
                let address = NetworkRequest::address(url);
                let sent = (*method == Method::Post).then(|| format!("POST {address}"));
                [address.to_owned()].into_iter().chain(sent).collect()
            }
        }
    }

    fn risk(&self) -> Risk {
        self.tool().risk()
    }

    fn effect(&self) -> String {
        match self {
            Self::ReadFile(call) => format!("reads `{}`", call.path),
            Self::ListDir(call) => format!("lists `{}`", call.path),
            Self::Grep(call) => format!("searches `{}` for `{}`", call.path, call.pattern),
            Self::WriteFile(call) => {
                format!(
                    "writes {} bytes to `{}`, in place of what is there",
                    call.content.len(),
                    call.path
                )
            }
            Self::EditFile(call) => format!("replaces {} bytes of `{}`", call.old.len(), call.path),
            Self::DeleteFile(call) => format!("deletes `{}`", call.path),
            Self::NetworkRequest(call) => call.effect(),
        }
    }

    fn params(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn read<T: DeserializeOwned>(tool: Tool, params: Value) -> Result<T, InvalidCall> {
    serde_json::from_value(params)
        .map_err(|source| InvalidCall::Params { tool: tool.name(), source })
}

#[cfg(test)]
mod tests;

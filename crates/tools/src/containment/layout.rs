//! How a run sees its workspace, as plain values.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run sees its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViewKind {
    /// The workspace under a layer that takes what is written.
    Overlay,
    /// A copy of the workspace.
    Copy,
    /// The workspace, which cannot be written to.
    ReadOnly,
}

/// Where the namespaces of a view show what.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "other systems have no namespaces to build")]
pub(crate) struct Layout {
    /// The workspace's path.
    pub(crate) workspace: PathBuf,
    /// What is seen there.
    pub(crate) source: Source,
    /// What is seen as `/tmp`.
    pub(crate) temporary: PathBuf,
    /// An empty folder that nobody uses.
    pub(crate) mount_point: PathBuf,
}

/// What is seen in the place of a workspace.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "other systems have no namespaces to build")]
pub(crate) enum Source {
    /// Itself, under the `upper` of this folder, which also has a `work`.
    Overlay(PathBuf),
    /// This folder.
    Copy(PathBuf),
    /// Itself, read-only.
    ReadOnly,
}

/// What is closed to one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Closing {
    /// What cannot be read; a folder stands for everything in it.
    pub(crate) hidden: Vec<PathBuf>,
    /// What cannot be changed.
    pub(crate) protected: Vec<PathBuf>,
    /// What is seen in place of a file.
    pub(crate) replaced: Vec<(PathBuf, PathBuf)>,
    /// Folders that are seen as they are on the machine, read-only.
    pub(crate) linked: Vec<PathBuf>,
    /// How many hidden folders are closed because they are too many to be looked through.
    pub(crate) unsearched: u64,
}

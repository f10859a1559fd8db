//! The walls that stood around a program, as plain values.

use serde::{Deserialize, Serialize};

use super::confinement::{Limits, Network, SandboxMode};
use super::feature::Feature;
use super::layout::ViewKind;

/// How the processes of a sandbox are kept apart and together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Private process and mount namespaces: nothing outside is visible or changeable, all die at
    /// once.
    Namespaces,
    /// A supervisor decides on signals and changes of file metadata; a tracer ends the whole tree.
    Supervised,
    /// A reaper kills what is left at the end, as well as it can.
    Swept,
}

/// The walls that stood around a program, for the audit record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// What was asked for.
    pub mode: SandboxMode,
    /// The Landlock version in force; none means files were not confined.
    pub landlock_abi: Option<u32>,
    /// Whether system calls were filtered.
    pub seccomp: bool,
    /// Whether privileges were given up for good.
    pub no_new_privileges: bool,
    /// The limits in force besides those on time and output, which always are.
    pub limits: Option<Limits>,
    /// Which sockets could be opened; none means any, because system calls were not filtered.
    pub network: Option<Network>,
    /// How many files and folders were closed although a folder that they lie in could be read.
    #[serde(default)]
    pub hidden: u64,
    /// How many of them are folders of the workspace that were too many to be looked through for secrets.
    #[serde(default)]
    pub unsearched: u64,
    /// How the workspace was seen; none if it was not seen through a view.
    #[serde(default)]
    pub view: Option<ViewKind>,
    /// Whether the network was one that nobody else is in.
    #[serde(default)]
    pub private_network: bool,
    /// How processes were kept apart and together.
    pub isolation: Isolation,
    /// What this kernel could not give although it was asked for.
    pub missing: Vec<Feature>,
}

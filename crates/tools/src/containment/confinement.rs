//! What a program may touch and how much it may use, as plain values.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much a missing kernel feature matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Refuse to run where the kernel cannot contain the program.
    #[default]
    Required,
    /// Contain as far as the kernel can, and record what is missing.
    BestEffort,
    /// Do not contain; only the process tree still ends as a whole.
    Off,
}

/// Which sockets a program may open.
///
/// Unix sockets that lead out are in none: a local daemon (container engine, key agent, session
/// bus) acts for its client outside the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None.
    #[default]
    Denied,
    /// Those that stay inside: Unix sockets, and IPv4 and IPv6 over a loopback that only the run has.
    ///
    /// Only a [`View`](crate::view::View) with namespaces has one; elsewhere this is [`Network::Denied`].
    Private,
    /// IPv4 and IPv6.
    Internet,
}

/// How much a program and everything it starts may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Wall time of the whole tree, written in seconds.
    #[serde(with = "seconds")]
    pub time: Duration,
    /// Processor time of one process, written in seconds.
    #[serde(with = "seconds")]
    pub cpu: Duration,
    /// Bytes of memory: private to one process, or ever mapped to be shared (refused at once), and all
    /// that the tree holds (sampled, then killed).
    pub memory: u64,
    /// Processes and threads alive at once.
    pub processes: u64,
    /// Bytes of one written file.
    pub file_size: u64,
    /// Bytes beneath the folders that it writes to and in removed files that are still open (sampled, then
    /// killed). Folders that cannot be listed, or lie more than 128 levels deep, are over the limit.
    pub disk: u64,
    /// Files and folders beneath the folders that it writes to (sampled, then killed).
    pub files: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of standard output and standard error together.
    pub output: u64,
    /// Bytes of each stream that stay in memory.
    pub kept: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            time: Duration::from_secs(120),
            cpu: Duration::from_secs(60),
            memory: 2048 * MIB,
            processes: 256,
            file_size: 512 * MIB,
            disk: 2048 * MIB,
            files: 100_000,
            open_files: 1024,
            output: 1024 * MIB,
            kept: 64 << 10,
        }
    }
}

/// The walls around one program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Files and folders to read and execute, besides the system's own.
    pub read: Vec<PathBuf>,
    /// Paths beneath a readable folder that stay closed, unless something inside them is granted by
    /// itself.
    pub hidden: Vec<PathBuf>,
    /// Files and folders to read and write; absolute and without symbolic links on the way.
    pub write: Vec<PathBuf>,
    /// Sockets.
    pub network: Network,
    /// Resources.
    pub limits: Limits,
    /// What to do where the kernel cannot enforce all this.
    pub mode: SandboxMode,
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(time.as_secs_f64())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(de::Error::custom)
    }
}

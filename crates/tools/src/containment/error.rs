//! Why a program could not be run contained.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use basics::failure::Explain;

use super::feature::Feature;

/// Why a program could not be run; unless it says otherwise, nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel lacks something that the sandbox must have: the contract's `SandboxUnavailable`.
    #[error("the sandbox is not available: no {feature:?} ({detail})")]
    Unavailable {
        /// What is missing.
        feature: Feature,
        /// What the kernel said.
        detail: String,
    },
    /// There is no sandbox at all: the contract's `SandboxUnavailable`, too.
    #[error(
        "the sandbox is not available: it needs Landlock, seccomp and namespaces of Linux, and this program was built for another system"
    )]
    NotLinux,
    /// A path cannot be granted.
    #[error("cannot grant access to `{path}`")]
    Grant {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A writable path holds something that must stay hidden.
    #[error("cannot grant writing to `{writable}`: it contains `{hidden}`, which must stay closed")]
    HiddenInside {
        /// What should be writable.
        writable: PathBuf,
        /// What must stay closed.
        hidden: PathBuf,
    },
    /// An argument, variable or path contains a NUL byte.
    #[error("a NUL byte in {what}")]
    Nul {
        /// Where.
        what: &'static str,
    },
    /// The walls could not be built.
    #[error("cannot {what}")]
    Setup {
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("cannot execute `{program}`")]
    Execute {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program ran and was killed, because its output could not be stored.
    #[error("cannot store the output")]
    Store {
        /// Why.
        source: io::Error,
    },
}

impl Explain for SandboxError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } | Self::NotLinux => "SandboxUnavailable",
            _ => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Unavailable { feature: Feature::Landlock, .. } => {
                "use Linux 5.13 or newer with `landlock` in the `lsm=` boot parameter, or set `execution.sandbox` to `best-effort`"
            }
            Self::Unavailable { feature: Feature::Seccomp, .. } => {
                "use a kernel with `CONFIG_SECCOMP_FILTER` on x86-64 or 64-bit ARM, or set `execution.sandbox` to `best-effort`"
            }
            Self::Unavailable { .. } => {
                "allow user namespaces (`kernel.unprivileged_userns_clone`, `user.max_user_namespaces`, the container's profile), or set `execution.sandbox` to `best-effort`"
            }
            Self::NotLinux => "run scripts with a build for Linux; no setting runs them here",
            Self::Grant { .. } => {
                "give an existing path; a writable one absolute and without symbolic links on its way"
            }
            Self::HiddenInside { .. } => "grant the folders beside it one by one",
            Self::Nul { .. } => "remove the NUL byte",
            Self::Setup { .. } => "run `skillful doctor` to see what this kernel offers",
            Self::Execute { .. } => {
                "check that the program exists, is executable and lies in a readable folder"
            }
            Self::Store { .. } => "free some space where the run is stored",
        }
        .into()
    }
}

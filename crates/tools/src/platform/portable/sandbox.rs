//! No walls: no program is run. Without them it could not even be ended together with everything that it
//! started, so no setting runs it, either.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::containment::{
    Applied, Availability, Closing, Confinement, Exit, Feature, Invocation, Layout, Output,
    SandboxError,
};

/// What a kernel offers: nothing that could contain a program.
#[derive(Debug, Clone)]
pub struct Kernel;

impl Kernel {
    /// There is nothing to try.
    #[must_use]
    pub fn detect() -> Self {
        Self
    }

    /// What was found, feature by feature.
    #[must_use]
    pub fn features(&self) -> &[Availability] {
        &[]
    }

    /// This kernel as if it lacked `feature`, which it does.
    #[must_use]
    pub fn without(self, _feature: Feature) -> Self {
        self
    }

    /// This kernel as if its Landlock were at most version `abi`.
    #[must_use]
    pub fn with_landlock_at_most(self, _abi: u32) -> Self {
        self
    }
}

/// See [`crate::sandbox::applied`].
pub(crate) fn applied(
    _kernel: &Kernel,
    _confinement: &Confinement,
) -> Result<Applied, SandboxError> {
    Err(SandboxError::NotLinux)
}

/// See [`crate::sandbox::run`].
pub(crate) fn run(
    _kernel: &Kernel,
    _confinement: &Confinement,
    _invocation: &Invocation,
    _watched: &[PathBuf],
    _output: Output<'_>,
    _cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    Err(SandboxError::NotLinux)
}

/// Namespaces, of which there are none.
pub(crate) enum Built {}

impl Built {
    /// There is none.
    pub(crate) fn path(&self) -> PathBuf {
        match *self {}
    }

    /// The workspace as it is seen inside.
    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    /// Whether programs can have a network of their own there.
    pub(crate) fn has_network(&self) -> bool {
        match *self {}
    }
}

/// No view has namespaces, so it has a copy.
pub(crate) fn build(_kernel: &Kernel, _layout: Layout) -> Result<Option<Built>, SandboxError> {
    Ok(None)
}

/// Nothing stands around what does not run.
pub(crate) fn applied_inside(
    _kernel: &Kernel,
    built: &Built,
    _confinement: &Confinement,
) -> Result<Applied, SandboxError> {
    match *built {}
}

/// Nothing runs where there is no inside.
pub(crate) fn run_inside(
    _kernel: &Kernel,
    (built, _closing): (&Built, &Closing),
    _confinement: &Confinement,
    _invocation: &Invocation,
    _watched: &[PathBuf],
    _output: Output<'_>,
    _cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    match *built {}
}

/// Whether it is where every Unix keeps its programs.
pub(crate) fn is_system_folder(folder: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/opt"].iter().any(|root| folder.starts_with(root))
}

//! No walls: no program is run. Without them it could not even be ended together with everything that it
//! started, so no setting runs it, either.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::containment::{
    Applied, Availability, Confinement, Exit, Feature, Invocation, Output, SandboxError,
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
    _output: Output<'_>,
    _cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    Err(SandboxError::NotLinux)
}

/// Whether it is where every Unix keeps its programs.
pub(crate) fn is_system_folder(folder: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/opt"].iter().any(|root| folder.starts_with(root))
}

//! Which walls will stand, decided from what the kernel has and how much that matters.

#[cfg(test)]
mod tests;

use super::kernel::{Kernel, Namespacing};
use crate::containment::{
    Applied, Confinement, Feature, Isolation, Network, SandboxError, SandboxMode,
};

/// What the launcher is to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) landlock_abi: u32,
    pub(super) seccomp: bool,
    /// Whether the filter can hand calls over to us.
    pub(super) supervised: bool,
    pub(super) confined: bool,
    pub(super) isolation: Isolation,
    pub(super) namespacing: Namespacing,
    /// Whether new processes wait for the warden.
    pub(super) traced: bool,
    pub(super) network: Network,
    /// Whether the namespaces are those of a view, where others may run, too.
    pub(super) joins: bool,
}

/// The same in the namespaces of a view; where these have no network of their own, there is none.
pub(super) fn plan_inside(
    kernel: &Kernel,
    confinement: &Confinement,
    has_network: bool,
) -> Result<(Plan, Applied), SandboxError> {
    let (mut plan, mut applied) = plan(kernel, confinement)?;
    plan.joins = true;
    if confinement.network == Network::Private && has_network && plan.seccomp {
        plan.network = Network::Private;
        applied.network = Some(Network::Private);
    }
    applied.private_network = confinement.network != Network::Internet;
    Ok((plan, applied))
}

/// Decides on the walls, or refuses where too few can stand.
pub(super) fn plan(
    kernel: &Kernel,
    confinement: &Confinement,
) -> Result<(Plan, Applied), SandboxError> {
    let mode = confinement.mode;
    let confined = mode != SandboxMode::Off;
    let missing = if confined { kernel.missing() } else { Vec::new() };
    if mode == SandboxMode::Required
        && let Some(feature) = indispensable(&missing)
    {
        return Err(SandboxError::Unavailable { feature, detail: kernel.detail(feature) });
    }
    let isolation = if !confined {
        Isolation::Swept
    } else if kernel.namespacing.is_some() {
        Isolation::Namespaces
    } else if kernel.seccomp && kernel.supervision {
        Isolation::Supervised
    } else {
        Isolation::Swept
    };
    // The limit that the kernel puts on a user does not hold for root.
    let uncounted = rustix::process::geteuid().is_root()
        && kernel.namespacing.is_some_and(|namespacing| !namespacing.process_limit);
    let plan = Plan {
        landlock_abi: if confined { kernel.landlock_abi } else { 0 },
        seccomp: confined && kernel.seccomp,
        supervised: confined && kernel.seccomp && kernel.supervision,
        confined,
        isolation,
        namespacing: kernel.namespacing.unwrap_or_default(),
        traced: match isolation {
            Isolation::Namespaces => uncounted && kernel.supervision,
            Isolation::Supervised => true,
            Isolation::Swept => false,
        },
        network: match confinement.network {
            Network::Denied | Network::Private => Network::Denied,
            Network::Internet => Network::Internet,
        },
        joins: false,
    };
    let applied = Applied {
        mode,
        landlock_abi: (plan.landlock_abi > 0).then_some(plan.landlock_abi),
        seccomp: plan.seccomp,
        no_new_privileges: confined,
        limits: confined.then(|| confinement.limits.clone()),
        network: plan.seccomp.then_some(plan.network),
        hidden: if plan.landlock_abi > 0 { confinement.hidden.len() as u64 } else { 0 },
        unsearched: 0,
        view: None,
        private_network: false,
        isolation,
        missing,
    };
    Ok((plan, applied))
}

/// The first missing feature that nothing else can stand in for.
fn indispensable(missing: &[Feature]) -> Option<Feature> {
    let alone = |feature: &Feature| match feature {
        Feature::Landlock | Feature::Seccomp => true,
        Feature::Supervision => missing.contains(&Feature::Namespaces),
        // A supervisor stands in for namespaces, the sampled limit for the kernel's.
        Feature::Namespaces | Feature::ProcessLimit => false,
        // A copy stands in for the one, and no network for the other.
        Feature::Overlay | Feature::PrivateNetwork => false,
    };
    missing.iter().copied().find(alone)
}

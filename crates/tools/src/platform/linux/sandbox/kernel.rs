//! What this kernel can do, found out by trying it in a child.

use std::io;
use std::path::PathBuf;

use super::launch::{self, Launched, Setting};
use super::plan::Plan;
use super::raw;
use super::report::{self, Report};
use crate::containment::{
    Availability, Confinement, Feature, Isolation, Limits, Network, SandboxError, SandboxMode,
};

/// How namespaces can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Namespacing {
    /// Inside a new user namespace, as anybody; otherwise with root's own privileges.
    pub(super) user: bool,
    /// The largest process number can be set.
    pub(super) process_limit: bool,
}

/// What a kernel offers; see [`Kernel::detect`].
#[derive(Debug, Clone)]
pub struct Kernel {
    pub(super) landlock_abi: u32,
    pub(super) seccomp: bool,
    pub(super) supervision: bool,
    pub(super) namespacing: Option<Namespacing>,
    found: Vec<Availability>,
}

impl Kernel {
    /// Tries every feature in a child process; takes a few milliseconds, so keep the result.
    #[must_use]
    pub fn detect() -> Self {
        let mut found = Vec::new();
        let landlock_abi = detect_landlock(&mut found);
        let seccomp = attempt(&mut found, Feature::Seccomp, Plan { seccomp: true, ..bare() });
        let supervised = Plan {
            seccomp: true,
            supervised: true,
            isolation: Isolation::Supervised,
            traced: true,
            ..bare()
        };
        let supervision = attempt(&mut found, Feature::Supervision, supervised);
        let namespacing = detect_namespaces(&mut found);
        Self { landlock_abi, seccomp, supervision, namespacing, found }
    }

    /// What was found, feature by feature.
    #[must_use]
    pub fn features(&self) -> &[Availability] {
        &self.found
    }

    /// This kernel as if it lacked `feature`, to see what happens then.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        match feature {
            Feature::Landlock => self.landlock_abi = 0,
            // A view asks for these.
            Feature::Overlay | Feature::PrivateNetwork => {}
            Feature::Seccomp => self.seccomp = false,
            Feature::Supervision => self.supervision = false,
            Feature::Namespaces => self.namespacing = None,
            Feature::ProcessLimit => {
                self.namespacing =
                    self.namespacing.map(|how| Namespacing { process_limit: false, ..how });
            }
        }
        for line in self.found.iter_mut().filter(|line| line.feature == feature) {
            line.available = false;
            line.detail = "left out on purpose".into();
        }
        self
    }

    /// This kernel as if its Landlock were at most version `abi`.
    #[must_use]
    pub fn with_landlock_at_most(mut self, abi: u32) -> Self {
        self.landlock_abi = self.landlock_abi.min(abi);
        self
    }

    #[cfg(test)]
    pub(super) fn complete() -> Self {
        use Feature::{Landlock, Namespaces, ProcessLimit, Seccomp, Supervision};
        let found = [Landlock, Seccomp, Supervision, Namespaces, ProcessLimit]
            .map(|feature| Availability { feature, available: true, detail: String::new() });
        Self {
            landlock_abi: 7,
            seccomp: true,
            supervision: true,
            namespacing: Some(Namespacing { user: true, process_limit: true }),
            found: found.into(),
        }
    }

    pub(super) fn missing(&self) -> Vec<Feature> {
        self.found.iter().filter(|line| !line.available).map(|line| line.feature).collect()
    }

    pub(super) fn detail(&self, feature: Feature) -> String {
        let line = self.found.iter().find(|line| line.feature == feature);
        line.map(|line| line.detail.clone()).unwrap_or_default()
    }
}

fn bare() -> Plan {
    Plan {
        landlock_abi: 0,
        seccomp: false,
        supervised: false,
        confined: true,
        isolation: Isolation::Swept,
        namespacing: Namespacing::default(),
        traced: false,
        network: Network::Denied,
        joins: false,
    }
}

fn detect_landlock(found: &mut Vec<Availability>) -> u32 {
    let feature = Feature::Landlock;
    let abi = match raw::landlock_version() {
        Ok(abi) => abi,
        Err(error) => {
            found.push(Availability { feature, available: false, detail: error.to_string() });
            return 0;
        }
    };
    let available = attempt(found, feature, Plan { landlock_abi: abi, ..bare() });
    if let (true, Some(line)) = (available, found.last_mut()) {
        line.detail = format!("version {abi}");
    }
    if available { abi } else { 0 }
}

fn detect_namespaces(found: &mut Vec<Availability>) -> Option<Namespacing> {
    let ways = [
        (Namespacing { user: true, process_limit: true }, "user namespace"),
        (Namespacing { user: true, process_limit: false }, "user namespace"),
        (Namespacing { user: false, process_limit: true }, "privileges of root"),
        (Namespacing { user: false, process_limit: false }, "privileges of root"),
    ];
    let plan = |namespacing| Plan { isolation: Isolation::Namespaces, namespacing, ..bare() };
    let mut refusals = Vec::new();
    for (namespacing, way) in ways {
        match try_out(plan(namespacing)) {
            Ok(()) => {
                let mut line = |feature, available, detail: &str| {
                    found.push(Availability { feature, available, detail: detail.into() });
                };
                line(Feature::Namespaces, true, way);
                let limited =
                    if namespacing.process_limit { "pid_max" } else { "before Linux 6.14" };
                line(Feature::ProcessLimit, namespacing.process_limit, limited);
                return Some(namespacing);
            }
            Err(refusal) => refusals.push(format!("{way}: {refusal}")),
        }
    }
    refusals.dedup();
    let detail = refusals.join("; ");
    found.push(Availability { feature: Feature::Namespaces, available: false, detail });
    let detail = "needs namespaces".into();
    found.push(Availability { feature: Feature::ProcessLimit, available: false, detail });
    None
}

fn attempt(found: &mut Vec<Availability>, feature: Feature, plan: Plan) -> bool {
    let (available, detail) = match try_out(plan) {
        Ok(()) => (true, "works".to_owned()),
        Err(refusal) => (false, refusal),
    };
    found.push(Availability { feature, available, detail });
    available
}

/// Builds the walls of `plan` in a child that ends where a program would start.
fn try_out(plan: Plan) -> Result<(), String> {
    let confinement =
        Confinement { limits: Limits::default(), mode: SandboxMode::Off, ..Confinement::default() };
    let folder = PathBuf::from("/");
    let launched = launch::launch(&plan, &confinement, Setting::Machine(&folder), None)
        .map_err(|error| with_source(&error))?;
    match outcome(&launched) {
        Ok(()) => Ok(()),
        Err(error) => Err(with_source(&error)),
    }
}

fn outcome(launched: &Launched) -> Result<(), SandboxError> {
    let mut result = Ok(());
    loop {
        match report::receive(std::os::fd::AsFd::as_fd(&launched.report)) {
            Ok(Some(Report::Failed(stage, number))) => {
                let source = io::Error::from_raw_os_error(number);
                result = Err(SandboxError::Setup { what: stage.purpose(), source });
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(source) => return Err(SandboxError::Setup { what: "hear from the child", source }),
        }
    }
    result
}

/// The message and its cause in one line.
fn with_source(error: &SandboxError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

//! The limits that nobody but us counts: the time, memory and processes of the whole tree, and its
//! disk space.
//!
//! They are sampled: a tree can exceed them for a moment, and then it is killed as a whole.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::Reason;
use super::confinement::Limits;
use super::plan::Plan;
use super::tree;

/// How often the tree is looked at.
const TICK: Duration = Duration::from_millis(50);

/// More time than anybody has; the clock cannot be asked for arbitrarily late times.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Looks at a tree from time to time.
pub(super) struct Patrol<'a> {
    limits: &'a Limits,
    confined: bool,
    root: Pid,
    folder: &'a Path,
    deadline: Instant,
    next: Instant,
    next_on_disk: Instant,
}

impl<'a> Patrol<'a> {
    pub(super) fn new(plan: &Plan, limits: &'a Limits, root: Pid, folder: &'a Path) -> Self {
        let now = Instant::now();
        Self {
            limits,
            confined: plan.confined,
            root,
            folder,
            deadline: now + limits.time.min(LONGEST),
            next: now + TICK,
            next_on_disk: now + TICK,
        }
    }

    /// How long nothing needs to be looked at.
    pub(super) fn time_left(&self) -> Duration {
        let now = Instant::now();
        // A deadline that has passed was acted upon.
        let deadline = if self.deadline > now { self.deadline } else { self.next };
        deadline.min(self.next).saturating_duration_since(now)
    }

    /// Looks, if it is time to, and says which limit has been exceeded.
    pub(super) fn look(&mut self) -> Option<Reason> {
        let now = Instant::now();
        if now >= self.deadline {
            return Some(Reason::Time);
        }
        if now < self.next {
            return None;
        }
        let exceeded = if self.confined { self.measure(now) } else { None };
        self.next = later(now);
        exceeded
    }

    fn measure(&mut self, now: Instant) -> Option<Reason> {
        let processes = tree::descendants(self.root);
        if tree::tasks(&processes) > self.limits.processes {
            return Some(Reason::Processes);
        }
        if tree::exceed_memory(&processes, self.limits.memory) {
            return Some(Reason::Memory);
        }
        if now < self.next_on_disk {
            return None;
        }
        let unlinked = tree::unlinked_bytes(&processes);
        let enough = self.limits.disk.saturating_sub(unlinked).saturating_add(1);
        let used = tree::bytes_beneath(self.folder, enough).saturating_add(unlinked);
        self.next_on_disk = later(now);
        (used > self.limits.disk).then_some(Reason::Disk)
    }
}

/// When to look again: what takes long is done rarely.
fn later(started: Instant) -> Instant {
    Instant::now() + (20 * started.elapsed()).clamp(TICK, 20 * TICK)
}

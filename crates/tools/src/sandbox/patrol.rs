//! The limits that nobody but us counts: the time, memory and processes of the whole tree, and its
//! disk space.
//!
//! They are sampled: a tree can exceed them for a moment, and then it is killed as a whole.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
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
        self.next = now + TICK;
        if !self.confined {
            return None;
        }
        let processes = tree::descendants(self.root);
        if tree::tasks(&processes) > self.limits.processes {
            return Some(Reason::Processes);
        }
        if tree::exceed_memory(&processes, self.limits.memory) {
            return Some(Reason::Memory);
        }
        if now >= self.next_on_disk {
            let used = used_space(self.folder);
            // A folder that takes long to count is counted rarely.
            self.next_on_disk = Instant::now() + TICK + 20 * now.elapsed();
            return (used > self.limits.disk).then_some(Reason::Disk);
        }
        None
    }
}

/// The bytes beneath a folder; a file without content still counts as something.
fn used_space(folder: &Path) -> u64 {
    const BLOCK: u64 = 512;
    const ENTRY: u64 = 4096;
    let mut used = 0;
    let mut folders: Vec<PathBuf> = vec![folder.into()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            used += (metadata.blocks() * BLOCK).max(ENTRY);
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    used
}

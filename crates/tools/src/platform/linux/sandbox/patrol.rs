//! The limits that nobody but us counts: the time, memory and processes of the whole tree, and its
//! disk space.
//!
//! They are sampled: a tree can exceed them for a moment, and then it is killed as a whole. Looks are 50
//! milliseconds apart, 10 once half of a limit is used; where a look itself takes long, because there are
//! hundreds of processes or of thousands of files, they are ten times as far apart as it took, and never
//! more than half a second. The walk through the files happens more rarely than that, unless the disk
//! fills up meanwhile.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::disk::{Beneath, Enough};
use super::open_files::{self, OpenFiles};
use super::plan::Plan;
use super::tree::{self, Process};
use super::{disk, memory};
use crate::containment::{Limits, Reason};

/// How often the tree is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How often, once it may soon exceed a limit.
const SHORT_TICK: Duration = Duration::from_millis(10);

/// How often at least.
const LONG_TICK: Duration = Duration::from_millis(500);

/// More time than anybody has; the clock cannot be asked for arbitrarily late times.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Looks at a tree from time to time.
pub(super) struct Patrol<'a> {
    limits: &'a Limits,
    confined: bool,
    root: Pid,
    folders: &'a [PathBuf],
    /// What the buffers of a socket may hold.
    socket: u64,
    deadline: Instant,
    next: Instant,
    disk: Disk,
}

/// What is known of the disk.
struct Disk {
    next: Instant,
    /// What the tree used when it was looked at last.
    used: Beneath,
    /// What was free then.
    free: u64,
    /// The most that was ever free.
    most_free: u64,
}

impl<'a> Patrol<'a> {
    pub(super) fn new(plan: &Plan, limits: &'a Limits, root: Pid, folders: &'a [PathBuf]) -> Self {
        let now = Instant::now();
        let free = if plan.confined { free_space(folders) } else { 0 };
        Self {
            limits,
            confined: plan.confined,
            root,
            folders,
            socket: memory::of_a_socket(plan.network),
            deadline: now + limits.time.min(LONGEST),
            next: now + TICK,
            disk: Disk { next: now + TICK, used: Beneath::default(), free, most_free: free },
        }
    }

    /// How long nothing needs to be looked at.
    pub(super) fn time_left(&self) -> Duration {
        let now = Instant::now();
        // A deadline that has passed was acted upon.
        let deadline = if self.deadline > now { self.deadline } else { self.next };
        deadline.min(self.next).saturating_duration_since(now)
    }

    /// Looks, if it is time to, and says which limit has been exceeded, given how much shared memory was
    /// handed out; none to a program that does not run yet.
    pub(super) fn look(&mut self, shared: Option<u64>) -> Option<Reason> {
        let now = Instant::now();
        if now >= self.deadline {
            return Some(Reason::Time);
        }
        if now < self.next {
            return None;
        }
        let Some(shared) = shared.filter(|_| self.confined) else {
            self.next = now + TICK;
            return None;
        };
        let processes = tree::descendants(self.root);
        if tree::tasks(&processes) > self.limits.processes {
            return Some(Reason::Processes);
        }
        let memory = memory::used(&processes, shared, self.socket, self.limits.memory);
        if memory > self.limits.memory {
            return Some(Reason::Memory);
        }
        let is_close = memory > self.limits.memory / 2
            || self.disk.used.bytes > self.limits.disk / 2
            || self.disk.used.files > self.limits.files / 2;
        self.next = later(now, if is_close { SHORT_TICK } else { TICK });
        self.look_at_disk(&processes)
    }

    fn look_at_disk(&mut self, processes: &[Process]) -> Option<Reason> {
        let now = Instant::now();
        let free = free_space(self.folders);
        self.disk.most_free = self.disk.most_free.max(free);
        let room = self.limits.disk.saturating_sub(self.disk.used.bytes);
        if now < self.disk.next && self.disk.free.saturating_sub(free) < room / 2 {
            return None;
        }
        let open = OpenFiles::of(processes);
        let enough = Beneath {
            bytes: self.limits.disk.saturating_sub(open.unlinked).saturating_add(1),
            files: self.limits.files.saturating_add(1),
        };
        let beneath = match disk::beneath(self.folders, enough) {
            Ok(beneath) => beneath,
            Err(Enough::Bytes) => return Some(Reason::Disk),
            Err(Enough::Files) => return Some(Reason::Files),
        };
        // What the tree can hide from us it cannot hide from the disk. Others use it as well, so a full
        // disk alone proves nothing.
        let filled = self.disk.most_free.saturating_sub(free);
        if filled > self.limits.disk && (!open.complete || open_files::map_unlinked(processes)) {
            return Some(Reason::Disk);
        }
        let bytes = beneath.bytes.saturating_add(open.unlinked);
        if bytes > self.limits.disk {
            return Some(Reason::Disk);
        }
        let next = Instant::now() + (20 * now.elapsed()).clamp(TICK, 2 * LONG_TICK);
        self.disk = Disk { next, used: Beneath { bytes, ..beneath }, free, ..self.disk };
        None
    }
}

/// What is free where they lie, which is one disk.
fn free_space(folders: &[PathBuf]) -> u64 {
    folders.first().map_or(0, |folder| disk::free_space(folder))
}

/// When to look again: what takes long is done rarely.
fn later(started: Instant, tick: Duration) -> Instant {
    Instant::now() + (10 * started.elapsed()).clamp(tick, LONG_TICK)
}

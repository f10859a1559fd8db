//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A wish to stop, shared between whoever has it and whoever must hear it.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    wished: Arc<AtomicBool>,
    /// When it is to stop at the latest.
    deadline: Option<Instant>,
}

impl Cancel {
    /// Wishes it.
    pub fn request(&self) {
        self.wished.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for what looks at it while it waits.
    pub fn flag(&self) -> &AtomicBool {
        &self.wished
    }

    /// Whether it was wished.
    pub fn requested(&self) -> bool {
        self.wished.load(Ordering::Relaxed)
    }

    /// The same wish, with so much time until then.
    pub fn within(&self, time: Duration) -> Self {
        Self { wished: Arc::clone(&self.wished), deadline: Instant::now().checked_add(time) }
    }

    /// How much time is left, where it is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

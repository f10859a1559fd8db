//! The machine's clock.

use std::time::{Duration, Instant};

use super::Clock;

/// The machine's clock, since a run began.
#[derive(Debug, Clone)]
pub struct SystemClock {
    began: Instant,
    /// What earlier processes spent on the run.
    before: Duration,
}

impl SystemClock {
    /// A clock that starts now, for a run on which `before` was spent already.
    pub fn starting(before: Duration) -> Self {
        Self { began: Instant::now(), before }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}

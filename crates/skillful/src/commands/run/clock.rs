//! The machine's clock.

use std::time::{Duration, Instant};

use agent::driver::Clock;

/// The machine's clock, since a run began.
pub(super) struct SystemClock {
    began: Instant,
    /// What earlier processes spent on the run.
    before: Duration,
}

impl SystemClock {
    pub(super) fn starting(before: Duration) -> Self {
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

//! The machine's clock, with and without waiting.

use std::cell::Cell;
use std::time::{Duration, Instant};

use agent::model::Cancel;

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

/// A clock that skips every pause, for a model that is scripted: it need not wait for a server that is not there. What was skipped counts against the run's time; the time of day stays what it is.
#[derive(Debug, Clone)]
pub struct SkippingClock {
    own: SystemClock,
    skipped: Cell<Duration>,
}

impl SkippingClock {
    /// A clock that starts now, for a run on which `before` was spent already.
    pub fn starting(before: Duration) -> Self {
        Self { own: SystemClock::starting(before), skipped: Cell::default() }
    }
}

impl Clock for SkippingClock {
    fn now(&self) -> jiff::Timestamp {
        self.own.now()
    }

    fn elapsed(&self) -> Duration {
        self.own.elapsed().saturating_add(self.skipped.get())
    }

    fn pause(&self, time: Duration, _: &Cancel) {
        self.skipped.set(self.skipped.get().saturating_add(time));
    }
}

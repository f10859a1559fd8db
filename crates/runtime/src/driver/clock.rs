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
    /// What people took for their answers.
    left_out: Cell<Duration>,
}

impl SystemClock {
    /// A clock that starts now, for a run on which `before` was spent already.
    pub fn starting(before: Duration) -> Self {
        Self { began: Instant::now(), before, left_out: Cell::default() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed().saturating_sub(self.left_out.get())
    }

    fn leave_out(&self, time: Duration) {
        self.left_out.set(self.left_out.get().saturating_add(time));
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

    fn leave_out(&self, time: Duration) {
        self.own.leave_out(time);
    }

    fn pause(&self, time: Duration, _: &Cancel) {
        self.skipped.set(self.skipped.get().saturating_add(time));
    }
}

//! How often and when a model that failed is asked again.
//!
//! Nothing here waits: a failure says how long to wait, and whoever drives the run does.

use std::time::Duration;

use agent::reply::Reply;
use basics::failure::Explain;

use crate::failure::{Again, CallError};

/// How often and when to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Tries after the first.
    pub retries: u32,
    /// The first wait; each further one is twice as long.
    pub first: Duration,
    /// The longest wait that is worth it; a server that asks for more is not asked again.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { retries: 4, first: Duration::from_millis(500), longest: Duration::from_secs(60) }
    }
}

impl Backoff {
    /// The wait before the next try after this many failures, with `random` from 0 to 1.
    pub(crate) fn wait(&self, failures: u32, again: Again, random: f64) -> Option<Duration> {
        let (tries, asked) = match again {
            Again::Never => (0, None),
            Again::Once => (1, None),
            Again::Later(asked) => (self.retries, asked),
        };
        if failures > tries.min(self.retries) || asked.is_some_and(|asked| asked > self.longest) {
            return None;
        }
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let usual = self.first.saturating_mul(doubled).min(self.longest);
        // Others that failed at the same time must not all come back at the same time.
        let jittered = usual.mul_f64(0.5 + 0.5 * random.clamp(0.0, 1.0));
        Some(jittered.max(asked.unwrap_or_default()))
    }

    /// What is said about the latest of so many failures of `who`.
    pub(crate) fn reply(&self, who: &str, error: &CallError, failures: u32, random: f64) -> Reply {
        let wait = self.wait(failures, error.again(), random);
        let tries = match (wait, failures) {
            (None, 2..) => format!(" ({failures} tries)"),
            _ => String::new(),
        };
        let next = match wait {
            Some(wait) => format!("trying again in {:.1} s", wait.as_secs_f64()),
            None => error.hint().into_owned(),
        };
        Reply::Failed {
            code: error.code().to_owned(),
            message: format!("{who} {error}{tries}; {next}"),
            retry_after_ms: wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            summary: Some(error.summary().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;

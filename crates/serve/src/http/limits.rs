//! What is too much for one server.

use std::time::Duration;

/// How many clients are served at once, and how long they are waited for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Sessions at once; one more is refused, and those that are there go on.
    pub sessions: usize,
    /// Connections at once; one more waits until another is closed.
    pub connections: usize,
    /// Requests that are carried out at once; one more is refused. A long one counts as several.
    pub requests: usize,
    /// How long a client has to send the headers of a request, or to begin with the next one.
    pub head: Duration,
    /// How long a client has to send the body of a request, and to come back when it broke off in the middle
    /// of a call.
    pub patience: Duration,
    /// How long a session lives in which nothing happens.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 1_000,
            connections: 4_096,
            requests: 2_048,
            head: Duration::from_secs(30),
            patience: Duration::from_secs(10),
            idle: Duration::from_secs(300),
        }
    }
}

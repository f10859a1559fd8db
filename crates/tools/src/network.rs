//! `network_request`: one HTTP request to a host that the configuration names.
//!
//! Invariants: on every hop the rules are no stricter than for what was approved, the host is on the
//! list and all its addresses are public (or allowed by name), and the connection goes to an address that was checked; no proxy, no cookie, no second look-up.

use std::thread;

use permission::Pattern;
use permission::params::NetworkRequest;
use reqwest::Url;

use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::sight::Sight;

mod address;
mod error;
mod exchange;
mod request;

pub use error::NetworkError;
pub use request::InvalidRequest;
pub(crate) use request::normal_request;

/// Which hosts may be reached. By default none.
#[derive(Clone, Debug, Default)]
pub struct NetworkPolicy {
    /// Hosts, as `HOST` or `HOST:PORT`, with wildcards.
    pub hosts: Vec<Pattern>,
    /// Those of them that may have private, loopback or link-local addresses.
    pub private_hosts: Vec<Pattern>,
}

impl NetworkPolicy {
    fn allows(&self, url: &Url) -> bool {
        lists(&self.hosts, url)
    }

    fn allows_private(&self, url: &Url) -> bool {
        lists(&self.private_hosts, url)
    }
}

fn lists(patterns: &[Pattern], url: &Url) -> bool {
    // A dot at the end makes a name absolute; it is the same host.
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let with_port = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
    patterns.iter().any(|pattern| pattern.matches(host) || pattern.matches(&with_port))
}

/// Sends the request and follows where it leads.
pub(crate) fn network_request(
    call: &NetworkRequest,
    policy: &NetworkPolicy,
    limits: &Limits,
    sight: &Sight<'_>,
) -> Result<Outcome, NetworkError> {
    let call = normal_request(call)?;
    // A thread of its own, so that it works whether or not the caller runs inside of a runtime.
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("network_request".to_owned())
            .spawn_scoped(scope, || run(&call, policy, limits, sight))
            .map_err(NetworkError::Start)?;
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run(
    call: &NetworkRequest,
    policy: &NetworkPolicy,
    limits: &Limits,
    sight: &Sight<'_>,
) -> Result<Outcome, NetworkError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(NetworkError::Start)?;
    let limit = limits.network_time;
    let result = runtime.block_on(async {
        let exchange = exchange::exchange(call, policy, limits, sight);
        tokio::time::timeout(limit, exchange)
            .await
            .unwrap_or_else(|_| Err(NetworkError::Timeout { url: call.url.clone(), limit }))
    });
    // A look-up that hangs must not keep us past the limit.
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests;

//! What can go wrong on the way.

use std::borrow::Cow;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use basics::failure::Explain;

use super::InvalidRequest;

/// Why a network request failed.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// It is not a request that can be sent.
    #[error(transparent)]
    Invalid(#[from] InvalidRequest),
    /// The host is not on the list.
    #[error("`{host}` is not an allowed host")]
    Host {
        /// The host.
        host: String,
    },
    /// The host has an address inside of the network.
    #[error("`{host}` has the address {address}, which is not a public one")]
    Private {
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
    },
    /// The host has no address.
    #[error("cannot find `{host}`")]
    Lookup {
        /// The host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// The server did not answer properly.
    #[error("cannot reach `{url}`")]
    Exchange {
        /// The address.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server sends us on to something that cannot be followed.
    #[error("`{url}` redirects to `{location}`, which is not followed")]
    Redirect {
        /// The address.
        url: String,
        /// Where it leads.
        location: String,
    },
    /// It goes on and on.
    #[error("`{url}` redirects more than {limit} times")]
    Redirects {
        /// The address that was asked for.
        url: String,
        /// How often it may.
        limit: usize,
    },
    /// It took too long.
    #[error("`{url}` did not answer within {} seconds", limit.as_secs_f32())]
    Timeout {
        /// The address that was asked for.
        url: String,
        /// How long it may take.
        limit: Duration,
    },
    /// The operating system gives us no thread or no event queue.
    #[error("cannot start a network request")]
    Start(#[source] io::Error),
}

impl Explain for NetworkError {
    fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "InvalidAction",
            Self::Host { .. } | Self::Private { .. } | Self::Redirect { .. } => "ToolNotAllowed",
            Self::Timeout { .. } => "Timeout",
            Self::Lookup { .. }
            | Self::Exchange { .. }
            | Self::Redirects { .. }
            | Self::Start(_) => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Invalid(error) => return error.hint(),
            Self::Host { .. } => {
                "do without it; only the user can allow a host, in the configuration"
            }
            Self::Private { .. } => {
                "do without it; only the user can allow private addresses, in the configuration"
            }
            Self::Redirect { .. } => "request the other address itself, if it is needed",
            Self::Lookup { .. } => "check the spelling of the host",
            Self::Exchange { .. }
            | Self::Redirects { .. }
            | Self::Timeout { .. }
            | Self::Start(_) => "try again once, then do without it",
        }
        .into()
    }
}

//! Why a call of a model came to nothing.
//!
//! A message reads on from the name of the server: `api.example.com` + `answered 503: overloaded`.

use std::borrow::Cow;
use std::time::Duration;

use basics::failure::Explain;
use thiserror::Error;

/// Why a call of a model came to nothing.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CallError {
    /// The server does not understand the request.
    #[error("refused the request ({status}): {message}")]
    Refused {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The conversation is longer than the model's window.
    #[error("says that the conversation is too long ({status}): {message}")]
    ContextTooLong {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The key is missing or wrong.
    #[error("refused the key ({status}): {message}")]
    Unauthorized {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The key is right, but not good for this.
    #[error("does not allow this with your key ({status}): {message}")]
    Forbidden {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// There is no such model.
    #[error("does not know the model (404): {message}")]
    NotFound {
        /// What the server says.
        message: String,
    },
    /// There is something at this address, but no model server.
    #[error("has no model server at this address (404): {message}")]
    WrongAddress {
        /// What the server says.
        message: String,
    },
    /// Too many requests or tokens in a short time.
    #[error("says that there are too many requests ({status}): {message}")]
    RateLimited {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
        /// How long it wants to be left alone.
        wait: Option<Duration>,
    },
    /// Nothing is left of what was paid for.
    #[error("says that the quota is used up ({status}): {message}")]
    QuotaExceeded {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The server has a problem of its own.
    #[error("has a problem ({status}): {message}")]
    Server {
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
        /// How long it wants to be left alone.
        wait: Option<Duration>,
    },
    /// The server sends us elsewhere.
    #[error("redirects to `{location}` ({status}), and redirects are not followed")]
    Redirected {
        /// The status.
        status: u16,
        /// Where to.
        location: String,
    },
    /// The machine is there, and no server.
    #[error("does not answer, because no server listens there: {reason}")]
    NotListening {
        /// Why.
        reason: String,
    },
    /// There is no connection.
    #[error("cannot be reached: {reason}")]
    Unreachable {
        /// Why.
        reason: String,
    },
    /// It took too long.
    #[error("{what} within {} s", limit.as_secs_f32())]
    Timeout {
        /// What did not happen.
        what: Late,
        /// How long it may take.
        limit: Duration,
    },
    /// The connection or the stream broke.
    #[error("broke the connection: {reason}")]
    Broken {
        /// How.
        reason: String,
    },
    /// The answer is not one of a model.
    #[error("sent something that is not a model's answer: {reason}")]
    Malformed {
        /// What.
        reason: String,
    },
    /// The answer never ends.
    #[error("sent more than {limit} bytes")]
    TooLong {
        /// How long it may be.
        limit: usize,
    },
    /// The model does not want to.
    #[error("has a model that refuses: {message}")]
    Declined {
        /// What it says.
        message: String,
    },
    /// We are not able to ask.
    #[error("cannot be asked: {reason}")]
    Unable {
        /// Why.
        reason: String,
    },
    /// Somebody wants to stop.
    #[error("did not answer before you cancelled the call")]
    Cancelled,
}

/// What did not happen in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// A connection.
    Connection,
    /// The next piece of the answer.
    Piece,
    /// The end of the answer.
    End,
}

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connection => "did not accept a connection",
            Self::Piece => "sent nothing",
            Self::End => "did not finish its answer",
        })
    }
}

/// Whether it is worth asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No.
    Never,
    /// Once: it has taken long already.
    Once,
    /// A few times, not before what the server asked for.
    Later(Option<Duration>),
}

impl CallError {
    /// What it comes to, in a few words for the user.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "the model's server refused the request",
            Self::ContextTooLong { .. } => "the conversation is too long for the model",
            Self::Unauthorized { .. } => "the model's server refused the key",
            Self::Forbidden { .. } => "the key may not use this model",
            Self::NotFound { .. } => "the server does not know the model",
            Self::WrongAddress { .. } => "there is no model server at this address",
            Self::RateLimited { .. } => "the model's server got too many requests",
            Self::QuotaExceeded { .. } => "the quota at the model's server is used up",
            Self::Server { .. } => "the model's server has a problem",
            Self::Redirected { .. } => "the model's server has another address",
            Self::NotListening { .. } => "the model's server does not run",
            Self::Unreachable { .. } => "the model's server could not be reached",
            Self::Timeout { .. } => "the model took too long",
            Self::Broken { .. } => "the connection to the model broke",
            Self::Malformed { .. } | Self::TooLong { .. } => {
                "the server did not answer like a model's server"
            }
            Self::Declined { .. } => "the model refused to answer",
            Self::Unable { .. } => "the model could not be asked",
            Self::Cancelled => "the call was cancelled",
        }
    }

    pub(crate) fn again(&self) -> Again {
        match self {
            Self::RateLimited { wait, .. } | Self::Server { wait, .. } => Again::Later(*wait),
            Self::Broken { .. } | Self::Malformed { .. } => Again::Later(None),
            Self::Timeout { what: Late::Connection | Late::Piece, .. } => Again::Once,
            _ => Again::Never,
        }
    }
}

impl Explain for CallError {
    fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "RequestRefused",
            Self::ContextTooLong { .. } => "ContextTooLong",
            Self::Unauthorized { .. } => "Unauthorized",
            Self::Forbidden { .. } => "Forbidden",
            Self::NotFound { .. } => "ModelNotFound",
            Self::WrongAddress { .. } => "WrongAddress",
            Self::RateLimited { .. } => "RateLimited",
            Self::QuotaExceeded { .. } => "QuotaExceeded",
            Self::Server { .. } => "ServerError",
            Self::Redirected { .. } => "Redirected",
            Self::NotListening { .. } | Self::Unreachable { .. } => "Unreachable",
            Self::Timeout { .. } => "Timeout",
            Self::Broken { .. } => "StreamBroken",
            Self::Malformed { .. } => "MalformedAnswer",
            Self::TooLong { .. } => "AnswerTooLong",
            Self::Declined { .. } => "ModelDeclined",
            Self::Unable { .. } => "ModelSetup",
            Self::Cancelled => "Cancelled",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Refused { .. } => "check `model.params`, or set `model.protocol` to \"json\"",
            Self::ContextTooLong { .. } => "lower `budget.max_context_chars`",
            Self::Unauthorized { .. } => {
                "check the key; `skillful doctor` says where it is taken from"
            }
            Self::Forbidden { .. } => {
                "check at the provider what your key may use, or choose another --model"
            }
            Self::NotFound { .. } => "check the name in --model",
            Self::WrongAddress { .. } => "check the address in --base-url; most end in /v1",
            Self::RateLimited { .. } => "wait, then try again, or choose another --model",
            Self::QuotaExceeded { .. } => {
                "buy more quota at the provider, or choose another --model"
            }
            Self::Server { .. } | Self::Broken { .. } => "try again later",
            Self::Redirected { .. } => "set --base-url to the real address",
            Self::NotListening { .. } => "start the server, or check its address",
            Self::Unreachable { .. } => "check the address, your network and your proxy settings",
            Self::Timeout { what: Late::Connection, .. } => {
                "check the address and your proxy settings"
            }
            Self::Timeout { .. } => {
                "raise `model.idle_timeout_seconds` or `model.timeout_seconds` for a slow model"
            }
            Self::Malformed { .. } | Self::TooLong { .. } => {
                "check that --base-url is the address of a model server"
            }
            Self::Declined { .. } => "use other words, or choose another --model",
            Self::Unable { .. } => "check the settings under `model`",
            Self::Cancelled => "try again",
        }
        .into()
    }
}

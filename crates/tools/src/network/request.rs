//! What makes a request one that can be sent.

use std::borrow::Cow;

use basics::failure::Explain;
use permission::params::{Method, NetworkRequest};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

/// Why a request cannot be sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    /// Its address is no address of a web page.
    #[error("`{url}` is not an `http` or `https` address without user name and password")]
    Url {
        /// The address.
        url: String,
    },
    /// One of its headers cannot be sent.
    #[error("the header `{name}` cannot be set, or not to this value")]
    Header {
        /// The header.
        name: String,
    },
    /// It has a body where there can be none.
    #[error("only a `POST` has a body")]
    Body,
}

impl Explain for InvalidRequest {
    fn code(&self) -> &'static str {
        "InvalidAction"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Url { .. } => "give a whole address, for example `https://example.com/data.json`",
            Self::Header { .. } => "leave the header out",
            Self::Body => "use `POST`, or leave `body` out",
        }
        .into()
    }
}

/// Headers that would change where the request goes or where it ends.
const RESERVED: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "expect",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-connection",
];

/// The request with its address in the one form that rules are matched against.
pub(crate) fn normal_request(request: &NetworkRequest) -> Result<NetworkRequest, InvalidRequest> {
    let url =
        normal_url(&request.url).ok_or_else(|| InvalidRequest::Url { url: request.url.clone() })?;
    for (name, value) in &request.headers {
        let reserved = RESERVED.contains(&name.to_ascii_lowercase().as_str());
        if reserved || HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err()
        {
            return Err(InvalidRequest::Header { name: name.clone() });
        }
    }
    if request.body.is_some() && request.method != Method::Post {
        return Err(InvalidRequest::Body);
    }
    Ok(NetworkRequest { url: url.into(), ..request.clone() })
}

/// An address that a request can go to: `http` or `https`, a host, no credentials, no fragment.
pub(super) fn normal_url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    let web = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some_and(|host| !host.is_empty());
    if !web || !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    url.set_fragment(None);
    Some(url)
}

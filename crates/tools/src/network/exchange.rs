//! Sending a request, and following where it leads.

use std::io;
use std::net::SocketAddr;

use basics::sha256::Sha256;
use permission::params::{Method, NetworkRequest};
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::json;

use super::address::is_public;
use super::request::normal_url;
use super::{InvalidRequest, NetworkError, NetworkPolicy};
use crate::limits::Limits;
use crate::outcome::{Outcome, shortened};
use crate::sight::Sight;

/// Sends the request, again for each redirect, and reads the answer.
pub(super) async fn exchange(
    call: &NetworkRequest,
    policy: &NetworkPolicy,
    limits: &Limits,
    sight: &Sight<'_>,
) -> Result<Outcome, NetworkError> {
    let mut url =
        normal_url(&call.url).ok_or_else(|| InvalidRequest::Url { url: call.url.clone() })?;
    let mut call = call.clone();
    for _ in 0..=limits.redirects {
        let addresses = checked_addresses(&url, policy).await?;
        let response = send(&call, &url, &addresses).await?;
        match redirect(&url, &response, &call, sight)? {
            Some(next) => {
                follow(&mut call, &url, &next, response.status());
                url = next;
            }
            None => return answer(response, &url, limits).await,
        }
    }
    Err(NetworkError::Redirects { url: call.url, limit: limits.redirects })
}

/// The addresses of a host, if it may be reached at every one of them.
async fn checked_addresses(
    url: &Url,
    policy: &NetworkPolicy,
) -> Result<Vec<SocketAddr>, NetworkError> {
    let host = url.host_str().unwrap_or_default().to_owned();
    if !policy.allows(url) {
        return Err(NetworkError::Host { host });
    }
    let addresses = match addresses(url).await {
        Ok(addresses) => addresses,
        Err(source) => return Err(NetworkError::Lookup { host, source }),
    };
    let private = addresses.iter().map(SocketAddr::ip).find(|address| !is_public(*address));
    match private {
        Some(address) if !policy.allows_private(url) => {
            Err(NetworkError::Private { host, address })
        }
        _ => Ok(addresses),
    }
}

async fn addresses(url: &Url) -> io::Result<Vec<SocketAddr>> {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or_default();
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

/// One request, to one of the addresses and nowhere else.
pub(super) async fn send(
    call: &NetworkRequest,
    url: &Url,
    addresses: &[SocketAddr],
) -> Result<Response, NetworkError> {
    // The first one to install a provider wins; they are all the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |source: reqwest::Error| NetworkError::Exchange {
        url: url.to_string(),
        source: deepest(&source).into(),
    };
    let client = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .resolve_to_addrs(url.host_str().unwrap_or_default(), addresses)
        .user_agent(concat!("skillful/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(failed)?;
    let method = match call.method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Post => reqwest::Method::POST,
    };
    let mut request = client.request(method, url.clone());
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    if let Some(body) = &call.body {
        request = request.body(body.clone());
    }
    request.send().await.map_err(failed)
}

/// What really happened; the outer layers only say that something did.
fn deepest(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Where a response leads, if it does.
fn redirect(
    url: &Url,
    response: &Response,
    call: &NetworkRequest,
    sight: &Sight<'_>,
) -> Result<Option<Url>, NetworkError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
    let next = url.join(&location).ok().and_then(|next| normal_url(next.as_str()));
    let repeats = matches!(
        response.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let followed = next.filter(|next| {
        // Nobody approved sending the body anywhere else, or anything in the clear.
        !(repeats && call.method == Method::Post)
            && sight.covers(NetworkRequest::address(next.as_str()))
            && (url.scheme() == next.scheme() || next.scheme() == "https")
    });
    match followed {
        Some(next) => Ok(Some(next)),
        None => Err(NetworkError::Redirect { url: url.to_string(), location }),
    }
}

/// Turns the call into the one that a redirect asks for.
fn follow(call: &mut NetworkRequest, from: &Url, to: &Url, status: StatusCode) {
    if call.method == Method::Post
        || (status == StatusCode::SEE_OTHER && call.method != Method::Head)
    {
        call.method = Method::Get;
        call.body = None;
    }
    // Headers may hold keys that are meant for the first host only.
    if from.origin() != to.origin() {
        call.headers.clear();
    }
}

async fn answer(
    mut response: Response,
    url: &Url,
    limits: &Limits,
) -> Result<Outcome, NetworkError> {
    let mut body = Vec::new();
    let mut cut = false;
    let failed = |source: reqwest::Error| NetworkError::Exchange {
        url: url.to_string(),
        source: deepest(&source).into(),
    };
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        let room = limits.kept_bytes - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    let facts = json!({
        "url": url.as_str(),
        "status": response.status().as_u16(),
        "content_type": header(response.headers(), CONTENT_TYPE.as_str()),
        "location": header(response.headers(), LOCATION.as_str()),
        "size": body.len(),
        "text": true,
    });
    Ok(to_outcome(body, cut, facts, limits.shown_bytes))
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// A text is shown as far as the limit goes; anything else is only stored.
fn to_outcome(body: Vec<u8>, cut: bool, mut facts: serde_json::Value, limit: usize) -> Outcome {
    let text = match std::str::from_utf8(&body) {
        Ok(text) => Some(text),
        // The limit may have gone through the middle of a character.
        Err(error) if cut && error.error_len().is_none() => {
            std::str::from_utf8(&body[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    let Some(text) = text.filter(|text| !text.contains('\0')) else {
        facts["text"] = false.into();
        return Outcome {
            truncated: true,
            full: Some(body.clone()),
            ..Outcome::done(Sha256::of(&body).to_string(), facts)
        };
    };
    match shortened(text, limit) {
        Some(part) => Outcome::shown(part.to_owned(), body, facts),
        None => Outcome { truncated: cut, ..Outcome::text(text.to_owned(), limit, facts) },
    }
}

//! A zip file behind an https address.
//!
//! Invariant: nothing is asked for in the clear, however often an address leads to another; what comes
//! is counted while it comes.

use std::fs::File;
use std::io::{Seek, Write};

use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use super::{Fetching, SourceError};

const REDIRECTS: usize = 5;
/// Room for names and headers around the content.
const OVERHEAD: u64 = 16 << 20;

/// Downloads into a temporary file; answers with the address that it came from in the end.
pub(super) fn download(url: &str, fetching: &Fetching) -> Result<(File, String), SourceError> {
    let failed = |reason: String| SourceError::Fetch { url: url.to_owned(), reason };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    let result = runtime.block_on(async {
        let download = follow(url, fetching.limits.bytes.saturating_add(OVERHEAD));
        match tokio::time::timeout(fetching.time, download).await {
            Ok(result) => result,
            Err(_) => Err(failed(format!("it took more than {} s", fetching.time.as_secs()))),
        }
    });
    // A look-up that hangs must not keep us.
    runtime.shutdown_background();
    result
}

async fn follow(url: &str, limit: u64) -> Result<(File, String), SourceError> {
    // The first one to install a provider wins; they are all the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |reason: String| SourceError::Fetch { url: url.to_owned(), reason };
    let agent = concat!("skillful/", env!("CARGO_PKG_VERSION"));
    let client =
        Client::builder().https_only(true).redirect(Policy::none()).user_agent(agent).build();
    let client = client.map_err(|error| failed(deepest(&error)))?;
    let mut address = Url::parse(url).map_err(|error| failed(error.to_string()))?;
    for _ in 0..=REDIRECTS {
        let response =
            client.get(address.clone()).send().await.map_err(|error| failed(deepest(&error)))?;
        match redirect(&address, &response)? {
            Some(next) => address = next,
            None if response.status().is_success() => {
                return Ok((save(response, url, limit).await?, address.into()));
            }
            None => return Err(failed(format!("the answer is {}", response.status()))),
        }
    }
    Err(failed(format!("it redirects more than {REDIRECTS} times")))
}

fn redirect(address: &Url, response: &Response) -> Result<Option<Url>, SourceError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
    match address.join(&location) {
        Ok(next) if next.scheme() == "https" => Ok(Some(next)),
        _ => Err(SourceError::Redirect { url: address.to_string(), location }),
    }
}

async fn save(mut response: Response, url: &str, limit: u64) -> Result<File, SourceError> {
    let failed = |reason: String| SourceError::Fetch { url: url.to_owned(), reason };
    let mut file = tempfile::tempfile().map_err(|error| failed(error.to_string()))?;
    let mut count = 0_u64;
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(deepest(&error)))? {
        count += chunk.len() as u64;
        if count > limit {
            return Err(SourceError::TooLarge { url: url.to_owned(), limit });
        }
        file.write_all(&chunk).map_err(|error| failed(error.to_string()))?;
    }
    file.rewind().map_err(|error| failed(error.to_string()))?;
    Ok(file)
}

/// What really happened; the outer layers only say that something did.
fn deepest(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

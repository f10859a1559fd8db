//! Sending: the one file that opens connections.
//!
//! Invariants: a redirect is never followed, so that a key goes nowhere but where it was meant to; no call takes longer
//! than its limits, whatever the server does.

pub mod local;

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use agent::model::Cancel;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response};
use tokio::runtime::{Builder, Runtime};

use crate::failure::{CallError, Late};
use crate::request::HttpRequest;
use crate::status::{Head, refused};

/// How connections are made.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Certificates of further authorities, as PEM.
    pub authorities: Option<Vec<u8>>,
    /// How long that may take.
    pub limit: Duration,
}

impl Default for Connection {
    fn default() -> Self {
        Self { authorities: None, limit: Duration::from_secs(10) }
    }
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Between two pieces, and before the first.
    pub idle: Duration,
    /// From the beginning to the end.
    pub total: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(120), total: Duration::from_secs(600) }
    }
}

/// Sends requests; connections are kept for the next one.
#[derive(Debug)]
pub struct Sender {
    connection: Connection,
    /// Both are made when they are needed: most programs start without asking anyone.
    opened: Option<(Runtime, Client)>,
}

/// What to do after a piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Read on.
    More,
    /// Only the end of the answer is missing, or what it cost: worth a moment and no error.
    Ended,
    /// Do not read on.
    Enough,
}

/// How long a connection is kept for the next request: less than the five seconds after which many servers close it.
const KEPT: Duration = Duration::from_secs(4);
/// How often to look whether somebody wants to stop.
const GLANCE: Duration = Duration::from_millis(20);
/// How long the end of an answer is waited for that is complete but for that.
const GRACE: Duration = Duration::from_millis(500);
/// How much is read of an answer that is an error.
const MAX_ERROR_BYTES: usize = 64 << 10;

impl Sender {
    /// Sends nothing yet.
    pub fn new(connection: Connection) -> Self {
        Self { connection, opened: None }
    }

    /// Sends a request and passes the bytes of the answer on, as they come.
    pub fn send(
        &mut self,
        request: &HttpRequest,
        waits: Waits,
        cancel: &Cancel,
        take: &mut dyn FnMut(&[u8]) -> Result<Progress, CallError>,
    ) -> Result<(), CallError> {
        let watch = Watch { cancel, waits, began: Instant::now(), answered: Cell::new(false) };
        let was_kept = self.opened.is_some();
        let ended = self.attempt(request, &watch, take);
        // A server may close at any time what was kept; that is no failure of this request.
        let was_closed = matches!(ended, Err(CallError::Broken { .. })) && !watch.answered.get();
        if was_kept && was_closed { self.attempt(request, &watch, take) } else { ended }
    }

    fn attempt(
        &mut self,
        request: &HttpRequest,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(&[u8]) -> Result<Progress, CallError>,
    ) -> Result<(), CallError> {
        if self.opened.is_none() {
            self.opened = Some(open(&self.connection, request)?);
        }
        let Some((runtime, client)) = &self.opened else { unreachable!("it was just opened") };
        let ended = runtime.block_on(exchange(client, request, &self.connection, watch, take));
        if !matches!(ended, Ok(End::Reached)) {
            self.close();
        }
        ended.map(drop)
    }

    /// Closes every connection, so that a server need not go on with what nobody waits for.
    fn close(&mut self) {
        if let Some((runtime, client)) = self.opened.take() {
            drop(client);
            // A look-up that hangs must not keep anyone.
            runtime.shutdown_background();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.close();
    }
}

/// How reading an answer ended.
enum End {
    /// All of it was read.
    Reached,
    /// It was left before its end.
    Left,
}

fn open(connection: &Connection, request: &HttpRequest) -> Result<(Runtime, Client), CallError> {
    let unable = |reason: String| CallError::Unable { reason };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unable(error.to_string()))?;
    // The first one to install a provider wins; they are all the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .redirect(Policy::none())
        .connect_timeout(connection.limit)
        .tcp_nodelay(true)
        .pool_idle_timeout(KEPT)
        .user_agent(concat!("skillful/", env!("CARGO_PKG_VERSION")));
    if is_loopback(&request.url) {
        client = client.no_proxy();
    }
    if request.url.starts_with("http://") {
        // Reading the machine's certificates takes longer than a short answer.
        client = client.tls_certs_only([]);
    }
    if let Some(pem) = &connection.authorities {
        let authorities = Certificate::from_pem_bundle(pem);
        let authorities = authorities.map_err(|error| unable(deepest(&error)))?;
        client = client.tls_certs_merge(authorities);
    }
    let client = client.build().map_err(|error| unable(deepest(&error)))?;
    Ok((runtime, client))
}

/// Whether an address is on this machine, where no proxy has anything to do.
pub fn is_loopback(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = host.unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn exchange(
    client: &Client,
    request: &HttpRequest,
    connection: &Connection,
    watch: &Watch<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<Progress, CallError>,
) -> Result<End, CallError> {
    let mut sent = client.post(&request.url).header(CONTENT_TYPE, "application/json");
    for (name, value) in &request.headers {
        sent = sent.header(name, value.expose());
    }
    let failed = |error: reqwest::Error| classified(&error, connection);
    let sent = sent.body(request.body.clone()).send();
    let mut response = watch.over(sent, watch.waits.idle).await?.map_err(failed)?;
    watch.answered.set(true);
    let status = response.status();
    if !status.is_success() {
        return Err(error(response, watch).await);
    }
    let mut progress = Progress::More;
    while progress != Progress::Enough {
        let patience = if progress == Progress::Ended { GRACE } else { watch.waits.idle };
        match (watch.over(response.chunk(), patience).await, progress) {
            (Ok(Ok(Some(piece))), _) => progress = take(&piece)?,
            (Ok(Ok(None)), _) => return Ok(End::Reached),
            (Err(CallError::Cancelled), _) => return Err(CallError::Cancelled),
            (_, Progress::Ended) => return Ok(End::Left),
            (Ok(Err(error)), _) => return Err(broken(&error)),
            (Err(error), _) => return Err(error),
        }
    }
    Ok(End::Left)
}

/// The error that an answer is.
async fn error(mut response: Response, watch: &Watch<'_>) -> CallError {
    let head = head(&response);
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES {
        match watch.over(response.chunk(), watch.waits.idle.min(Duration::from_secs(5))).await {
            Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
            Err(CallError::Cancelled) => return CallError::Cancelled,
            // The status says enough.
            _ => break,
        }
    }
    body.truncate(MAX_ERROR_BYTES);
    refused(&head, &body, jiff::Timestamp::now())
}

fn head(response: &Response) -> Head {
    let text = |headers: &HeaderMap, name| {
        headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    Head {
        status: response.status().as_u16(),
        location: text(response.headers(), LOCATION),
        retry_after: text(response.headers(), RETRY_AFTER),
    }
}

/// Why a request got no answer at all.
fn classified(error: &reqwest::Error, connection: &Connection) -> CallError {
    if error.is_timeout() && error.is_connect() {
        return CallError::Timeout { what: Late::Connection, limit: connection.limit };
    }
    if error.is_builder() {
        return CallError::Unable { reason: deepest(error) };
    }
    let reason = deepest(error);
    match error.is_connect() {
        true if is_refused(error) => CallError::NotListening { reason },
        true => CallError::Unreachable { reason },
        false => broken(error),
    }
}

/// Whether the machine said that nobody listens.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let refused = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    let own = error.downcast_ref().is_some_and(refused);
    own || error.source().is_some_and(is_refused)
}

fn broken(error: &reqwest::Error) -> CallError {
    CallError::Broken { reason: deepest(error) }
}

/// What really happened; the outer layers only say that something did.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Someone who looks at the clock and at whether somebody wants to stop.
struct Watch<'a> {
    cancel: &'a Cancel,
    waits: Waits,
    began: Instant,
    /// Whether an answer has begun.
    answered: Cell<bool>,
}

impl Watch<'_> {
    /// Waits for something, no longer than `patience` and what is left of the whole.
    async fn over<F: Future>(&self, what: F, patience: Duration) -> Result<F::Output, CallError> {
        let mut what = pin!(what);
        let began = Instant::now();
        loop {
            if self.cancel.requested() {
                return Err(CallError::Cancelled);
            }
            let (waited, whole) = (began.elapsed(), self.began.elapsed());
            let Some(left) = self.waits.total.checked_sub(whole).filter(|left| !left.is_zero())
            else {
                return Err(CallError::Timeout { what: Late::End, limit: self.waits.total });
            };
            let Some(patient) = patience.checked_sub(waited).filter(|left| !left.is_zero()) else {
                return Err(CallError::Timeout { what: Late::Piece, limit: patience });
            };
            let glance = GLANCE.min(left).min(patient);
            if let Ok(done) = tokio::time::timeout(glance, &mut what).await {
                return Ok(done);
            }
        }
    }
}

//! MCP over streamable HTTP.
//!
//! Invariant: over a network address nothing is done with a request that does not carry the token; a socket
//! file answers only processes of its user. Invariant: a request whose `Host` or `Origin` is not this
//! server's own is refused, so that no web page reaches it through a browser. Invariant: whatever clients
//! do, sessions, connections and requests stay within their limits.

mod connections;
mod entrance;
mod limits;
mod places;
mod presence;
mod sessions;
mod token;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, RETRY_AFTER};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::lines::LONGEST;
use crate::mcp::Connection;
use crate::shelf::Shelf;
pub use entrance::Entrance;
pub use limits::Limits;
use places::Places;
use presence::Presence;
use sessions::{Entry, Sessions};
pub use token::{Token, TokenError};

/// The path under which MCP is spoken.
pub const PATH: &str = "/mcp";

/// Seconds after which a client that found no room may try again.
const LATER: &str = "10";

/// Where clients come in, and how many of them.
pub struct Door {
    /// Where they connect.
    pub entrance: Entrance,
    /// Names under which the server is reached, besides those of this machine.
    pub names: Vec<String>,
    /// What is too much.
    pub limits: Limits,
}

/// Serves every client that connects until `stop`.
pub async fn serve_http(
    shelf: Arc<Shelf>,
    Door { entrance, names, limits }: Door,
    stop: CancellationToken,
) -> io::Result<()> {
    let config = config(entrance.port()?, &names).with_cancellation_token(stop.clone());
    let sessions = Arc::new(Sessions::new(&limits));
    let presence = Presence::new(Arc::clone(sessions.manager()), limits.patience);
    let places = Arc::new(Places::new(limits.requests));
    let reception = Reception { shelf, sessions: Arc::clone(&sessions), config };
    let mut router = Router::new()
        .route(PATH, any(move |request| reception.clone().answer(request)))
        .layer(from_fn(move |request, next| Arc::clone(&presence).watch(request, next)))
        .layer(from_fn(move |request, next| receive(limits.patience, request, next)))
        .layer(from_fn(move |request, next| Arc::clone(&places).take(request, next)));
    if let Some(token) = entrance.token() {
        // The last layer is the first that a request meets.
        router =
            router.layer(from_fn(move |request, next| Arc::clone(&token).admit(request, next)));
    }
    connections::serve(entrance, router, &limits, stop).await;
    sessions.close().await;
    Ok(())
}

/// Answers a request that was let in.
#[derive(Clone)]
struct Reception {
    shelf: Arc<Shelf>,
    sessions: Arc<Sessions>,
    config: StreamableHttpServerConfig,
}

impl Reception {
    async fn answer(self, request: Request) -> Response {
        let Self { shelf, sessions, config } = self;
        let most = sessions.most();
        let entry = Arc::new(Entry::new(sessions));
        let make = move || Ok(Connection::new(Arc::clone(&shelf)));
        let service = StreamableHttpService::new(make, Arc::clone(&entry), config);
        let answer = service.handle(request).await;
        if entry.was_refused() {
            return no_room(format!(
                "there are already {most} sessions; end one, or try again later"
            ));
        }
        answer.map(Body::new)
    }
}

/// Lets a request in when all of it is there.
async fn receive(patience: Duration, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(patience, to_bytes(body, LONGEST)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, body.into())).await,
        Ok(Err(_)) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

/// The server is as busy as it may be.
fn no_room(words: impl IntoResponse) -> Response {
    let header: [(HeaderName, &str); 1] = [(RETRY_AFTER, LATER)];
    (StatusCode::SERVICE_UNAVAILABLE, header, words).into_response()
}

/// Without a port no page can have come from here, so every `Origin` is a foreign one.
fn config(port: Option<u16>, names: &[String]) -> StreamableHttpServerConfig {
    let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let hosts: Vec<String> = own.into_iter().chain(names.iter().cloned()).collect();
    let origins =
        hosts.iter().zip(port.into_iter().cycle()).map(|(host, port)| match host.contains(':') {
            true => format!("http://[{host}]:{port}"),
            false => format!("http://{host}:{port}"),
        });
    StreamableHttpServerConfig::default()
        .with_allowed_origins(origins)
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST)
}

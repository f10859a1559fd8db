//! MCP over streamable HTTP.
//!
//! Invariant: a request whose `Host` or `Origin` is not this server's own is refused, so that no web page
//! reaches it through a browser.

mod presence;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::lines::LONGEST;
use crate::mcp::Connection;
use crate::shelf::Shelf;
use presence::Presence;

/// The path under which MCP is spoken.
pub const PATH: &str = "/mcp";

/// Where clients come in.
pub struct Door {
    /// Where they connect.
    pub listener: TcpListener,
    /// Names under which the server is reached, besides those of this machine.
    pub names: Vec<String>,
    /// How long a client has to send the body of a request, and to come back when it broke off in the middle
    /// of a call.
    pub patience: Duration,
}

/// Serves every client that connects until `stop`.
pub async fn serve_http(
    shelf: Arc<Shelf>,
    Door { listener, names, patience }: Door,
    stop: CancellationToken,
) -> io::Result<()> {
    let config = config(listener.local_addr()?, &names).with_cancellation_token(stop.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let presence = Presence::new(Arc::clone(&sessions), patience);
    let service = StreamableHttpService::new(
        move || Ok(Connection::new(Arc::clone(&shelf))),
        Arc::clone(&sessions),
        config,
    );
    let watch = from_fn(move |request, next| Arc::clone(&presence).watch(request, next));
    let receive = from_fn(move |request, next| receive(patience, request, next));
    let router = Router::new().route_service(PATH, service).layer(watch).layer(receive);
    let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
    let open: Vec<_> = sessions.sessions.read().await.keys().cloned().collect();
    for session in open {
        // One that has just ended by itself is as good.
        let _ = sessions.close_session(&session).await;
    }
    served
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

fn config(address: SocketAddr, names: &[String]) -> StreamableHttpServerConfig {
    let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let hosts: Vec<String> = own.into_iter().chain(names.iter().cloned()).collect();
    let port = address.port();
    let origins = hosts.iter().map(|host| match host.contains(':') {
        true => format!("http://[{host}]:{port}"),
        false => format!("http://{host}:{port}"),
    });
    StreamableHttpServerConfig::default()
        .with_allowed_origins(origins)
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST)
}

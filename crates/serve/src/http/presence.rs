//! Who is still there.
//!
//! The protocol lets a client whose connection broke come back for the answer, so a broken connection ends
//! nothing by itself. A client that broke off in the middle of a call and has no other connection is waited
//! for; then its session ends, and with it what the call runs.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Method, Request, Response};
use axum::middleware::Next;
use http_body::{Frame, SizeHint};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::task::AbortHandle;

/// Clients that have something open, or broke off.
pub(super) struct Presence {
    sessions: Arc<LocalSessionManager>,
    patience: Duration,
    clients: Mutex<HashMap<String, Client>>,
}

#[derive(Default)]
struct Client {
    /// Answers that are being sent.
    open: usize,
    /// Whether a call's answer broke off, and none has come to its end since.
    broke_off: bool,
    /// Ends the session unless the client comes back.
    leaving: Option<AbortHandle>,
}

impl Presence {
    pub(super) fn new(sessions: Arc<LocalSessionManager>, patience: Duration) -> Arc<Self> {
        Arc::new(Self { sessions, patience, clients: Mutex::default() })
    }

    /// Watches the answer to a request of a session.
    pub(super) async fn watch(
        self: Arc<Self>,
        request: Request<Body>,
        next: Next,
    ) -> Response<Body> {
        let session = request.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
        let Some(session) = session.map(str::to_owned) else { return next.run(request).await };
        let is_call = request.method() == Method::POST;
        self.came(&session);
        // From here on, so that a request that is given up before its answer begins counts too.
        let mut answer = Answer { presence: self, session, is_call, ended: false };
        let response = next.run(request).await;
        answer.ended = response.body().is_end_stream();
        response.map(|body| Body::new(Watched { body, answer }))
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<String, Client>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn came(&self, session: &str) {
        let mut clients = self.clients();
        let client = clients.entry(session.to_owned()).or_default();
        client.open += 1;
        if let Some(leaving) = client.leaving.take() {
            leaving.abort();
            client.broke_off = false;
        }
    }

    fn went(self: &Arc<Self>, Answer { session, is_call, ended, .. }: &Answer) {
        let mut clients = self.clients();
        let Some(client) = clients.get_mut(session) else { return };
        client.open -= 1;
        client.broke_off = !ended && (client.broke_off || *is_call);
        match (client.open, client.broke_off) {
            (0, true) => client.leaving = self.end_later(session.clone()),
            (0, false) => {
                clients.remove(session);
            }
            _ => {}
        }
    }

    /// Nothing when the program ends, and all sessions with it.
    fn end_later(self: &Arc<Self>, session: String) -> Option<AbortHandle> {
        let presence = Arc::clone(self);
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        let leaving = runtime.spawn(async move {
            tokio::time::sleep(presence.patience).await;
            presence.clients().remove(&session);
            // One that has ended by itself is as good.
            let _ = presence.sessions.close_session(&session.into()).await;
        });
        Some(leaving.abort_handle())
    }
}

/// An answer that is being sent.
struct Answer {
    presence: Arc<Presence>,
    session: String,
    is_call: bool,
    ended: bool,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.presence.went(self);
    }
}

/// A body that knows whether it was sent to its end.
struct Watched {
    body: Body,
    answer: Answer,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.answer.ended = frame.is_none() || self.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

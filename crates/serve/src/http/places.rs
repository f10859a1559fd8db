//! Requests that are carried out, and how many of them there may be.
//!
//! Invariant: a request holds its places until both what it began and its answer have come to an end, even
//! when the client does not wait for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::no_room;
use crate::lines::LONGEST;

/// Bytes of a body for each place it takes, so that places bound memory too.
const SHARE: u64 = 128 * 1024;

/// Places for requests.
pub(super) struct Places {
    free: Arc<Semaphore>,
    all: u32,
}

/// The places of one request; whoever works on it has a share.
#[derive(Clone)]
struct Held {
    _places: Arc<OwnedSemaphorePermit>,
}

impl Places {
    pub(super) fn new(all: usize) -> Self {
        let all = u32::try_from(all).unwrap_or(u32::MAX).max(1);
        Self { free: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Lets a request in when there is room for it.
    pub(super) async fn take(self: Arc<Self>, mut request: Request, next: Next) -> Response {
        // What waits for news of the server does no work, and ending a session makes room.
        if request.method() != Method::POST {
            return next.run(request).await;
        }
        let bytes = request.body().size_hint().exact().unwrap_or(LONGEST as u64);
        let wanted = u32::try_from(bytes / SHARE + 1).unwrap_or(u32::MAX).min(self.all);
        let Ok(places) = Arc::clone(&self.free).try_acquire_many_owned(wanted) else {
            return no_room("too many requests at once; try again later");
        };
        let held = Held { _places: Arc::new(places) };
        // The head of a request stays with whatever carries it out.
        request.extensions_mut().insert(held.clone());
        let response = next.run(request).await;
        response.map(|body| Body::new(Answer { body, _held: held }))
    }
}

/// The answer to a request that holds places.
struct Answer {
    body: Body,
    _held: Held,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

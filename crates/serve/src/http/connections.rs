//! The connections of clients: how many, how long, and how much they may send before they are known.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::entrance::{Entrance, Stream};
use super::limits::Limits;

/// Bytes that a request may have before its body.
const HEAD_BYTES: usize = 32 * 1024;

/// Serves connections until `stop`, and those that are open then to their end, if it comes soon.
pub(super) async fn serve(
    entrance: Entrance,
    router: Router,
    limits: &Limits,
    stop: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut open = JoinSet::new();
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, entrance.accept().await)
        };
        tokio::select! {
            (place, stream) = next => {
                let (router, head, stop) = (router.clone(), limits.head, stop.clone());
                open.spawn(async move {
                    converse(stream, router, head, &stop).await;
                    drop(place);
                });
            }
            Some(_) = open.join_next() => {}
            () = stop.cancelled() => break,
        }
    }
    drop(entrance);
    let all = async { while open.join_next().await.is_some() {} };
    // Whoever is not done then is cut off.
    let _ = timeout(limits.patience, all).await;
}

async fn converse(stream: Stream, router: Router, head: Duration, stop: &CancellationToken) {
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
    );
    tokio::select! {
        // A client that breaks off is no error.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

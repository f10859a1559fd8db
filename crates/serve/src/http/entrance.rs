//! Where clients connect.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_util::either::Either;

use super::token::Token;

/// How long it waits when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Where clients connect, and what lets them in.
#[derive(Debug)]
pub enum Entrance {
    /// A network address, which every user of the machine can reach.
    Network {
        /// Where clients connect.
        listener: TcpListener,
        /// What each of their requests must carry.
        token: Token,
    },
    /// A socket file.
    Socket {
        /// Where clients connect.
        listener: UnixListener,
        /// The user whose processes are let in.
        user: u32,
    },
}

/// A client's connection.
pub(super) type Stream = Either<TcpStream, UnixStream>;

impl Entrance {
    /// The port, where there is one.
    pub(super) fn port(&self) -> io::Result<Option<u16>> {
        match self {
            Self::Network { listener, .. } => Ok(Some(listener.local_addr()?.port())),
            Self::Socket { .. } => Ok(None),
        }
    }

    /// What a request must carry, where not the system says who sends it.
    pub(super) fn token(&self) -> Option<Arc<Token>> {
        match self {
            Self::Network { token, .. } => Some(Arc::new(token.clone())),
            Self::Socket { .. } => None,
        }
    }

    /// The next connection. Nothing is lost when this is given up while it waits.
    pub(super) async fn accept(&self) -> Stream {
        loop {
            match self.next().await {
                Ok(Some(stream)) => return stream,
                Ok(None) => {}
                Err(error) if concerns_one(&error) => {}
                // There are no more files to be had; some will be closed.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Nothing when it was another user's process.
    async fn next(&self) -> io::Result<Option<Stream>> {
        match self {
            Self::Network { listener, .. } => Ok(Some(Either::Left(listener.accept().await?.0))),
            Self::Socket { listener, user } => {
                let (stream, _) = listener.accept().await?;
                let is_own = stream.peer_cred()?.uid() == *user;
                Ok(is_own.then_some(Either::Right(stream)))
            }
        }
    }
}

/// Whether only this one connection failed.
fn concerns_one(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, NotConnected};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | NotConnected)
}

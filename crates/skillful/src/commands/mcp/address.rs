//! Where a server listens for HTTP.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serve::http::{Entrance, PATH};
use tokio::net::{TcpListener, TcpSocket};

use super::socket::SocketFile;
use super::token::Chosen;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// An address of the network, or a socket file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    Network(SocketAddr),
    Socket(PathBuf),
}

/// A text that is no address.
#[derive(Debug, thiserror::Error)]
#[error("not an address: use HOST:PORT with a numeric host, or unix:PATH")]
pub(super) struct NotAnAddress;

impl FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        match text.strip_prefix("unix:") {
            Some("") => Err(NotAnAddress),
            Some(path) => Ok(Self::Socket(path.into())),
            None => text.parse().map(Self::Network).map_err(|_| NotAnAddress),
        }
    }
}

/// What is listened on; a socket's file goes with it.
pub(super) type Listening = (Entrance, Option<SocketFile>);

/// Listens on a network address, and says what clients must send.
pub(super) fn listen_on_network(
    address: SocketAddr,
    chosen: Chosen,
    output: &Output,
) -> Result<Listening, Failure> {
    if output.quiet && matches!(chosen, Chosen::Made(_)) {
        let message = "with --quiet you would not see the token";
        return Err(Failure::new(Exit::Usage, "Usage", message)
            .hint("give one with --token-file, or in SKILLFUL_MCP_TOKEN"));
    }
    let listener = listener(address).map_err(|error| {
        Failure::new(Exit::Failed, "IOError", format!("cannot listen on `{address}`: {error}"))
            .hint("choose another port; 0 takes any that is free")
    })?;
    output.note(&format!("listening on http://{}{PATH}", listener.local_addr()?));
    match &chosen {
        Chosen::Made(token) => {
            output.note("clients must send this header; it is valid until the server stops:");
            output.note(&token.header());
        }
        Chosen::Given(_) => {
            output.note(
                "clients must send the header `Authorization: Bearer TOKEN`, with your token",
            );
        }
    }
    Ok((Entrance::Network { listener, token: chosen.token() }, None))
}

/// Listens on a socket file, for processes of this user.
pub(super) async fn listen_on_file(path: &Path, output: &Output) -> Result<Listening, Failure> {
    let (listener, file) = SocketFile::listen(path).await?;
    output.note(&format!("listening on unix:{}, at {PATH}", path.display()));
    let user = rustix::process::geteuid().as_raw();
    Ok((Entrance::Socket { listener, user }, Some(file)))
}

/// Many clients may come at the same moment.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4_096)
}

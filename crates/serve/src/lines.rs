//! JSON-RPC over lines, as on standard input and output.
//!
//! Invariant: whatever comes in is answered or passed over, and the next line is read; no line takes more
//! memory than [`LONGEST`].

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Bytes of the longest message that is read.
pub(crate) const LONGEST: usize = 4 * 1024 * 1024;

/// What a line turned out to be.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Something else, which is answered with this error.
    Wrong(Box<ServerJsonRpcMessage>),
    /// Nothing that wants an answer.
    Nothing,
}

/// Reads one line.
pub fn read_message(line: &[u8]) -> Incoming {
    if line.trim_ascii().is_empty() {
        return Incoming::Nothing;
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return wrong(ErrorCode::PARSE_ERROR, "this is not JSON", None);
    };
    let (method, id) = (value.get("method").cloned(), value.get("id").cloned());
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(Box::new(message)),
        // An answer that cannot be understood has nobody to be answered to.
        Err(_) if method.is_none() && id.is_some() => Incoming::Nothing,
        Err(_) => {
            let id = id.and_then(|id| serde_json::from_value(id).ok());
            wrong(ErrorCode::INVALID_REQUEST, "this is not a JSON-RPC 2.0 message", id)
        }
    }
}

fn wrong(code: ErrorCode, message: &'static str, id: Option<RequestId>) -> Incoming {
    let error = ErrorData::new(code, message, None);
    Incoming::Wrong(Box::new(ServerJsonRpcMessage::error(error, id)))
}

/// Messages over a reader and a writer.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is still to come.
    skipping: bool,
    /// Whether a request was read: before that there is nothing to notify or to answer.
    begun: bool,
    write: Arc<Mutex<W>>,
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Lines<R, W> {
    pub(crate) fn new(read: R, write: W) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            begun: false,
            write: Arc::new(Mutex::new(write)),
        }
    }

    /// What was read stays in `line` when this is dropped before it is done.
    async fn next(&mut self) -> Line {
        loop {
            let Ok(available) = self.read.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return Line::End;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let too_long = self.line.len() + taken > LONGEST;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            if too_long && !self.skipping {
                self.line = Vec::new();
                self.skipping = true;
            }
            if end.is_some() {
                return if std::mem::take(&mut self.skipping) {
                    Line::TooLong
                } else {
                    Line::Whole
                };
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let incoming = match self.next().await {
                Line::End => return None,
                Line::TooLong => wrong(ErrorCode::INVALID_REQUEST, "the message is too long", None),
                Line::Whole => {
                    let incoming = read_message(&self.line);
                    self.line.clear();
                    incoming
                }
            };
            match incoming {
                Incoming::Message(message) => {
                    self.begun |= matches!(*message, ClientJsonRpcMessage::Request(_));
                    if self.begun {
                        return Some(*message);
                    }
                }
                Incoming::Wrong(error) => self.send(*error).await.ok()?,
                Incoming::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}

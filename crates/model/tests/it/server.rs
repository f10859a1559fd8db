//! A model's server that does what a test tells it: answers whole or in pieces, waits, breaks off, hangs up.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;

/// What is done for one request.
#[derive(Clone)]
pub(crate) enum Play {
    /// Sends these bytes, then keeps the connection for the next request.
    Send(Vec<u8>),
    /// Sends these pieces, each in a packet of its own, then closes.
    Pieces(Vec<Vec<u8>>),
    /// Sends these bytes, then nothing, until the client goes away.
    Hang(Vec<u8>),
    /// Sends these bytes again and again, until the client goes away.
    Flood(Vec<u8>, Vec<u8>),
    /// Waits until the test comes there, too, then sends these bytes.
    #[allow(dead_code, reason = "the tests of the program use it")]
    Meet(Arc<Barrier>, Vec<u8>),
    /// Closes the connection without a word.
    Reset,
}

/// A request as it arrived, and the connection on which it did.
pub(crate) struct Heard {
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) connection: usize,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heard: Receiver<Heard>,
    /// Told when a client goes away in the middle of an answer.
    left: Receiver<()>,
}

impl Server {
    /// Does these things for one request after the other.
    pub(crate) fn new(plays: Vec<Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = channel();
        let (leave, left) = channel();
        thread::spawn(move || {
            let mut plays = plays.into_iter();
            for (connection, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                // A packet for each piece, as a test means it.
                stream.set_nodelay(true).unwrap();
                if serve(stream, connection, &mut plays, &tell, &leave).is_none() {
                    break;
                }
            }
        });
        Self { address, heard, left }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The next request.
    pub(crate) fn heard(&self) -> Heard {
        self.heard.recv().unwrap()
    }

    /// Requests that came and were not looked at.
    pub(crate) fn others(&self) -> usize {
        self.heard.try_iter().count()
    }

    /// Waits until a client has gone away from a hanging answer.
    pub(crate) fn wait_until_left(&self) {
        self.left.recv().unwrap();
    }
}

/// Plays for the requests of one connection; nothing when there is nothing left to play.
fn serve(
    stream: TcpStream,
    connection: usize,
    plays: &mut impl Iterator<Item = Play>,
    tell: &Sender<Heard>,
    leave: &Sender<()>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let Some((head, body)) = read_request(&mut reader) else { return Some(()) };
        let play = plays.next()?;
        // A test that is over no longer listens.
        let _ = tell.send(Heard { head, body, connection });
        // A client may go away at any time.
        match play {
            Play::Send(bytes) => drop(stream.write_all(&bytes)),
            Play::Meet(gate, bytes) => {
                gate.wait();
                drop(stream.write_all(&bytes));
            }
            Play::Pieces(pieces) => {
                pieces.iter().for_each(|piece| drop(stream.write_all(piece)));
                return Some(());
            }
            Play::Hang(bytes) => {
                let _ = stream.write_all(&bytes);
                let _ = reader.read(&mut [0]);
                let _ = leave.send(());
                return Some(());
            }
            Play::Flood(head, bytes) => {
                let _ = stream.write_all(&head);
                while stream.write_all(&bytes).is_ok() {}
                let _ = leave.send(());
                return Some(());
            }
            Play::Reset => return Some(()),
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_lowercase().lines().find_map(|line| {
        line.strip_prefix("content-length: ").and_then(|text| text.trim().parse().ok())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

/// An answer with its length.
pub(crate) fn whole(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Some\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The head of an answer that comes in chunks.
pub(crate) const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// One chunk.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// A stream in chunks of a few bytes each.
pub(crate) fn stream(body: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut pieces = vec![STREAM.to_vec()];
    pieces.extend(body.chunks(size).map(chunk));
    pieces.push(b"0\r\n\r\n".to_vec());
    pieces
}

/// A recorded answer.
pub(crate) fn recorded(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

//! A server that speaks https and gives its answers one after the other.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::{ServerConnection, StreamOwned};
use tempfile::NamedTempFile;

pub(crate) enum Answer {
    Body(Vec<u8>),
    Redirect(String),
    /// Leads to itself, again and again.
    Loop,
    Missing,
    /// Never ends.
    Endless,
}

pub(crate) struct Server {
    port: u16,
    /// What vouches for it.
    pub(crate) certificate: NamedTempFile,
}

impl Server {
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .unwrap();
        let config = Arc::new(config);
        let mut certificate = NamedTempFile::new().unwrap();
        certificate.write_all(made.cert.pem().as_bytes()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for answer in answers {
                let times = if matches!(answer, Answer::Loop) { 6 } else { 1 };
                for _ in 0..times {
                    let (stream, _) = listener.accept().unwrap();
                    let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                    // The client hangs up where it has had enough.
                    let _ = give(StreamOwned::new(connection, stream), &answer);
                }
            }
        });
        Self { port, certificate }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}

fn give(mut stream: impl Read + Write, answer: &Answer) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    let redirect = |to: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    };
    match answer {
        Answer::Body(body) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            )?;
            stream.write_all(body)?;
        }
        Answer::Redirect(to) => stream.write_all(redirect(to).as_bytes())?,
        Answer::Loop => stream.write_all(redirect("/again").as_bytes())?,
        Answer::Missing => stream.write_all(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        )?,
        Answer::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[0; 65_536])?;
            }
        }
    }
    stream.flush()
}

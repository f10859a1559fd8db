//! A server behind TLS that speaks HTTP/2 or HTTP/1.1, with a certificate of an authority of its own; and a proxy.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agent::model::Cancel;
use bytes::Bytes;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use skillful_model::failure::CallError;
use skillful_model::request::HttpRequest;
use skillful_model::secret::Secret;
use skillful_model::send::{Connection, Progress, Sender, Waits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::whole;

const ANSWER: &[u8] = b"data: [DONE]\n\n";

struct Secure {
    port: u16,
    /// Its certificate, as PEM.
    certificate: Vec<u8>,
}

/// A server for one connection, which agrees to speak one of these protocols.
fn secure(protocols: &[&[u8]]) -> Secure {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key.into())
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let (tell, port) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap().port()).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            // A client that does not trust the certificate goes away.
            let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await else {
                return;
            };
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let mut body = respond.send_response(http::Response::new(()), false).unwrap();
                    body.send_data(Bytes::from_static(ANSWER), true).unwrap();
                }
            } else {
                let _ = stream.read(&mut [0; 65_536]).await;
                let _ = stream.write_all(&whole(200, "", ANSWER)).await;
                let _ = stream.shutdown().await;
            }
        });
    });
    Secure { port: port.recv().unwrap(), certificate: cert.pem().into_bytes() }
}

fn request(url: String) -> HttpRequest {
    let headers = vec![("authorization".to_owned(), Secret::new("Bearer x"))];
    HttpRequest { url, headers, body: b"{}".to_vec() }
}

fn ask(url: String, connection: Connection) -> Result<Vec<u8>, CallError> {
    let mut read = Vec::new();
    let waits = Waits { idle: Duration::from_secs(20), total: Duration::from_secs(30) };
    Sender::new(connection).send(&request(url), waits, &Cancel::default(), &mut |piece| {
        read.extend_from_slice(piece);
        Ok(Progress::More)
    })?;
    Ok(read)
}

#[test]
fn an_authority_of_ones_own_is_trusted_over_both_versions_of_http() {
    for protocols in [&[&b"h2"[..]][..], &[b"http/1.1"]] {
        let Secure { port, certificate } = secure(protocols);
        let connection = Connection { authorities: Some(certificate), ..Connection::default() };
        let answer = ask(format!("https://localhost:{port}/v1/messages"), connection);
        assert_eq!(answer.as_deref(), Ok(ANSWER), "{protocols:?}");
    }
}

#[test]
fn an_unknown_authority_is_not_trusted_and_a_file_without_one_is_told() {
    let Secure { port, .. } = secure(&[b"h2"]);
    let url = format!("https://localhost:{port}/v1/messages");
    let error = ask(url.clone(), Connection::default()).unwrap_err();
    assert!(matches!(error, CallError::Unreachable { .. }), "{error:?}");
    let broken = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n".to_vec();
    let connection = Connection { authorities: Some(broken), ..Connection::default() };
    let error = ask(url, connection).unwrap_err();
    assert!(matches!(error, CallError::Unable { .. }), "{error:?}");
}

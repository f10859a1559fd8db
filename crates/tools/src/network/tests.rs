use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use basics::failure::Explain;
use permission::params::NetworkRequest;
use permission::{Configuration, Engine, Pattern};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::call::Call;
use crate::network::NetworkError;
use crate::outcome::Outcome;
use crate::sight::Sight;
use crate::workspace::Workspace;

/// A server that gives its answers one after the other, then none, and passes on what it was asked.
struct Server {
    address: SocketAddr,
    requests: Receiver<String>,
}

impl Server {
    fn new(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                // A test that is over no longer listens.
                let _ = sender.send(read_request(&stream));
                // The client hangs up early when there is too much.
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { address, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).unwrap() > 0 {}
    let length = request
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    request + &String::from_utf8(body).unwrap()
}

fn ok(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn redirect(status: u16, location: &str) -> String {
    format!(
        "HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::from(*text)).collect()
}

/// A workspace that may reach 127.0.0.1.
fn workspace() -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    let mut workspace = Workspace::open(folder.path()).unwrap();
    workspace.network.hosts = patterns(&["127.0.0.1"]);
    workspace.network.private_hosts = patterns(&["127.0.0.1"]);
    (folder, workspace)
}

fn call(params: Value) -> NetworkRequest {
    serde_json::from_value(params).unwrap()
}

/// Sends a request where everything but one address is allowed.
fn network_request(call: &NetworkRequest, workspace: &Workspace) -> Result<Outcome, NetworkError> {
    let user = r#"{"network_request": {"*": "allow", "http*/forbidden": "ask"}}"#;
    let user = serde_json::from_str(user).unwrap();
    let engine = Engine::new("/project", Configuration { user, ..Configuration::default() });
    let sight = Sight::new(&Call::NetworkRequest(call.clone()), &engine);
    super::network_request(call, &workspace.network, &workspace.limits, &sight)
}

fn get(url: &str) -> Result<Outcome, NetworkError> {
    network_request(&call(json!({"url": url})), &workspace().1)
}

#[test]
fn an_answer_is_fetched() {
    let server = Server::new(vec![ok("hello")]);
    let outcome = get(&server.url("/a?b=1")).unwrap();
    let mut result = outcome.to_json(None);
    result.as_object_mut().unwrap().remove("sha256");
    assert_eq!(
        result,
        json!({"ok": true, "url": server.url("/a?b=1"), "status": 200, "content_type": "text/plain", "location": null,
               "size": 5, "text": true, "content": "hello", "truncated": false, "storage_ref": null})
    );
    let request = server.requests.recv().unwrap();
    assert!(request.starts_with("GET /a?b=1 HTTP/1.1\r\n"), "{request}");
    assert!(!request.to_lowercase().contains("cookie"), "{request}");
}

#[test]
fn a_body_and_headers_are_sent() {
    let server = Server::new(vec![ok("")]);
    let params = json!({"url": server.url("/"), "method": "POST", "headers": {"X-Key": "1"}, "body": "content"});
    network_request(&call(params), &workspace().1).unwrap();
    let request = server.requests.recv().unwrap();
    assert!(request.starts_with("POST / "), "{request}");
    assert!(request.contains("x-key: 1\r\n") && request.ends_with("\r\n\r\ncontent"), "{request}");
}

#[test]
fn a_server_that_says_no_is_an_answer_too() {
    let server =
        Server::new(vec!["HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone".to_owned()]);
    let outcome = get(&server.url("/")).unwrap();
    assert_eq!((&outcome.facts["status"], outcome.content.as_deref()), (&json!(404), Some("gone")));
}

#[test]
fn headers_alone_can_be_fetched() {
    let server = Server::new(vec!["HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n".to_owned()]);
    let outcome =
        network_request(&call(json!({"url": server.url("/"), "method": "HEAD"})), &workspace().1)
            .unwrap();
    assert_eq!((&outcome.facts["size"], outcome.content.as_deref()), (&json!(0), Some("")));
}

#[test]
fn too_much_is_cut() {
    let (_folder, mut workspace) = workspace();
    workspace.limits.shown_bytes = 3;
    workspace.limits.kept_bytes = 5;
    let answer = |body: &str| {
        let server = Server::new(vec![ok(body)]);
        let outcome = network_request(&call(json!({"url": server.url("/")})), &workspace).unwrap();
        (outcome.content, outcome.full, outcome.truncated)
    };
    assert_eq!(answer("abcde"), (Some("abc".to_owned()), Some(b"abcde".to_vec()), true));
    assert_eq!(answer("abcdefgh"), (Some("abc".to_owned()), Some(b"abcde".to_vec()), true));
    assert_eq!(answer("abé+é"), (Some("ab".to_owned()), Some("abé+".into()), true));
    assert_eq!(answer("abc"), (Some("abc".to_owned()), None, false));
    workspace.limits.shown_bytes = 9;
    let server = Server::new(vec![ok("abcdefgh")]);
    let outcome = network_request(&call(json!({"url": server.url("/")})), &workspace).unwrap();
    assert_eq!((outcome.content.as_deref(), outcome.truncated), (Some("abcde"), true));
}

#[test]
fn what_is_no_text_is_kept_but_not_shown() {
    let server = Server::new(vec![ok("a\0b")]);
    let outcome = get(&server.url("/")).unwrap();
    assert_eq!((outcome.content, outcome.full), (None, Some(b"a\0b".to_vec())));
    assert_eq!(outcome.facts["text"], false);
}

fn check_refused(hosts: &[&str], private_hosts: &[&str], url: &str, code: &str, message: &str) {
    let (_folder, mut workspace) = workspace();
    workspace.network.hosts = patterns(hosts);
    workspace.network.private_hosts = patterns(private_hosts);
    let error = network_request(&call(json!({"url": url})), &workspace).unwrap_err();
    assert_eq!((error.code(), &*error.to_string()), (code, message), "{url}");
    assert!(!error.hint().is_empty());
}

#[test]
fn hosts_that_are_not_listed_are_refused() {
    check_refused(
        &[],
        &[],
        "http://example.com/",
        "ToolNotAllowed",
        "`example.com` is not an allowed host",
    );
    let listed = ["example.com", "*.example.org", "127.0.0.1:80"];
    for host in ["example.com.evil.net", "evilexample.com", "example.org", "127.0.0.1:81"] {
        let shown = host.split(':').next().unwrap();
        let message = format!("`{shown}` is not an allowed host");
        check_refused(&listed, &[], &format!("http://{host}/"), "ToolNotAllowed", &message);
    }
}

#[test]
fn private_addresses_are_refused_whatever_they_are_called() {
    let private = |url, host, address| {
        let message = format!("`{host}` has the address {address}, which is not a public one");
        check_refused(&["*"], &["other"], url, "ToolNotAllowed", &message);
    };
    private("http://127.0.0.1/", "127.0.0.1", "127.0.0.1");
    private("http://2130706433/", "127.0.0.1", "127.0.0.1");
    private("http://0x7f.1/", "127.0.0.1", "127.0.0.1");
    private("http://[::1]/", "[::1]", "::1");
    private("http://[::ffff:169.254.169.254]/", "[::ffff:a9fe:a9fe]", "::ffff:169.254.169.254");
    private("http://169.254.169.254/latest/meta-data", "169.254.169.254", "169.254.169.254");
    private("http://10.0.0.1/", "10.0.0.1", "10.0.0.1");
}

#[test]
fn a_name_is_judged_by_its_addresses() {
    let (_folder, mut workspace) = workspace();
    workspace.network.hosts = patterns(&["localhost"]);
    workspace.network.private_hosts = patterns(&[]);
    let error =
        network_request(&call(json!({"url": "http://LOCALHOST/"})), &workspace).unwrap_err();
    assert!(matches!(error, NetworkError::Private { .. }), "{error}");
}

#[test]
fn the_connection_goes_to_the_address_that_was_checked() {
    let server = Server::new(vec![ok("hello")]);
    let url = format!("http://nowhere.invalid:{}/", server.address.port());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let parsed = reqwest::Url::parse(&url).unwrap();
    let request = call(json!({"url": url}));
    let response =
        runtime.block_on(super::exchange::send(&request, &parsed, &[server.address])).unwrap();
    assert_eq!(response.status(), 200);
    assert!(server.requests.recv().unwrap().contains("host: nowhere.invalid:"));
}

#[test]
fn redirects_are_followed() {
    let server = Server::new(vec![redirect(302, "/two"), redirect(308, "three?x"), ok("there")]);
    let outcome = get(&server.url("/one")).unwrap();
    assert_eq!(
        (outcome.content.as_deref(), &outcome.facts["url"]),
        (Some("there"), &json!(server.url("/three?x")))
    );
}

#[test]
fn every_hop_of_a_redirect_is_checked() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = elsewhere.local_addr().unwrap().port();
    for (location, code) in [
        (format!("http://localhost:{port}/"), "ToolNotAllowed"),
        (format!("//localhost:{port}/"), "ToolNotAllowed"),
        ("http://169.254.169.254/latest/meta-data".to_owned(), "ToolNotAllowed"),
        ("http://example.com/".to_owned(), "ToolNotAllowed"),
        ("file:///etc/passwd".to_owned(), "ToolNotAllowed"),
        ("/forbidden?x".to_owned(), "ToolNotAllowed"),
        (format!("http://key@127.0.0.1:{port}/"), "ToolNotAllowed"),
    ] {
        let server = Server::new(vec![redirect(302, &location)]);
        let (_folder, mut workspace) = workspace();
        workspace.network.hosts = patterns(&["127.0.0.1", "localhost", "169.254.*"]);
        let error =
            network_request(&call(json!({"url": server.url("/")})), &workspace).unwrap_err();
        assert_eq!(error.code(), code, "{location}: {error}");
    }
    elsewhere.set_nonblocking(true).unwrap();
    assert!(elsewhere.accept().is_err(), "nothing was sent elsewhere");
}

#[test]
fn redirects_end_somewhere() {
    let server = Server::new(vec![redirect(302, "/"); 6]);
    let error = get(&server.url("/")).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` redirects more than 5 times", server.url("/")));
}

#[test]
fn what_was_meant_for_one_host_is_not_sent_to_another() {
    let second = Server::new(vec![ok("")]);
    let first = Server::new(vec![redirect(303, &second.url("/"))]);
    let params = json!({"url": first.url("/"), "method": "POST", "headers": {"Authorization": "key"}, "body": "secret"});
    network_request(&call(params), &workspace().1).unwrap();
    assert!(first.requests.recv().unwrap().contains("authorization: key"));
    let request = second.requests.recv().unwrap();
    assert!(
        request.starts_with("GET /") && !request.contains("key") && !request.contains("secret"),
        "{request}"
    );
    let again = Server::new(vec![redirect(307, &second.url("/"))]);
    let params = json!({"url": again.url("/"), "method": "POST", "body": "secret"});
    let error = network_request(&call(params), &workspace().1).unwrap_err();
    assert!(matches!(error, NetworkError::Redirect { .. }), "{error}");
}

#[test]
fn a_server_that_never_answers_does_not_keep_us() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_folder, mut workspace) = workspace();
    workspace.limits.network_time = Duration::from_millis(50);
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let error = network_request(&call(json!({"url": url})), &workspace).unwrap_err();
    assert_eq!(error.code(), "Timeout");
}

#[test]
fn a_server_that_is_not_there_or_talks_nonsense_is_an_error() {
    assert_eq!(get("http://127.0.0.1:1/").unwrap_err().code(), "IOError");
    let nonsense = Server::new(vec!["nonsense\r\n\r\n".to_owned()]);
    assert_eq!(get(&nonsense.url("/")).unwrap_err().code(), "IOError");
    let short = Server::new(vec!["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_owned()]);
    assert_eq!(get(&short.url("/")).unwrap_err().code(), "IOError");
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
    });
    let error = get(&url).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "invalid peer certificate: UnknownIssuer");
    server.join().unwrap();
}

#[test]
fn it_works_inside_of_a_runtime() {
    let server = Server::new(vec![ok("hello")]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = runtime.block_on(async { get(&server.url("/")) }).unwrap();
    assert_eq!(outcome.content.as_deref(), Some("hello"));
}

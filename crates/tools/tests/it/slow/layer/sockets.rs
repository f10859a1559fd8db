//! The private network: what is inside works, and nothing else is reached.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use skillful_tools::sandbox::{Confinement, Ending, Limits, Network, Output, Reason};

use super::attempt::{contained, run, views, works_in_namespaces, world};
use crate::world::{is_root, said};

const PYTHON: &str = "/usr/bin/python3";

#[test]
fn a_server_and_its_client_meet_on_the_loopback() {
    works_in_namespaces(
        PYTHON,
        r#"
import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://localhost:%d/notes.txt" % server.server_address[1]).read().decode().strip())
"#,
        "harmless\n",
    );
}

#[test]
fn unix_sockets_work_in_every_writable_folder() {
    works_in_namespaces(
        PYTHON,
        r#"
import array, os, socket
for folder in [".", "/tmp", os.environ["HOME"]]:
    path = folder + "/s.sock"
    server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
    client = socket.socket(socket.AF_UNIX); client.connect(path)
    other, _ = server.accept()
    socket.send_fds(client, [b"x"], [0])
    print(len(socket.recv_fds(other, 1, 1)[1]))
server = socket.socket(socket.AF_UNIX); server.bind("\0name"); server.listen()
socket.socket(socket.AF_UNIX).connect("\0name")
server = socket.socket(socket.AF_INET6); server.bind(("::1", 0)); server.listen()
socket.create_connection(server.getsockname()[:2]).setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
print(sorted(name for _, name in socket.if_nameindex())[:1])
"#,
        "1\n1\n1\n['lo']\n",
    );
}

#[test]
fn pseudo_terminals_work() {
    works_in_namespaces(
        PYTHON,
        r#"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv("/bin/sh", ["sh", "-c", "test -t 0 && tty && echo hello > /dev/tty"])
said = b""
while True:
    try:
        piece = os.read(terminal, 1000)
    except OSError:
        break
    if not piece:
        break
    said += piece
os.waitpid(pid, 0)
print(said.decode().split())
"#,
        "['/dev/pts/0', 'hello']\n",
    );
}

#[test]
fn nothing_of_the_machine_is_reached() {
    contained(
        PYTHON,
        r#"
import socket
def attempt(family, kind, address):
    try:
        client = socket.socket(family, kind)
        client.settimeout(2)
        client.connect(address)
        client.send(b"hello")
        if kind == socket.SOCK_DGRAM and family == socket.AF_INET:
            client.recv(10)
        print("ESC" + "APED", address)
    except OSError as error:
        print(error)
attempt(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", @TCP@))
attempt(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", @UDP@))
attempt(socket.AF_UNIX, socket.SOCK_STREAM, "@ROOT@/daemon.sock")
attempt(socket.AF_UNIX, socket.SOCK_DGRAM, "\0@ABSTRACT@")
attempt(socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 53))
for family in [socket.AF_PACKET, getattr(socket, "AF_VSOCK", 40), socket.AF_ALG]:
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_STREAM)
        print("ESC" + "APED", family)
    except OSError as error:
        print(error)
"#,
    );
}

/// Sockets of the machine in folders that are shown.
#[test]
fn a_socket_in_a_folder_that_can_be_read_leads_nowhere() {
    views(world, |name, world, kernel, view| {
        let mut places = vec![world.root.join("workspace/w.sock"), world.root.join("skill/s.sock")];
        if is_root() {
            places.push(Path::new("/opt").join(format!("skillful-{}.sock", std::process::id())));
            places.push(
                Path::new("/usr/share").join(format!("skillful-{}.sock", std::process::id())),
            );
        }
        for place in places {
            let _ = std::fs::remove_file(&place);
            let _listener = UnixListener::bind(&place).unwrap();
            let code = format!(
                "import socket, os\nos.stat({place:?})\nsocket.socket(socket.AF_UNIX).connect({place:?})\nprint('ESC' + 'APED')"
            );
            let said = said(&run(world, kernel, view, PYTHON, &code));
            std::fs::remove_file(&place).unwrap();
            assert!(!said.contains("ESCAPED"), "{name}: {said}");
        }
    });
}

#[test]
fn what_waits_in_sockets_is_counted() {
    views(world, |name, world, kernel, view| {
        if !view.has_private_network() {
            return;
        }
        for family in ["AF_INET", "AF_UNIX"] {
            let code = r#"
import socket, time
server = socket.socket(socket.FAMILY)
server.bind(("127.0.0.1", 0) if socket.FAMILY == socket.AF_INET else "/tmp/full.sock")
server.listen(500)
kept = []
for _ in range(400):
    client = socket.socket(socket.FAMILY)
    client.connect(server.getsockname())
    kept.append((client, server.accept()))
    client.setblocking(False)
    try:
        while True:
            client.send(bytes(65536))
    except BlockingIOError:
        pass
time.sleep(25)
"#;
            let confinement = Confinement {
                network: Network::Private,
                limits: Limits { memory: 128 << 20, ..Limits::default() },
                ..Confinement::default()
            };
            let code = code.replace("FAMILY", family);
            let mut invocation = world.invocation(Path::new(PYTHON), &["-c", &code]);
            invocation.folder = view.folder().into();
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let output = Output { stdout: &mut stdout, stderr: &mut stderr };
            let cancelled = AtomicBool::new(false);
            let exit = view.run(kernel, &confinement, &invocation, output, &cancelled).unwrap();
            assert_eq!(exit.ending, Ending::Killed(Reason::Memory), "{name}: {}", said(&exit));
            assert!(exit.applied.private_network);
        }
    });
}

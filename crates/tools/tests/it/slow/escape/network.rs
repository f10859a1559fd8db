//! Talking to anybody.

use super::attempt::Language::Python;
use super::attempt::{contained, contained_from_root};

#[test]
fn no_tcp_connection_can_be_made() {
    contained(Python, r#"socket.create_connection(("127.0.0.1", @TCP@)); escaped()"#);
}

#[test]
fn no_name_server_can_be_asked() {
    contained(
        Python,
        r#"
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.settimeout(20)
server.sendto(b"a query", ("127.0.0.1", @UDP@))
if server.recv(100) == b"a query":
    escaped()
"#,
    );
}

#[test]
fn nothing_can_listen() {
    contained(
        Python,
        r#"
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
escaped()
"#,
    );
}

#[test]
fn no_raw_packet_can_be_sent() {
    contained_from_root(
        Python,
        r#"socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); escaped()"#,
    );
}

#[test]
fn no_packet_can_be_overheard() {
    contained_from_root(
        Python,
        r#"socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); escaped()"#,
    );
}

#[test]
fn the_network_cannot_be_looked_at() {
    contained(
        Python,
        r#"socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0)); escaped()"#,
    );
}

#[test]
fn no_local_daemon_can_be_reached() {
    contained(Python, r#"socket.socket(socket.AF_UNIX).connect(ROOT + "/daemon.sock"); escaped()"#);
}

#[test]
fn no_abstract_socket_can_be_reached() {
    contained(
        Python,
        r#"
client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
client.connect("\0@ABSTRACT@")
client.send(b"hello")
escaped()
"#,
    );
}

#[test]
fn a_socket_pair_cannot_be_pointed_elsewhere() {
    contained(
        Python,
        r#"
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
ours.sendto(b"hello", "\0@ABSTRACT@")
escaped()
"#,
    );
}

#[test]
fn the_kernels_own_ciphers_cannot_be_used() {
    contained(
        Python,
        r#"
try:
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).bind(("hash", "sha256"))
except FileNotFoundError:
    pass
except OSError as error:
    if error.errno == errno.EAFNOSUPPORT:
        # A kernel without them: any family that exists will do.
        socket.socket(socket.AF_INET6)
    else:
        raise
escaped()
"#,
    );
}

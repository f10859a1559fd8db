//! Holding memory where nobody looks for it: shared, in buffers of the kernel, in page tables, behind a
//! thread that has ended.

use skillful_tools::sandbox::{Ending, Limits, Reason};

use super::attempt::Freely::Anybody;
use super::attempt::Language::Python;
use super::attempt::{check, contained, left_alone};

const MIB: u64 = 1 << 20;

fn limits() -> Limits {
    Limits { memory: 64 * MIB, ..Limits::default() }
}

/// Tries to hold 192 MiB where 64 are allowed: it is refused, or killed for it.
fn cannot_hold(code: &str) {
    check(Python, Anybody, &limits(), code, |exit| {
        assert!(
            matches!(exit.ending, Ending::Killed(Reason::Memory) | Ending::Exited(1)),
            "{:?}",
            exit.ending
        );
    });
}

/// Holds it, and is killed for it.
fn is_killed_for(code: &str) {
    check(Python, Anybody, &limits(), code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Memory));
    });
}

#[test]
fn shared_memory_that_its_owner_gave_back_is_still_counted() {
    cannot_hold(
        r#"
import mmap
held = []
for _ in range(12):
    memory = mmap.mmap(-1, 16 << 20)
    for page in range(0, 16 << 20, 4096):
        memory[page] = 1
    memory.madvise(mmap.MADV_DONTNEED)
    held.append(memory)
linger()
if all(memory[4096] == 1 for memory in held):
    escaped()
"#,
    );
}

#[test]
fn shared_memory_of_which_one_page_is_left_is_still_counted() {
    cannot_hold(
        r#"
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
SHARED, ANONYMOUS, SIZE = 1, 0x20, 16 << 20
for _ in range(12):
    start = libc.mmap(None, SIZE, 3, SHARED | ANONYMOUS, -1, 0)
    if start == ctypes.c_void_p(-1).value:
        sys.exit(1)
    ctypes.memset(start, 1, SIZE)
    libc.munmap(start + 4096, SIZE - 4096)
linger()
escaped()
"#,
    );
}

#[test]
fn shared_memory_that_another_process_filled_is_still_counted() {
    cannot_hold(
        r#"
import mmap
held = []
for _ in range(12):
    memory = mmap.mmap(-1, 16 << 20)
    child = os.fork()
    if child == 0:
        for page in range(0, 16 << 20, 4096):
            memory[page] = 1
        os._exit(0)
    os.waitpid(child, 0)
    held.append(memory)
linger()
if all(memory[4096] == 1 for memory in held):
    escaped()
"#,
    );
}

#[test]
fn shared_memory_from_the_device_of_zeros_is_not_to_be_had() {
    cannot_hold(
        r#"
import mmap
held = []
for _ in range(12):
    zeros = os.open("/dev/zero", os.O_RDWR)
    memory = mmap.mmap(zeros, 16 << 20)
    os.close(zeros)
    for page in range(0, 16 << 20, 4096):
        memory[page] = 1
    memory.madvise(mmap.MADV_DONTNEED)
    held.append(memory)
linger()
if all(memory[4096] == 1 for memory in held):
    escaped()
"#,
    );
}

#[test]
fn files_in_shared_memory_are_counted() {
    cannot_hold(
        r#"
paths = []
try:
    for number in range(12):
        paths.append("/dev/shm/skillful-test-%d-%d" % (os.getpid(), number))
        with open(paths[-1], "wb") as file:
            file.write(bytes(16 << 20))
    linger()
    escaped()
finally:
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            pass
"#,
    );
}

#[test]
fn files_in_shared_memory_count_together_with_other_memory() {
    // Both below the limit, and above it together; where `/dev/shm` is closed there is nothing to add.
    let limits = Limits { memory: 128 * MIB, ..Limits::default() };
    let code = r#"
path, children = "/dev/shm/skillful-test-%d" % os.getpid(), []
with open(path, "wb") as file:
    file.write(bytes(31 << 20))
for _ in range(2):
    child = os.fork()
    if child == 0:
        memory = bytearray(os.urandom(1 << 20)) * 45
        time.sleep(25)
        os._exit(0)
    children.append(child)
linger()
escaped()
for child in children:
    os.kill(child, 9)
os.unlink(path)
"#;
    check(Python, Anybody, &limits, code, |exit| {
        assert!(
            matches!(exit.ending, Ending::Killed(Reason::Memory) | Ending::Exited(1)),
            "{:?}",
            exit.ending
        );
    });
}

#[test]
fn the_buffers_of_sockets_are_counted() {
    is_killed_for(
        r#"
def fill():
    pairs = [socket.socketpair() for _ in range(240)]
    for end in sum(pairs, ()):
        end.setblocking(False)
        try:
            while True:
                end.send(bytes(65536))
        except BlockingIOError:
            pass
    return pairs
hold_in_children(2, fill)
"#,
    );
}

#[test]
fn the_buffers_of_sockets_cannot_be_enlarged() {
    contained(
        Python,
        r#"
for end in socket.socketpair():
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
escaped()
"#,
    );
}

#[test]
fn the_buffers_of_pipes_are_counted() {
    is_killed_for(
        r#"
def fill():
    for _ in range(480):
        _, end = os.pipe()
        os.set_blocking(end, False)
        try:
            os.write(end, bytes(65536))
        except BlockingIOError:
            pass
hold_in_children(4, fill)
"#,
    );
}

#[test]
fn the_buffer_of_a_pipe_cannot_be_resized() {
    // Freely a smaller one is always to be had; a larger one not for a user with many pipes.
    contained(
        Python,
        r#"
SET_SIZE = 1031
fcntl.fcntl(os.pipe()[1], SET_SIZE, 4096)
escaped()
"#,
    );
}

#[test]
fn pages_cannot_be_moved_into_a_pipe() {
    contained(
        Python,
        r#"
memory = ctypes.create_string_buffer(8192)
piece = struct.pack("QQ", ctypes.addressof(memory), 4096)
call(SYS_vmsplice, os.pipe()[1], piece, 1, 0)
escaped()
"#,
    );
}

#[test]
fn pages_of_files_cannot_be_moved_into_a_pipe() {
    contained(
        Python,
        r#"
open("pages", "wb").write(bytes(8192))
call(SYS_splice, os.open("pages", os.O_RDONLY), None, os.pipe()[1], None, 4096, 0)
escaped()
"#,
    );
}

#[test]
fn pages_of_files_cannot_be_sent_into_a_socket() {
    contained(
        Python,
        r#"
open("pages", "wb").write(bytes(8192))
ends = socket.socketpair()
os.sendfile(ends[0].fileno(), os.open("pages", os.O_RDONLY), 0, 4096)
escaped()
"#,
    );
}

#[test]
fn page_tables_are_counted() {
    is_killed_for(
        r#"
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
PRIVATE, ANONYMOUS, NO_RESERVE, STEP, COUNT = 2, 0x20, 0x4000, 2 << 20, 48 << 10
start = libc.mmap(None, STEP * COUNT, 1, PRIVATE | ANONYMOUS | NO_RESERVE, -1, 0)
for number in range(COUNT):
    ctypes.c_char.from_address(start + number * STEP).value
linger()
escaped()
"#,
    );
}

#[test]
fn memory_behind_a_thread_that_has_ended_is_counted() {
    is_killed_for(
        r#"
import mmap, threading
def hold():
    time.sleep(0.2)
    # Several, because one process alone is refused more than its limit.
    ready, done = os.pipe()
    children = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            def inner():
                memory = bytearray(os.urandom(1 << 20)) * 40
                os.write(done, b"x")
                time.sleep(25)
                os._exit(0)
            threading.Thread(target=inner).start()
            libc.syscall(SYS_exit, 0)
        children.append(child)
    for _ in children:
        os.read(ready, 1)
    linger()
    escaped()
    for child in children:
        os.kill(child, 9)
    os._exit(0)
threading.Thread(target=hold).start()
libc.syscall(SYS_exit, 0)
"#,
    );
}

#[test]
fn what_stays_below_the_limit_of_memory_is_left_alone() {
    left_alone(
        Python,
        &limits(),
        r#"
import mmap
shared = mmap.mmap(-1, 8 << 20)
private = bytearray(os.urandom(1 << 20)) * 16
for page in range(0, 8 << 20, 4096):
    shared[page] = 1
shared.madvise(mmap.MADV_DONTNEED)
pairs = [socket.socketpair() for _ in range(10)]
pipes = [os.pipe() for _ in range(20)]
for pair in pairs:
    pair[0].send(bytes(10000))
for _, end in pipes:
    os.write(end, bytes(1000))
child = os.fork()
if child == 0:
    # Long enough to be looked at several times.
    time.sleep(0.4)
    os._exit(0)
os.waitpid(child, 0)
"#,
    );
}

#[test]
fn children_that_ended_and_that_nobody_asked_about_hold_nothing() {
    left_alone(
        Python,
        &limits(),
        r#"
private = bytearray(os.urandom(1 << 20)) * 44
pairs = [socket.socketpair() for _ in range(10)]
for _ in range(3):
    if os.fork() == 0:
        os._exit(0)
# Long enough to be looked at several times.
time.sleep(0.4)
"#,
    );
}

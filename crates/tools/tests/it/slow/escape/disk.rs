//! Filling the disk where nobody looks for it: below paths that are too long, in folders that cannot be
//! listed, in files that have no name any more.

use skillful_tools::sandbox::{Ending, Limits, Reason};

use super::attempt::Freely::Anybody;
use super::attempt::Language::Python;
use super::attempt::{check, contained, left_alone};

const MIB: u64 = 1 << 20;

fn limits() -> Limits {
    Limits { disk: 32 * MIB, ..Limits::default() }
}

/// Writes more than it may, and is killed for it.
fn is_killed_for(code: &str) {
    check(Python, Anybody, &limits(), code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Disk));
    });
}

#[test]
fn files_below_a_path_longer_than_any_may_be_are_counted() {
    is_killed_for(
        r#"
for level in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for number in range(8):
    with open("part%d" % number, "wb") as file:
        file.write(bytes(8 << 20))
linger()
escaped()
"#,
    );
}

#[test]
fn a_tree_deeper_than_anybody_needs_counts_as_too_large() {
    is_killed_for(
        r#"
for level in range(600):
    os.mkdir("d")
    os.chdir("d")
with open("part", "wb") as file:
    file.write(bytes(16 << 20))
linger()
escaped()
"#,
    );
}

#[test]
fn a_folder_that_cannot_be_listed_counts_as_too_large() {
    is_killed_for(
        r#"
os.mkdir("closed")
files = [open("closed/part%d" % number, "wb") for number in range(8)]
os.chmod("closed", 0)
for file in files:
    file.write(bytes(8 << 20))
    file.flush()
linger()
escaped()
os.chmod("closed", 0o700)
"#,
    );
}

#[test]
fn files_without_a_name_that_are_only_mapped_are_counted() {
    is_killed_for(
        r#"
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for number in range(40):
    file = os.open("part", os.O_RDWR | os.O_CREAT, 0o600)
    os.unlink("part")
    os.write(file, bytes(8 << 20))
    libc.mmap(None, 4096, 1, 1, file, 0)
    os.close(file)
linger()
escaped()
"#,
    );
}

#[test]
fn files_without_a_name_cannot_be_kept_in_a_socket() {
    contained(
        Python,
        r#"
ends = socket.socketpair()
file = os.open("part", os.O_RDWR | os.O_CREAT, 0o600)
os.unlink("part")
socket.send_fds(ends[0], [b"x"], [file])
escaped()
"#,
    );
}

#[test]
fn files_without_a_name_in_a_process_that_hides_are_counted() {
    is_killed_for(
        r#"
SET_DUMPABLE = 4
libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
files = []
for number in range(40):
    files.append(os.open("part", os.O_RDWR | os.O_CREAT, 0o600))
    os.unlink("part")
    os.write(files[-1], bytes(8 << 20))
linger()
escaped()
"#,
    );
}

#[test]
fn files_without_a_name_behind_a_thread_that_has_ended_are_counted() {
    is_killed_for(
        r#"
import threading
def hold():
    files = []
    for number in range(20):
        files.append(os.open("part", os.O_RDWR | os.O_CREAT, 0o600))
        os.unlink("part")
        os.write(files[-1], bytes(8 << 20))
    linger()
    escaped()
    os._exit(0)
threading.Thread(target=hold).start()
libc.syscall(SYS_exit, 0)
"#,
    );
}

#[test]
fn space_cannot_be_reserved_without_writing() {
    contained(
        Python,
        r#"
KEEP_SIZE = 1
call(SYS_fallocate, os.open("part", os.O_RDWR | os.O_CREAT), KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(1 << 20))
escaped()
"#,
    );
}

#[test]
fn what_stays_below_the_limit_of_disk_is_left_alone() {
    left_alone(
        Python,
        &limits(),
        r#"
for level in range(40):
    os.mkdir("d")
    os.chdir("d")
with open("part", "wb") as file:
    file.write(bytes(12 << 20))
os.link("part", "same")
hidden = open("gone", "wb")
os.unlink("gone")
hidden.write(bytes(8 << 20))
hidden.flush()
os.posix_fallocate(os.open("reserved", os.O_RDWR | os.O_CREAT), 0, 1 << 20)
# Long enough to be looked at several times.
time.sleep(0.4)
"#,
    );
}

//! Using up the machine.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

use skillful_tools::sandbox::{Ending, Limits, Reason};

use super::attempt::Freely::Anybody;
use super::attempt::Language::{Python, Shell};
use super::attempt::{check, compiled};
use crate::world::{World, kernels};

const MIB: u64 = 1 << 20;

#[test]
fn a_fork_bomb_is_contained() {
    let limits = Limits { processes: 40, ..Limits::default() };
    let code = r#"
import resource
children = []
try:
    for number in range(600):
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        children.append(child)
    escaped()
except OSError as error:
    print(error, len(children))
finally:
    for child in children:
        os.kill(child, 9)
"#;
    check(Python, Anybody, &limits, code, |_| {});
}

#[test]
fn a_fork_bomb_that_grows_by_itself_is_contained() {
    let limits = Limits { processes: 40, ..Limits::default() };
    let code = r#"
counted, count = os.pipe()
os.setpgid(0, 0)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
def grow(depth):
    for _ in range(2):
        os.write(count, b"+")
        try:
            child = os.fork()
        except OSError:
            os.write(count, b"!")
            continue
        if child == 0:
            if depth:
                grow(depth - 1)
            os.write(count, b"-")
            time.sleep(600)
            os._exit(0)
# Nine generations of two: a thousand processes.
grow(8)
# Everybody who was started has grown or could not be had, however long that takes.
said = b""
while said.count(b"+") > said.count(b"-") + said.count(b"!") or not said:
    said += os.read(counted, 1024)
if said.count(b"-") >= 600:
    escaped()
os.killpg(0, signal.SIGKILL)
"#;
    check(Python, Anybody, &limits, code, |_| {});
}

/// Starts chains of processes that each start the next one and vanish, faster than anybody could
/// count them, until a file named `stop` is there. All of them hold the pipe `alive` open.
const SWARM: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments) {
    if (open("alive", O_WRONLY) < 0) return 1;
    for (int chain = atoi(arguments[1]); chain > 0; chain--) {
        if (fork() != 0) continue;
        while (access("stop", F_OK) != 0) {
            if (fork() != 0) _exit(0);
            setsid();
        }
        _exit(0);
    }
}
"#;

#[test]
fn a_swarm_that_never_stands_still_is_swept() {
    let world = World::new();
    let Some(program) = compiled(&world, SWARM) else { return };
    let (alive, stop) = (world.sandbox().join("alive"), world.sandbox().join("stop"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &alive, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .unwrap();
    let mut alive =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(alive).unwrap();
    let mut nobody_left = || alive.read(&mut [0]).is_ok_and(|length| length == 0);
    for (name, kernel) in kernels() {
        let invocation = world.invocation(&program, &["100"]);
        world.run(&kernel, &world.confinement(Limits::default()), &invocation).unwrap();
        assert!(nobody_left(), "somebody survived with {name}");
    }
    world.run_freely(&world.invocation(&program, &["3"]));
    assert!(!nobody_left(), "dies without a sandbox as well, so this proves nothing");
    fs::write(stop, "").unwrap();
    while !nobody_left() {
        std::thread::yield_now();
    }
}

#[test]
fn a_thread_bomb_is_contained() {
    let limits = Limits { processes: 40, ..Limits::default() };
    let code = r#"
import threading
threading.stack_size(65536)
gate = threading.Event()
try:
    for _ in range(600):
        threading.Thread(target=gate.wait).start()
    escaped()
except RuntimeError as error:
    print(error)
finally:
    gate.set()
"#;
    check(Python, Anybody, &limits, code, |_| {});
}

#[test]
fn a_memory_bomb_is_contained() {
    let limits = Limits { memory: 128 * MIB, ..Limits::default() };
    check(Python, Anybody, &limits, "memory = bytearray(512 << 20); escaped()", |_| {});
}

#[test]
fn a_memory_bomb_of_many_processes_is_contained() {
    let limits = Limits { memory: 256 * MIB, ..Limits::default() };
    let code = r#"
hold_in_children(8, lambda: bytearray(os.urandom(1 << 20)) * 100)
"#;
    check(Python, Anybody, &limits, code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Memory));
    });
}

#[test]
fn a_bomb_of_shared_memory_is_contained() {
    let limits = Limits { memory: 128 * MIB, ..Limits::default() };
    let code = r#"
import mmap
memory = mmap.mmap(-1, 512 << 20)
for page in range(0, 512 << 20, 4096):
    memory[page] = 1
linger()
escaped()
"#;
    check(Python, Anybody, &limits, code, |exit| assert_eq!(exit.ending, Ending::Exited(1)));
}

#[test]
fn a_memory_bomb_that_hides_is_contained() {
    let limits = Limits { memory: 128 * MIB, ..Limits::default() };
    let code = r#"
import mmap
SET_DUMPABLE = 4
libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
memory = mmap.mmap(-1, 512 << 20)
for page in range(0, 512 << 20, 4096):
    memory[page] = 1
linger()
escaped()
"#;
    check(Python, Anybody, &limits, code, |exit| assert_eq!(exit.ending, Ending::Exited(1)));
}

#[test]
fn a_large_file_cannot_be_written() {
    let limits = Limits { file_size: 8 * MIB, ..Limits::default() };
    check(Shell, Anybody, &limits, "head -c 32M /dev/zero > big && echo ESCAPED", |_| {});
}

#[test]
fn a_disk_bomb_of_many_files_is_contained() {
    let limits = Limits { disk: 32 * MIB, ..Limits::default() };
    let code = r#"
for number in range(16):
    with open("part%d" % number, "wb") as file:
        file.write(bytes(16 << 20))
linger()
escaped()
"#;
    check(Python, Anybody, &limits, code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Disk));
    });
}

#[test]
fn a_disk_bomb_of_files_without_a_name_is_contained() {
    let limits = Limits { disk: 32 * MIB, ..Limits::default() };
    let code = r#"
files = []
for number in range(16):
    files.append(open("part", "wb"))
    os.unlink("part")
    files[-1].write(bytes(16 << 20))
    files[-1].flush()
linger()
escaped()
"#;
    check(Python, Anybody, &limits, code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Disk));
    });
}

#[test]
fn a_bomb_of_empty_files_is_contained() {
    let limits = Limits { disk: 4 * MIB, ..Limits::default() };
    let code = r#"
for number in range(4000):
    open("empty%d" % number, "w").close()
linger()
escaped()
"#;
    check(Python, Anybody, &limits, code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Disk));
    });
}

#[test]
fn a_bomb_of_open_files_is_contained() {
    let limits = Limits { open_files: 100, ..Limits::default() };
    let code = r#"
files = [open("/dev/null") for _ in range(300)]
escaped()
"#;
    check(Python, Anybody, &limits, code, |_| {});
}

#[test]
fn a_limit_cannot_be_raised_again() {
    let limits = Limits { open_files: 100, ..Limits::default() };
    let code = r#"
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (400, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
files = [open("/dev/null") for _ in range(300)]
escaped()
"#;
    check(Python, Anybody, &limits, code, |_| {});
}

#[test]
fn an_output_bomb_is_contained() {
    let limits = Limits { output: 4 * MIB, ..Limits::default() };
    let code = "head -c 64M /dev/zero && echo ESCAPED";
    check(Shell, Anybody, &limits, code, |exit| {
        assert_eq!(exit.ending, Ending::Killed(Reason::Output));
        assert!(exit.stdout.bytes <= 4 * MIB, "{} bytes were taken", exit.stdout.bytes);
    });
}

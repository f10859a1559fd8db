//! Parts of the kernel that no script needs and that have led out of sandboxes.

use super::attempt::Language::{C, Python, Shell};
use super::attempt::{contained, contained_from_root};

#[test]
fn no_ring_of_calls_can_be_set_up() {
    contained(Python, r#"call(SYS_io_uring_setup, 1, bytes(120)); escaped()"#);
}

#[test]
fn nothing_can_be_mounted() {
    contained_from_root(
        Python,
        r#"
call(SYS_mount, b"tmpfs", b".", b"tmpfs", 0, None)
libc.umount2(b".", 2)
escaped()
"#,
    );
}

#[test]
fn no_file_system_can_be_opened() {
    contained_from_root(Python, r#"call(SYS_fsopen, b"tmpfs", 0); escaped()"#);
}

#[test]
fn no_user_namespace_can_be_entered() {
    contained(Python, r#"call(SYS_unshare, 0x10000000); escaped()"#);
}

#[test]
fn no_process_can_start_in_a_new_namespace() {
    contained(
        Python,
        r#"
child = call(SYS_clone, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
escaped()
"#,
    );
}

#[test]
fn no_process_can_start_in_a_new_namespace_the_new_way() {
    contained(
        Python,
        r#"
arguments = struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
child = call(SYS_clone3, arguments, len(arguments))
if child == 0:
    os._exit(0)
escaped()
"#,
    );
}

#[test]
fn no_other_namespace_can_be_joined() {
    contained_from_root(
        Python,
        r#"
namespace = os.open("/proc/%d/ns/uts" % DECOY, os.O_RDONLY)
call(SYS_setns, namespace, 0)
escaped()
"#,
    );
}

#[test]
fn no_key_can_be_left_in_the_kernel() {
    contained(
        Python,
        r#"
PROCESS_KEYRING = -2
call(SYS_add_key, b"user", b"skillful-test", b"x", 1, PROCESS_KEYRING)
escaped()
"#,
    );
}

#[test]
fn no_keyring_can_be_looked_at() {
    contained(
        Python,
        r#"
GET_KEYRING_ID, SESSION_KEYRING = 0, -3
call(SYS_keyctl, GET_KEYRING_ID, SESSION_KEYRING, 1)
escaped()
"#,
    );
}

#[test]
fn nothing_can_be_typed_into_a_terminal() {
    contained(
        Python,
        r#"
import pty, termios
child, master = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    os._exit(0)
_, status = os.waitpid(child, 0)
if status == 0:
    escaped()
"#,
    );
}

#[test]
fn no_program_can_be_loaded_into_the_kernel() {
    contained_from_root(
        Python,
        r#"
ARRAY = 2
call(SYS_bpf, 0, struct.pack("4I", ARRAY, 4, 4, 1) + bytes(112), 128)
escaped()
"#,
    );
}

#[test]
fn no_performance_counter_can_be_opened() {
    contained(
        Python,
        r#"
SOFTWARE, USER_ONLY = 1, 1 << 5 | 1 << 6
attributes = struct.pack("IIQQQQQ", SOFTWARE, 112, 0, 0, 0, 0, USER_ONLY) + bytes(64)
call(SYS_perf_event_open, attributes, 0, -1, -1, 0)
escaped()
"#,
    );
}

#[test]
fn page_faults_cannot_be_held_up() {
    contained(Python, r#"call(SYS_userfaultfd, 1); escaped()"#);
}

#[test]
fn addresses_cannot_be_made_predictable() {
    contained(
        Python,
        r#"
call(SYS_personality, 0x0040000)
escaped()
"#,
    );
}

#[test]
fn no_uncounted_memory_file_can_be_made() {
    contained(Python, r#"call(SYS_memfd_create, b"x", 0); escaped()"#);
}

#[test]
fn no_memory_can_be_shared_with_other_programs() {
    contained(
        Python,
        r#"
identifier = call(SYS_shmget, 0, 4096, 0o600)
libc.shmctl(identifier, 0, None)
escaped()
"#,
    );
}

#[test]
fn the_machine_cannot_be_renamed() {
    contained_from_root(
        Python,
        r#"
name = socket.gethostname().encode()
call(SYS_sethostname, name, len(name))
escaped()
"#,
    );
}

#[test]
fn the_kernels_log_cannot_be_read() {
    contained_from_root(Python, r#"call(SYS_syslog, 10, None, 0); escaped()"#);
}

#[test]
fn the_file_system_cannot_be_watched() {
    contained_from_root(Python, r#"call(SYS_fanotify_init, 0, 0); escaped()"#);
}

#[test]
fn no_second_supervisor_can_be_installed() {
    contained(
        Python,
        r#"
SET_FILTER, NEW_LISTENER, NO_NEW_PRIVILEGES, ALLOW = 1, 8, 38, 0x7fff0000
libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, ALLOW))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
call(SYS_seccomp, SET_FILTER, NEW_LISTENER, program)
escaped()
"#,
    );
}

#[test]
fn a_setting_of_the_kernel_cannot_be_changed() {
    contained_from_root(
        Shell,
        r#"
f=/proc/sys/kernel/domainname; old=$(cat $f); echo "$old" > $f && echo ESCAPED
"#,
    );
}

#[test]
fn calls_of_the_old_architecture_are_no_way_around() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: there is no older architecture");
        return;
    }
    // A unix socket, by number 359 of the 32-bit table, which a filter for 64-bit numbers would not
    // know.
    contained(
        C,
        r#"
#include <stdio.h>
int main(void) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(359), "b"(1), "c"(1), "d"(0) : "memory");
    if (result >= 0) puts("ESCAPED");
}
"#,
    );
}

#[test]
fn bits_that_the_kernel_ignores_do_not_hide_a_call() {
    // The family of a socket is 32 bits wide; a filter that compared 64 would not recognise this
    // one.
    contained(
        Python,
        r#"
import ctypes
number = {"x86_64": 41}.get(os.uname().machine, 198)
call(number, ctypes.c_long(1 << 32 | socket.AF_UNIX), socket.SOCK_STREAM, 0)
escaped()
"#,
    );
}

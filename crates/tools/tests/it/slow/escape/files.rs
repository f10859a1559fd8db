//! Reading and writing what was not granted.

use std::fs;
use std::path::Path;

use skillful_tools::sandbox::Limits;

use super::attempt::Language::{C, Python, Shell};
use super::attempt::{contained, contained_from_root, left_alone};
use crate::world::{World, kernels};

#[test]
fn a_private_key_cannot_be_read() {
    contained(Shell, "grep -q @SECRET@ @ROOT@/home/.ssh/id_ed25519 && echo ESCAPED");
}

#[test]
fn the_password_file_cannot_be_read() {
    contained_from_root(Shell, "grep -q ^root: /etc/shadow && echo ESCAPED");
}

#[test]
fn another_project_cannot_be_read() {
    contained(Python, r#"got(open(ROOT + "/other-project/main.py", "rb").read())"#);
}

#[test]
fn another_run_of_the_same_workspace_cannot_be_read() {
    contained(
        Python,
        r#"got(open(ROOT + "/workspace/.agent/runs/other/observations/1.txt", "rb").read())"#,
    );
}

#[test]
fn the_log_of_its_own_run_cannot_be_read() {
    contained(Python, r#"got(open("../events.jsonl", "rb").read())"#);
}

#[test]
fn a_home_folder_cannot_be_listed() {
    contained(Shell, "ls -A @ROOT@/home | grep -q ssh && echo ESCAPED");
}

#[test]
fn a_link_in_the_writable_folder_does_not_open_what_it_points_to() {
    contained(
        Shell,
        "ln -s @ROOT@/home/.ssh/id_ed25519 key && grep -q @SECRET@ key && echo ESCAPED",
    );
}

#[test]
fn a_hard_link_does_not_bring_a_file_in() {
    contained(
        Python,
        r#"
os.link(ROOT + "/other-project/main.py", "mine")
got(open("mine", "rb").read())
"#,
    );
}

#[test]
fn renaming_does_not_bring_a_file_in() {
    contained(
        Python,
        r#"
os.rename(ROOT + "/other-project", "mine")
got(open("mine/main.py", "rb").read())
"#,
    );
}

#[test]
fn a_detour_through_proc_opens_nothing() {
    contained(
        Python,
        r#"got(open("/proc/self/root" + ROOT + "/home/.ssh/id_ed25519", "rb").read())"#,
    );
}

#[test]
fn a_path_only_descriptor_cannot_be_opened_again() {
    contained(
        Python,
        r#"
path = os.open(ROOT + "/home/.ssh/id_ed25519", os.O_PATH)
got(open("/proc/self/fd/%d" % path, "rb").read())
"#,
    );
}

#[test]
fn a_file_handle_cannot_be_opened() {
    contained_from_root(
        Python,
        r#"
handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
call(SYS_name_to_handle_at, -100, (ROOT + "/home/.ssh/id_ed25519").encode(), handle, ctypes.byref(mount), 0)
got(os.read(call(SYS_open_by_handle_at, os.open("/", os.O_RDONLY), handle, os.O_RDONLY), 100))
"#,
    );
}

#[test]
fn no_device_of_the_machine_can_be_read() {
    contained_from_root(
        Python,
        r#"
partitions = [line.split()[3] for line in open("/proc/partitions").read().splitlines()[2:]]
for path in ["/dev/" + name for name in partitions] + ["/dev/kmsg", "/dev/mem", "/proc/kcore"]:
    try:
        if os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 8192):
            escaped()
    except OSError as error:
        print(error)
"#,
    );
}

#[test]
fn what_proc_keeps_for_root_cannot_be_read() {
    contained_from_root(
        Shell,
        r#"
for file in kpageflags kpagecount slabinfo vmallocinfo timer_list sys/net/ipv4/tcp_fastopen_key; do
    [ "$(head -c 64 /proc/$file | wc -c)" -gt 0 ] && echo ESCAPED $file
done
"#,
    );
}

#[test]
fn the_keys_of_the_kernel_are_not_listed() {
    contained(Shell, "[ $(cat /proc/keys /proc/key-users | wc -c) -gt 0 ] && echo ESCAPED");
}

#[test]
fn what_proc_says_to_everybody_can_be_read() {
    left_alone(
        Shell,
        &Limits::default(),
        "cat /proc/cpuinfo /proc/meminfo /proc/stat /proc/uptime /proc/version > /dev/null",
    );
}

#[test]
fn no_device_can_be_made() {
    contained_from_root(
        Python,
        r#"
FULL = os.makedev(1, 7)
os.mknod("device", 0o20600, FULL)
escaped()
"#,
    );
}

#[test]
fn a_new_root_cannot_be_entered() {
    contained_from_root(Python, r#"call(SYS_chroot, b"."); escaped()"#);
}

#[test]
fn the_skill_cannot_be_changed() {
    contained(Shell, "echo 'import evil' >> @ROOT@/skill/scripts/run.py && echo ESCAPED");
}

#[test]
fn the_workspace_cannot_be_written_without_a_grant() {
    contained(Shell, "echo x > @ROOT@/workspace/new.txt && echo ESCAPED");
}

#[test]
fn a_shell_profile_cannot_be_changed() {
    contained(Shell, "echo evil >> @ROOT@/home/.bashrc && echo ESCAPED");
}

#[test]
fn a_git_hook_cannot_be_changed() {
    contained(Shell, "echo evil >> @ROOT@/workspace/.git/hooks/pre-commit && echo ESCAPED");
}

#[test]
fn the_log_of_its_own_run_cannot_be_forged() {
    contained(Shell, "echo '{}' >> ../events.jsonl && echo ESCAPED");
}

#[test]
fn a_scheduled_job_cannot_be_added() {
    contained_from_root(
        Shell,
        r#"
for folder in /etc/cron.d /etc/cron.daily /var/spool/cron /etc; do
    f=$folder/skillful-test-$$
    if [ -d $folder ] && echo '# nothing' > $f; then rm $f; echo ESCAPED; break; fi
done
"#,
    );
}

#[test]
fn nothing_can_be_written_to_the_common_temporary_folder() {
    contained(Shell, "f=/tmp/skillful-test-$$; echo x > $f && rm $f && echo ESCAPED");
}

#[test]
fn shared_memory_files_do_not_reach_others() {
    let world = World::new();
    let name = world.fill("/dev/shm/skillful-test-@ABSTRACT@");
    let invocation = world.invocation(Path::new("/bin/sh"), &["-c", &format!("echo x > {name}")]);
    for (kernel_name, kernel) in kernels() {
        world.run(&kernel, &world.confinement(Limits::default()), &invocation).unwrap();
        assert!(!Path::new(&name).exists(), "{kernel_name}");
    }
    world.run_freely(&invocation);
    fs::remove_file(name).expect("it does not get out without a sandbox either");
}

#[test]
fn a_file_cannot_be_removed() {
    contained(Shell, "rm @ROOT@/other-project/main.py && echo ESCAPED");
}

#[test]
fn a_link_in_the_writable_folder_does_not_write_to_what_it_points_to() {
    contained(Shell, "ln -s @ROOT@/home/.bashrc profile && echo evil >> profile && echo ESCAPED");
}

#[test]
fn a_linked_folder_in_the_writable_folder_does_not_take_files() {
    contained(Shell, "ln -s @ROOT@/workspace results && echo x > results/new.txt && echo ESCAPED");
}

#[test]
fn a_file_cannot_be_truncated_by_path() {
    contained(
        Python,
        r#"call(SYS_truncate, (ROOT + "/workspace/data.csv").encode(), 0); escaped()"#,
    );
}

#[test]
fn a_file_opened_for_reading_cannot_be_emptied() {
    contained(
        Python,
        r#"
os.open(ROOT + "/workspace/data.csv", os.O_RDONLY | os.O_TRUNC)
escaped()
"#,
    );
}

#[test]
fn a_file_opened_for_reading_cannot_be_emptied_the_new_way() {
    contained(
        Python,
        r#"
how = struct.pack("QQQ", os.O_RDONLY | os.O_TRUNC, 0, 0)
call(SYS_openat2, -100, (ROOT + "/workspace/data.csv").encode(), how, len(how))
escaped()
"#,
    );
}

#[test]
fn a_file_opened_for_reading_cannot_be_opened_for_writing_again() {
    contained(
        Python,
        r#"
file = os.open(ROOT + "/workspace/data.csv", os.O_RDONLY)
os.write(os.open("/proc/self/fd/%d" % file, os.O_WRONLY), b"evil")
escaped()
"#,
    );
}

#[test]
fn the_mode_of_a_file_outside_cannot_be_changed() {
    contained(Shell, "chmod 666 @ROOT@/home/.ssh/id_ed25519 && echo ESCAPED");
}

#[test]
fn the_mode_of_a_readable_file_cannot_be_changed() {
    contained(
        Python,
        r#"os.fchmod(os.open(ROOT + "/workspace/data.csv", os.O_RDONLY), 0o666); escaped()"#,
    );
}

#[test]
fn the_mode_cannot_be_changed_through_a_link_in_the_writable_folder() {
    contained(
        Python,
        r#"
os.symlink(ROOT + "/home/.ssh", "keys")
os.chmod("keys/id_ed25519", 0o666)
escaped()
"#,
    );
}

#[test]
fn the_mode_cannot_be_changed_while_the_path_is_being_looked_at() {
    contained(
        Python,
        r#"
import threading
open("mine", "w").close()
name = ctypes.create_string_buffer(4096)
def flip():
    while True:
        for path in (SANDBOX + "/mine", ROOT + "/home/.bashrc"):
            name.value = path.encode()
threading.Thread(target=flip, daemon=True).start()
deadline = time.monotonic() + (0 if os.environ.get("HOME") == SANDBOX else 300)
attempt = 0
while attempt < 2000 or time.monotonic() < deadline:  # Without a sandbox until it succeeds.
    attempt += 1
    libc.chmod(name, 0o606)
    if os.stat(ROOT + "/home/.bashrc").st_mode & 0o777 == 0o606:
        escaped()
        break
os._exit(0)
"#,
    );
}

#[test]
fn the_times_of_a_file_outside_cannot_be_changed() {
    contained(Shell, "touch -d 2001-01-01 @ROOT@/home/.bashrc && echo ESCAPED");
}

#[test]
fn the_times_of_a_readable_file_cannot_be_changed() {
    contained(
        Python,
        r#"os.utime(os.open(ROOT + "/workspace/data.csv", os.O_RDONLY), (1, 1)); escaped()"#,
    );
}

#[test]
fn the_owner_of_a_file_outside_cannot_be_set() {
    contained(Python, r#"os.chown(ROOT + "/home/.bashrc", os.getuid(), os.getgid()); escaped()"#);
}

#[test]
fn no_file_can_be_given_away() {
    contained_from_root(Python, r#"open("mine", "w").close(); os.chown("mine", 1, 1); escaped()"#);
}

#[test]
fn attributes_of_a_file_outside_cannot_be_set() {
    contained(Python, r#"os.setxattr(ROOT + "/workspace/data.csv", "user.evil", b"1"); escaped()"#);
}

#[test]
fn flags_of_a_readable_file_cannot_be_set() {
    contained(
        Python,
        r#"
GET, SET, NO_DUMP = 0x80086601, 0x40086602, 0x40
file = os.open(ROOT + "/workspace/data.csv", os.O_RDONLY)
flags = struct.unpack("l", fcntl.ioctl(file, GET, struct.pack("l", 0)))[0]
fcntl.ioctl(file, SET, struct.pack("l", flags | NO_DUMP))
escaped()
"#,
    );
}

#[test]
fn no_program_can_be_left_behind_that_runs_as_its_owner() {
    contained(Shell, "cp /bin/true evil && chmod u+s evil && test -u evil && echo ESCAPED");
}

#[test]
fn no_program_can_be_created_that_runs_as_its_owner() {
    contained(
        Python,
        r#"
os.umask(0)
os.close(os.open("evil", os.O_CREAT | os.O_WRONLY, 0o4755))
if os.stat("evil").st_mode & 0o4000:
    escaped()
"#,
    );
}

#[test]
fn a_file_can_be_opened_without_the_c_library_no_better() {
    contained(
        C,
        r#"
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    char content[64] = {0};
    long file = syscall(SYS_openat, AT_FDCWD, "@ROOT@/home/.ssh/id_ed25519", O_RDONLY);
    if (file >= 0 && read(file, content, 63) > 0) puts("ESCAPED");
}
"#,
    );
}

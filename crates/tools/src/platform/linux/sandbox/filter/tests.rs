use libc::{EINVAL, ENOMEM, ENOSYS, EOPNOTSUPP, EPERM};

use super::*;
use crate::platform::linux::sandbox::kernel::Namespacing;

/// The filter of a kernel with this much.
fn plan(isolation: Isolation, landlock_abi: u32) -> Plan {
    Plan {
        landlock_abi,
        seccomp: true,
        supervised: true,
        confined: true,
        isolation,
        namespacing: Namespacing::default(),
        traced: false,
        network: Network::Denied,
        joins: false,
    }
}

/// Runs a filter as the kernel would.
fn verdict(program: &[sock_filter], architecture: u32, call: i64, arguments: [u64; 6]) -> u32 {
    let mut data = vec![u32::try_from(call).unwrap(), architecture, 0, 0];
    data.extend(arguments.iter().flat_map(|argument| [*argument as u32, (*argument >> 32) as u32]));
    let (mut position, mut accumulator) = (0, 0);
    loop {
        let step = program[position];
        position += 1;
        let by = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
        match u32::from(step.code) {
            0x20 => accumulator = data[step.k as usize / 4],
            0x54 => accumulator &= step.k,
            0x05 => position += step.k as usize,
            0x15 => position += by(accumulator == step.k),
            0x35 => position += by(accumulator >= step.k),
            0x06 => return step.k,
            code => panic!("unexpected instruction {code:#x}"),
        }
    }
}

/// What the kernel does under all filters.
fn answer(plan: &Plan, network: Network, architecture: u32, call: i64, six: [u64; 6]) -> u32 {
    let filters = compile(plan, network);
    let refused = verdict(&filters.refusing, architecture, call, six);
    match (refused, filters.handing_over) {
        (ALLOW, Some(program)) => verdict(&program, architecture, call, six),
        _ => refused,
    }
}

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const SUPERVISE: u32 = libc::SECCOMP_RET_USER_NOTIF;

fn refuse(error: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | error.unsigned_abs()
}

#[track_caller]
fn check(plan: &Plan, network: Network, call: i64, arguments: &[u64], expected: u32) {
    let mut six = [0; 6];
    six[..arguments.len()].copy_from_slice(arguments);
    assert_eq!(
        answer(plan, network, ARCHITECTURE.unwrap(), call, six),
        expected,
        "{call} {arguments:x?}"
    );
}

/// Checks calls against the filter used with namespaces and no network.
#[track_caller]
fn check_all(cases: &[(i64, &[u64], u32)]) {
    for (call, arguments, expected) in cases {
        check(&plan(Isolation::Namespaces, 7), Network::Denied, *call, arguments, *expected);
    }
}

#[test]
fn ordinary_calls_are_allowed() {
    check_all(&[
        (libc::SYS_read, &[], ALLOW),
        (libc::SYS_execve, &[], ALLOW),
        (libc::SYS_mseal, &[], ALLOW),
        (libc::SYS_openat, &[0, 0, 0o1101, 0o644], ALLOW),
        (libc::SYS_clone, &[libc::CLONE_VM as u64], ALLOW),
        (libc::SYS_kill, &[1, 9], ALLOW),
        (libc::SYS_utimensat, &[], ALLOW),
        (libc::SYS_prlimit64, &[0, 7], ALLOW),
        (libc::SYS_personality, &[0xffff_ffff], ALLOW),
        (libc::SYS_socketpair, &[1, 1 | 0o2_000_000, 0], ALLOW),
    ]);
}

#[test]
fn calls_that_lead_out_are_refused() {
    check_all(&[
        (libc::SYS_ptrace, &[], refuse(EPERM)),
        (libc::SYS_process_vm_readv, &[], refuse(EPERM)),
        (libc::SYS_mount, &[], refuse(EPERM)),
        (libc::SYS_unshare, &[], refuse(EPERM)),
        (libc::SYS_setns, &[], refuse(EPERM)),
        (libc::SYS_bpf, &[], refuse(EPERM)),
        (libc::SYS_keyctl, &[], refuse(EPERM)),
        (libc::SYS_kexec_load, &[], refuse(EPERM)),
        (libc::SYS_init_module, &[], refuse(EPERM)),
        (libc::SYS_seccomp, &[], refuse(EPERM)),
        (libc::SYS_connect, &[], refuse(EPERM)),
        (libc::SYS_io_uring_setup, &[], refuse(ENOSYS)),
        (libc::SYS_clone3, &[], refuse(ENOSYS)),
        (libc::SYS_openat2, &[], refuse(ENOSYS)),
        (i64::from(LAST_KNOWN) + 1, &[], refuse(ENOSYS)),
        (100_000, &[], refuse(ENOSYS)),
    ]);
}

#[test]
fn numbers_of_the_x32_table_do_not_exist() {
    check_all(&[
        (0x4000_0000 + libc::SYS_read, &[], refuse(ENOSYS)),
        (0x4000_0000 + 512, &[], refuse(ENOSYS)),
    ]);
}

#[test]
fn a_foreign_architecture_kills() {
    let plan = plan(Isolation::Namespaces, 7);
    let killed = answer(&plan, Network::Denied, 0x4000_0003, libc::SYS_read, [0; 6]);
    assert_eq!(killed, libc::SECCOMP_RET_KILL_PROCESS);
}

#[test]
fn only_the_bits_that_the_kernel_looks_at_count() {
    const HIGH: u64 = 0xdead_beef << 32;
    check_all(&[
        (libc::SYS_ioctl, &[0, HIGH | 0x5412], refuse(EPERM)),
        (libc::SYS_ioctl, &[0, HIGH | 0x541c], refuse(EPERM)),
        (libc::SYS_ioctl, &[0, HIGH | 0x5413], ALLOW),
        (libc::SYS_fcntl, &[0, HIGH | 8, 1], refuse(EPERM)),
        (libc::SYS_fcntl, &[0, HIGH | 15, 1], refuse(EPERM)),
        (libc::SYS_socketpair, &[HIGH | 1, HIGH | 2], refuse(EPERM)),
        (libc::SYS_socketpair, &[HIGH | 1, HIGH | 1], ALLOW),
        (libc::SYS_fchmod, &[3, HIGH | 0o755], ALLOW),
        (libc::SYS_fchmod, &[3, HIGH | 0o4755], refuse(EPERM)),
        (libc::SYS_prlimit64, &[HIGH, 7], ALLOW),
        (libc::SYS_prlimit64, &[HIGH | 1, 7], refuse(EPERM)),
    ]);
}

#[test]
fn memory_that_outlives_its_mapping_is_handed_over() {
    let (shared, private, anonymous) = (1, 2, 0x20);
    let huge = 0x40000;
    check_all(&[
        (libc::SYS_mmap, &[0, 4096, 3, private | anonymous], ALLOW),
        (libc::SYS_mmap, &[0, 4096, 3, shared, 5], ALLOW),
        (libc::SYS_mmap, &[0, 4096, 3, shared | anonymous], SUPERVISE),
        (libc::SYS_mmap, &[0, 4096, 3, shared | anonymous | 0x4000], SUPERVISE),
        (libc::SYS_mmap, &[0, 4096, 3, private | anonymous | huge], refuse(ENOMEM)),
        (libc::SYS_mmap, &[0, 4096, 3, shared | anonymous | huge], refuse(ENOMEM)),
        (libc::SYS_memfd_create, &[], refuse(EPERM)),
    ]);
    let alone = Plan { supervised: false, ..plan(Isolation::Namespaces, 7) };
    let arguments = [0, 4096, 3, shared | anonymous];
    check(&alone, Network::Denied, libc::SYS_mmap, &arguments, refuse(ENOMEM));
}

#[test]
fn nothing_can_be_held_where_it_is_not_counted() {
    let thread = libc::CLONE_VM as u64 | libc::CLONE_SIGHAND as u64 | libc::CLONE_THREAD as u64;
    check_all(&[
        (libc::SYS_clone, &[thread], refuse(EPERM)),
        (libc::SYS_clone, &[thread | libc::CLONE_FILES as u64], ALLOW),
        (libc::SYS_prctl, &[4, 0], refuse(EPERM)),
        (libc::SYS_prctl, &[15], ALLOW),
        (libc::SYS_fcntl, &[3, 1031, 1 << 20], refuse(EPERM)),
        (libc::SYS_setsockopt, &[3, 1, 7], refuse(EPERM)),
        (libc::SYS_setsockopt, &[3, 1, 33], refuse(EPERM)),
        (libc::SYS_setsockopt, &[3, 1, 2], ALLOW),
        (libc::SYS_sendmsg, &[], refuse(EPERM)),
        (libc::SYS_sendto, &[], ALLOW),
        (libc::SYS_vmsplice, &[], refuse(EINVAL)),
        (libc::SYS_sendfile, &[], refuse(EINVAL)),
        (libc::SYS_copy_file_range, &[], ALLOW),
        (libc::SYS_fallocate, &[3, 0], refuse(EOPNOTSUPP)),
        (libc::SYS_fallocate, &[3, 1], refuse(EOPNOTSUPP)),
        (libc::SYS_fallocate, &[3, 3], ALLOW),
        (libc::SYS_landlock_add_rule, &[], refuse(ENOSYS)),
    ]);
    // Names of hosts are asked for with messages.
    let plan = plan(Isolation::Namespaces, 7);
    check(&plan, Network::Internet, libc::SYS_sendmmsg, &[], ALLOW);
}

#[test]
fn a_set_user_id_bit_is_refused_wherever_a_mode_is_given() {
    check_all(&[
        (libc::SYS_fchmodat, &[0, 0, 0o2755], refuse(EPERM)),
        (FCHMODAT2, &[0, 0, 0o4755], refuse(EPERM)),
        (libc::SYS_openat, &[0, 0, 0o101, 0o4755], refuse(EPERM)),
        // Without a file to make, the mode is whatever was in the register.
        (libc::SYS_openat, &[0, 0, 0, 0o4755], ALLOW),
        (libc::SYS_mknodat, &[0, 0, 0o10_600], ALLOW),
        (libc::SYS_mknodat, &[0, 0, 0o14_600], refuse(EPERM)),
        (libc::SYS_mknodat, &[0, 0, 0o20_600], refuse(EPERM)),
        (libc::SYS_mknodat, &[0, 0, 0o60_600], refuse(EPERM)),
    ]);
}

#[test]
fn no_namespace_and_no_untraced_process_can_be_made() {
    for flag in
        [libc::CLONE_NEWUSER, libc::CLONE_NEWNET, libc::CLONE_NEWCGROUP, libc::CLONE_UNTRACED]
    {
        let flags = u64::from((flag | libc::SIGCHLD).cast_unsigned());
        check_all(&[(libc::SYS_clone, &[flags], refuse(EPERM))]);
    }
}

#[test]
fn a_network_opens_the_internet_only() {
    let sockets = [
        (AF_INET, SOCK_STREAM, ALLOW),
        (AF_INET6, SOCK_DGRAM | libc::SOCK_CLOEXEC, ALLOW),
        (AF_INET, libc::SOCK_RAW, refuse(EPERM)),
        (AF_UNIX, SOCK_STREAM, refuse(EPERM)),
        (libc::AF_PACKET, libc::SOCK_RAW, refuse(EPERM)),
        (libc::AF_VSOCK, SOCK_STREAM, refuse(EPERM)),
    ];
    for (family, kind, expected) in sockets {
        let arguments = [family as u64, kind as u64, 0];
        let plan = plan(Isolation::Namespaces, 7);
        check(&plan, Network::Internet, libc::SYS_socket, &arguments, expected);
        check(&plan, Network::Denied, libc::SYS_socket, &arguments, refuse(EPERM));
    }
}

#[test]
fn a_supervisor_decides_what_no_namespace_makes_harmless() {
    let supervised = plan(Isolation::Supervised, 1);
    let cases: &[(i64, &[u64], u32)] = &[
        (libc::SYS_kill, &[1, 9], SUPERVISE),
        (libc::SYS_tgkill, &[1, 1, 9], SUPERVISE),
        (libc::SYS_pidfd_send_signal, &[], refuse(ENOSYS)),
        (libc::SYS_fchmod, &[3, 0o755], SUPERVISE),
        (libc::SYS_fchmod, &[3, 0o4755], refuse(EPERM)),
        (libc::SYS_utimensat, &[], SUPERVISE),
        (libc::SYS_fchownat, &[], SUPERVISE),
        (libc::SYS_setxattr, &[], refuse(EOPNOTSUPP)),
        (libc::SYS_clone, &[17], ALLOW),
        (libc::SYS_truncate, &[], refuse(EPERM)),
        (libc::SYS_openat, &[0, 0, libc::O_TRUNC as u64], refuse(EPERM)),
        (libc::SYS_openat, &[0, 0, (libc::O_TRUNC | libc::O_WRONLY) as u64], ALLOW),
    ];
    for (call, arguments, expected) in cases {
        check(&supervised, Network::Denied, *call, arguments, *expected);
    }
    // Landlock's sixth version stops signals, its third one truncation.
    for call in [libc::SYS_kill, libc::SYS_pidfd_send_signal, libc::SYS_truncate] {
        check(&plan(Isolation::Supervised, 6), Network::Denied, call, &[], ALLOW);
    }
}

#[test]
fn every_listed_call_is_found_by_the_search() {
    let mut policy = Policy::default();
    policy.all(ALLOWED, Verdict::Allow);
    policy.all(ALLOWED_OF_OLD, Verdict::Allow);
    let program =
        program::compile(ARCHITECTURE.unwrap(), &policy.segments(&REFUSED_RULE, &MISSING_RULE));
    for call in 0..=i64::from(LAST_KNOWN) {
        let listed = ALLOWED.contains(&call) || ALLOWED_OF_OLD.contains(&call);
        let expected = if listed { ALLOW } else { refuse(EPERM) };
        assert_eq!(verdict(&program, ARCHITECTURE.unwrap(), call, [0; 6]), expected, "{call}");
    }
}

#[test]
fn a_private_network_opens_what_stays_inside() {
    let plan = plan(Isolation::Namespaces, 7);
    let check = |call, arguments: &[i32], expected| {
        let arguments: Vec<_> =
            arguments.iter().map(|argument| u64::from(argument.cast_unsigned())).collect();
        check(&plan, Network::Private, call, &arguments, expected);
    };
    for family in [AF_UNIX, AF_INET, AF_INET6] {
        for kind in [SOCK_STREAM, SOCK_DGRAM] {
            check(libc::SYS_socket, &[family, kind | libc::SOCK_CLOEXEC, 0], ALLOW);
        }
        check(libc::SYS_socket, &[family, libc::SOCK_RAW, 0], refuse(EPERM));
    }
    check(libc::SYS_socket, &[AF_UNIX, SOCK_SEQPACKET, 0], ALLOW);
    check(libc::SYS_socket, &[AF_NETLINK, libc::SOCK_RAW, NETLINK_ROUTE], ALLOW);
    check(libc::SYS_socket, &[AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_NETFILTER], refuse(EPERM));
    for family in [libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG, libc::AF_BLUETOOTH] {
        check(libc::SYS_socket, &[family, SOCK_STREAM, 0], refuse(EPERM));
    }
    for call in [libc::SYS_bind, libc::SYS_connect, libc::SYS_sendmsg, libc::SYS_accept4] {
        check(call, &[], ALLOW);
    }
    check(libc::SYS_setsockopt, &[3, libc::SOL_SOCKET, libc::SO_REUSEADDR], ALLOW);
    // It succeeds, and nothing happens.
    check(libc::SYS_setsockopt, &[3, libc::SOL_SOCKET, libc::SO_SNDBUF], refuse(0));
    check(libc::SYS_setsockopt, &[3, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE], refuse(0));
}

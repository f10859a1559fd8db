//! The system calls by what may be done with them.
//!
//! Not listed, and so refused: tracing and foreign memory (`ptrace`, `process_vm_*`, `pidfd_getfd`,
//! `kcmp`), namespaces and mounts, `io_uring`, `bpf`, `perf_event_open`, `userfaultfd`, keyrings,
//! modules, `kexec`, the clock, swap, quotas and accounting, System V and POSIX message queues and
//! shared memory (they are shared with everything else the user runs), `memfd_create` (memory that
//! no limit counts), `open_by_handle_at`, `fanotify`, moving another process's pages.

/// Lists calls; only names, so that many fit on a line.
macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

/// Harmless, or bounded by the other walls.
pub(super) const ALLOWED: &[i64] = calls![
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev
    SYS_preadv2 SYS_pwritev2 SYS_close SYS_close_range SYS_lseek SYS_dup SYS_dup3 SYS_pipe2
    SYS_flock SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_sync_file_range SYS_ftruncate
    SYS_fadvise64 SYS_readahead
    SYS_copy_file_range SYS_getdents64 SYS_fstat SYS_newfstatat SYS_statx SYS_statfs SYS_fstatfs
    SYS_faccessat SYS_faccessat2 SYS_readlinkat SYS_mkdirat SYS_unlinkat SYS_linkat
    SYS_symlinkat SYS_renameat SYS_renameat2 SYS_chdir SYS_fchdir SYS_getcwd SYS_umask
    SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr
    SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch SYS_pselect6 SYS_ppoll
    SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_signalfd4
    SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime SYS_munmap SYS_mprotect
    SYS_mremap SYS_madvise SYS_brk SYS_msync SYS_mincore SYS_mlock SYS_mlock2 SYS_munlock
    SYS_mlockall SYS_munlockall SYS_mseal SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect
    SYS_mbind SYS_get_mempolicy SYS_set_mempolicy SYS_membarrier SYS_futex SYS_futex_waitv
    SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_set_tid_address SYS_execve SYS_execveat
    SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_pidfd_open SYS_restart_syscall
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending SYS_rt_sigsuspend
    SYS_rt_sigtimedwait SYS_sigaltstack SYS_getpid SYS_getppid SYS_gettid SYS_getpgid
    SYS_setpgid SYS_getsid SYS_setsid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid
    SYS_getresuid SYS_getresgid SYS_getgroups SYS_setuid SYS_setgid SYS_setreuid SYS_setregid
    SYS_setresuid SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_setgroups SYS_capget SYS_capset
    SYS_getrlimit SYS_setrlimit SYS_getrusage SYS_getpriority SYS_ioprio_get
    SYS_sched_yield SYS_sched_getaffinity SYS_sched_getattr SYS_sched_getparam
    SYS_sched_getscheduler SYS_sched_get_priority_max SYS_sched_get_priority_min
    SYS_sched_rr_get_interval SYS_getcpu SYS_nanosleep SYS_clock_nanosleep SYS_clock_gettime
    SYS_clock_getres SYS_gettimeofday SYS_getitimer SYS_setitimer SYS_timer_create
    SYS_timer_delete SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_times
    SYS_sysinfo SYS_uname SYS_getrandom SYS_sendto SYS_recvfrom SYS_recvmsg
    SYS_recvmmsg SYS_shutdown SYS_getsockname SYS_getpeername SYS_getsockopt
];

/// The same under their old names.
#[cfg(target_arch = "x86_64")]
pub(super) const ALLOWED_OF_OLD: &[i64] = calls![
    SYS_access SYS_alarm SYS_arch_prctl SYS_dup2 SYS_epoll_create SYS_epoll_wait SYS_eventfd
    SYS_getdents SYS_getpgrp SYS_inotify_init SYS_link SYS_lstat SYS_mkdir SYS_pause SYS_pipe
    SYS_poll SYS_readlink SYS_rename SYS_rmdir SYS_select SYS_signalfd SYS_stat SYS_symlink
    SYS_time SYS_unlink
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const ALLOWED_OF_OLD: &[i64] = &[];

/// Have an older equivalent whose arguments a filter can see, or can be done without: every rule of a second
/// sandbox takes memory of the kernel that nobody counts.
pub(super) const REPLACEABLE: &[i64] = calls![
    SYS_clone3 SYS_openat2 SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self
];

/// Put pages into a pipe or a socket as they are, where each may hold on to much more memory than it
/// counts for; programs copy instead.
pub(super) const MOVING_PAGES: &[i64] = calls![SYS_splice SYS_tee SYS_vmsplice SYS_sendfile];

/// Can send open files along.
pub(super) const SENDING_FILES: &[i64] = calls![SYS_sendmsg SYS_sendmmsg];

/// Make processes and threads.
#[cfg(target_arch = "x86_64")]
pub(super) const FORKING: &[i64] = calls![SYS_fork SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const FORKING: &[i64] = &[];

/// Send a signal to the process that the first argument names.
pub(super) const SIGNALLING: &[i64] =
    calls![SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo];

/// Change an owner or a time, which Landlock does not see.
#[cfg(target_arch = "x86_64")]
pub(super) const METADATA: &[i64] =
    calls![SYS_fchown SYS_fchownat SYS_utimensat SYS_chown SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const METADATA: &[i64] = calls![SYS_fchown SYS_fchownat SYS_utimensat];

/// Has this number everywhere; the C library's bindings lack it on some architectures.
pub(in super::super) const FCHMODAT2: i64 = 452;

/// Change a mode, and which argument it is.
#[cfg(target_arch = "x86_64")]
pub(super) const MODES: &[(i64, u32)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2)];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const MODES: &[(i64, u32)] =
    &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2)];

/// Open files, and which argument holds the flags; the mode comes next.
#[cfg(target_arch = "x86_64")]
pub(super) const OPENING: &[(i64, u32)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OPENING: &[(i64, u32)] = &[(libc::SYS_openat, 2)];

/// Make files of any kind, and which argument is the mode.
#[cfg(target_arch = "x86_64")]
pub(super) const NODES: &[(i64, u32)] =
    &[(libc::SYS_creat, 1), (libc::SYS_mknod, 1), (libc::SYS_mknodat, 2)];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const NODES: &[(i64, u32)] = &[(libc::SYS_mknodat, 2)];

/// Change extended attributes, which Landlock does not see either.
pub(super) const ATTRIBUTES: &[i64] = calls![
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
];

/// Old ways to set times, for which no C library of today asks any more.
#[cfg(target_arch = "x86_64")]
pub(super) const TIMES_OF_OLD: &[i64] = calls![SYS_utime SYS_utimes SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const TIMES_OF_OLD: &[i64] = &[];

/// Make, name and connect sockets, and set them up.
pub(super) const CONNECTING: &[i64] = calls![
    SYS_connect SYS_bind SYS_listen SYS_accept SYS_accept4 SYS_sendmsg SYS_sendmmsg
    SYS_setsockopt
];

/// Act on the process that this argument names, or on the caller where it is 0.
pub(super) const ON_A_PROCESS: &[(i64, u32)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

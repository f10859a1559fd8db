//! Which system calls the program may make.
//!
//! A list of what is allowed: a call that nobody thought of is refused. What is known and refused
//! fails with `EPERM`, which programs report; what is newer than the list, or has an older
//! equivalent, fails with `ENOSYS`, for which they have a fallback.
//!
//! Invariant: no decision depends on memory, which the program could change while the kernel looks.

mod calls;
mod program;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EINVAL, ENOMEM, ENOSYS, EOPNOTSUPP, EPERM,
    NETLINK_ROUTE, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM, sock_filter,
};

use super::plan::Plan;
use crate::containment::{Isolation, Network};
pub(super) use calls::FCHMODAT2;
use calls::*;
use program::{Clause, Rule, Segment, Test, Verdict};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// The last call that was looked at for the lists (`mseal`); later ones do not exist for the
/// program.
const LAST_KNOWN: u32 = 462;

/// What a program is put under; the kernel follows the stricter of the two.
#[derive(Default)]
pub(super) struct Filters {
    /// Hands calls over to the supervisor and refuses none, so that it can be entered first: where the
    /// calls arrive is told in a message that the other one may refuse.
    pub(super) handing_over: Option<Vec<sock_filter>>,
    /// Refuses.
    pub(super) refusing: Vec<sock_filter>,
}

/// Compiles the filters for a plan; the kernel refuses the empty one of an unknown architecture.
pub(super) fn compile(plan: &Plan, network: Network) -> Filters {
    let Some(architecture) = ARCHITECTURE else { return Filters::default() };
    let mut policy = Policy::default();
    policy.all(ALLOWED, Verdict::Allow);
    policy.all(ALLOWED_OF_OLD, Verdict::Allow);
    policy.all(REPLACEABLE, Verdict::Refuse(ENOSYS));
    policy.all(MOVING_PAGES, Verdict::Refuse(EINVAL));
    policy.allow_memory(plan);
    policy.allow_processes(plan);
    policy.allow_metadata(plan);
    policy.allow_opening(plan);
    policy.allow_sockets(network);
    policy.allow_commands();
    let supervised = policy.supervised();
    Filters {
        handing_over: plan.supervised.then(|| {
            program::compile(architecture, &supervised.segments(&ALLOWED_RULE, &ALLOWED_RULE))
        }),
        refusing: program::compile(
            architecture,
            &policy.unsupervised().segments(&REFUSED_RULE, &MISSING_RULE),
        ),
    }
}

static ALLOWED_RULE: Rule = Rule::only(Verdict::Allow);
static REFUSED_RULE: Rule = Rule::only(Verdict::Refuse(EPERM));
static MISSING_RULE: Rule = Rule::only(Verdict::Refuse(ENOSYS));

#[derive(Default)]
struct Policy(BTreeMap<u32, Rule>);

impl Policy {
    fn one(&mut self, call: i64, rule: impl Into<Rule>) {
        if let Ok(call) = u32::try_from(call) {
            self.0.insert(call, rule.into());
        }
    }

    fn all(&mut self, calls: &[i64], rule: impl Into<Rule>) {
        let rule = rule.into();
        for call in calls {
            self.one(*call, rule.clone());
        }
    }

    fn allow_memory(&mut self, plan: &Plan) {
        // Shared memory lives on when nobody maps it any more; only who hands it out can count it.
        let shared = if plan.supervised { Verdict::Supervise } else { Verdict::Refuse(ENOMEM) };
        let clause = |test, verdict| Clause { tests: vec![test], verdict };
        let clauses = vec![
            clause(has(3, HUGE_PAGES), Verdict::Refuse(ENOMEM)),
            clause(masked(3, MAP_KIND, SHARED_MEMORY), shared),
        ];
        self.one(libc::SYS_mmap, Rule { clauses, otherwise: Verdict::Allow });
        // Room that is taken without being written fills a disk faster than anybody looks.
        let hole = Clause { tests: vec![is(1, PUNCH_HOLE)], verdict: Verdict::Allow };
        let otherwise = Verdict::Refuse(EOPNOTSUPP);
        self.one(libc::SYS_fallocate, Rule { clauses: vec![hole], otherwise });
    }

    fn allow_processes(&mut self, plan: &Plan) {
        self.all(FORKING, Verdict::Allow);
        // A thread with open files of its own would hide them.
        let own_files = vec![has(0, THREAD), masked(0, COMMON_FILES, 0)];
        self.one(libc::SYS_clone, refuse_any([vec![has(0, NAMESPACES | UNTRACED)], own_files]));
        // A process that cannot be looked at cannot be held to its limits.
        self.one(libc::SYS_prctl, refuse_if([is(0, SET_DUMPABLE)]));
        // From its sixth version on, Landlock stops signals that lead out.
        let by_number =
            if plan.landlock_abi < 6 { allow_or(plan, Verdict::Supervise) } else { Verdict::Allow };
        self.all(SIGNALLING, by_number);
        // Programs fall back to `kill`, whose target a supervisor can see.
        let by_handle =
            if by_number == Verdict::Allow { by_number } else { Verdict::Refuse(ENOSYS) };
        self.one(libc::SYS_pidfd_send_signal, by_handle);
        for (call, argument) in ON_A_PROCESS {
            self.one(*call, refuse_if([differs(*argument, 0)]));
        }
        // Only asking, or asking for what is so anyway.
        self.one(libc::SYS_personality, refuse_if([differs(0, u32::MAX), differs(0, 0)]));
    }

    fn allow_metadata(&mut self, plan: &Plan) {
        let verdict = allow_or(plan, Verdict::Supervise);
        self.all(METADATA, verdict);
        self.all(TIMES_OF_OLD, allow_or(plan, Verdict::Refuse(ENOSYS)));
        self.all(ATTRIBUTES, allow_or(plan, Verdict::Refuse(EOPNOTSUPP)));
        // A program with the set-user-id bit would outlive the sandbox.
        for (call, mode) in MODES {
            self.one(*call, refuse_if([has(*mode, SET_ID)]).otherwise(verdict));
        }
    }

    fn allow_opening(&mut self, plan: &Plan) {
        let unseen = sees_no_truncation(plan);
        for (call, flags) in OPENING {
            let mut forbidden = vec![vec![has(*flags, MAKING), has(flags + 1, SET_ID)]];
            if unseen {
                // Opened for reading only, which Landlock checks, and emptied, which it does not
                // see.
                let (mask, value) = (ACCESS_MODE | TRUNCATE, TRUNCATE);
                forbidden.push(vec![Test { argument: *flags, mask, value, negated: false }]);
            }
            self.one(*call, refuse_any(forbidden));
        }
        for (call, mode) in NODES {
            let special = [libc::S_IFCHR, libc::S_IFBLK, libc::S_IFSOCK].map(|value| {
                vec![Test { argument: *mode, mask: libc::S_IFMT, value, negated: false }]
            });
            self.one(*call, refuse_any(special.into_iter().chain([vec![has(*mode, SET_ID)]])));
        }
        self.one(libc::SYS_truncate, if unseen { Verdict::Refuse(EPERM) } else { Verdict::Allow });
    }

    fn allow_sockets(&mut self, network: Network) {
        // A connected pair leads nowhere else; a pair of datagram sockets could still send
        // anywhere.
        let (stream, datagram, packets) =
            (kind(SOCK_STREAM), kind(SOCK_DGRAM), kind(SOCK_SEQPACKET));
        let pairs = [[family(AF_UNIX), stream], [family(AF_UNIX), packets]];
        self.one(libc::SYS_socketpair, allow_only(pairs));
        if network == Network::Denied {
            // What is left are pairs. An open file on its way through one is in nobody's hands, and
            // their buffers are counted as they are.
            self.all(SENDING_FILES, Verdict::Refuse(EPERM));
            self.one(libc::SYS_setsockopt, each_size(Verdict::Refuse(EPERM)));
        }
        if network == Network::Private {
            let inside = [AF_UNIX, AF_INET, AF_INET6]
                .map(|number| [[family(number), stream], [family(number), datagram]]);
            let others = [
                [family(AF_UNIX), packets],
                [family(AF_NETLINK), is(2, NETLINK_ROUTE.cast_unsigned())],
            ];
            let sockets: Vec<_> = inside.into_iter().flatten().chain(others).collect();
            self.one(libc::SYS_socket, allow_only(sockets));
            let pairs = [stream, datagram, packets].map(|kind| [family(AF_UNIX), kind]);
            self.one(libc::SYS_socketpair, allow_only(pairs));
            self.all(CONNECTING, Verdict::Allow);
            // Programs that ask for another size go on as if they had it.
            self.one(libc::SYS_setsockopt, each_size(Verdict::Refuse(0)));
        }
        if network == Network::Internet {
            let sockets = [
                [family(AF_INET), stream],
                [family(AF_INET), datagram],
                [family(AF_INET6), stream],
                [family(AF_INET6), datagram],
                // The list of interfaces, for the choice of an address.
                [family(AF_NETLINK), is(2, NETLINK_ROUTE.cast_unsigned())],
            ];
            self.one(libc::SYS_socket, allow_only(sockets));
            self.all(CONNECTING, Verdict::Allow);
        }
    }

    fn allow_commands(&mut self) {
        self.one(
            libc::SYS_ioctl,
            refuse_any(DEVICE_COMMANDS.iter().map(|command| vec![is(1, *command)])),
        );
        self.one(
            libc::SYS_fcntl,
            refuse_any(FILE_COMMANDS.iter().map(|command| vec![is(1, *command)])),
        );
    }

    /// Only what is handed over.
    fn supervised(&self) -> Self {
        self.each(|verdict| match verdict {
            Verdict::Supervise => Verdict::Supervise,
            Verdict::Allow | Verdict::Refuse(_) => Verdict::Allow,
        })
    }

    /// Only what is allowed and refused.
    fn unsupervised(&self) -> Self {
        self.each(|verdict| match verdict {
            Verdict::Supervise | Verdict::Allow => Verdict::Allow,
            Verdict::Refuse(error) => Verdict::Refuse(error),
        })
    }

    fn each(&self, change: fn(Verdict) -> Verdict) -> Self {
        Self(self.0.iter().map(|(call, rule)| (*call, rule.each(change))).collect())
    }

    /// Neighbours with the same rule become one segment, and so do the gaps between known calls, which
    /// follow `unlisted`; those behind them follow `unknown`.
    fn segments<'a>(&'a self, unlisted: &'a Rule, unknown: &'a Rule) -> Vec<Segment<'a>> {
        let mut segments: Vec<Segment<'_>> = Vec::new();
        for call in 0..=LAST_KNOWN {
            let rule = self.0.get(&call).unwrap_or(unlisted);
            if segments.last().is_none_or(|last| last.rule != rule) {
                segments.push(Segment { first: call, rule });
            }
        }
        segments.push(Segment { first: LAST_KNOWN + 1, rule: unknown });
        segments
    }
}

const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();
/// A process that its parent's tracer would not see.
const UNTRACED: u32 = libc::CLONE_UNTRACED.cast_unsigned();
const THREAD: u32 = libc::CLONE_THREAD.cast_unsigned();
const COMMON_FILES: u32 = libc::CLONE_FILES.cast_unsigned();
const SET_DUMPABLE: u32 = libc::PR_SET_DUMPABLE.cast_unsigned();
const HUGE_PAGES: u32 = libc::MAP_HUGETLB.cast_unsigned();
const MAP_KIND: u32 = (libc::MAP_TYPE | libc::MAP_ANONYMOUS).cast_unsigned();
const SHARED_MEMORY: u32 = (libc::MAP_SHARED | libc::MAP_ANONYMOUS).cast_unsigned();
const PUNCH_HOLE: u32 = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE).cast_unsigned();
const SOCKET_LEVEL: u32 = libc::SOL_SOCKET.cast_unsigned();
const BUFFER_SIZES: [u32; 4] = [
    libc::SO_SNDBUF.cast_unsigned(),
    libc::SO_RCVBUF.cast_unsigned(),
    libc::SO_SNDBUFFORCE.cast_unsigned(),
    libc::SO_RCVBUFFORCE.cast_unsigned(),
];
const MAKING: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).cast_unsigned();
const ACCESS_MODE: u32 = libc::O_ACCMODE.cast_unsigned();
const TRUNCATE: u32 = libc::O_TRUNC.cast_unsigned();
const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;

/// Type into a terminal, in two ways; have a signal sent to any process, in two ways; change the
/// attributes and the project of a file that may only be read.
const DEVICE_COMMANDS: &[u32] =
    &[0x5412, 0x541c, 0x8901, 0x8902, 0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Have a signal of one's choice sent to any process: `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`; enlarge the
/// buffer of a pipe.
const FILE_COMMANDS: &[u32] = &[8, 10, 15, 1031];

/// Allowed, unless a supervisor is there and something else is better.
fn allow_or(plan: &Plan, supervised: Verdict) -> Verdict {
    if plan.isolation == Isolation::Supervised { supervised } else { Verdict::Allow }
}

/// Landlock learned about truncation in its third version; read-only mounts stop it as well.
fn sees_no_truncation(plan: &Plan) -> bool {
    plan.landlock_abi < 3 && plan.isolation != Isolation::Namespaces
}

fn refuse_if<const N: usize>(tests: [Test; N]) -> Rule {
    refuse_any([tests.into()])
}

fn refuse_any(alternatives: impl IntoIterator<Item = Vec<Test>>) -> Rule {
    let refuse = |tests| Clause { tests, verdict: Verdict::Refuse(EPERM) };
    Rule { clauses: alternatives.into_iter().map(refuse).collect(), otherwise: Verdict::Allow }
}

fn allow_only(alternatives: impl IntoIterator<Item = [Test; 2]>) -> Rule {
    let allow = |tests: [Test; 2]| Clause { tests: tests.into(), verdict: Verdict::Allow };
    let clauses = alternatives.into_iter().map(allow).collect();
    Rule { clauses, otherwise: Verdict::Refuse(EPERM) }
}

/// What happens to a change of a buffer's size.
fn each_size(verdict: Verdict) -> Rule {
    let sizes = BUFFER_SIZES.iter().map(|size| vec![is(1, SOCKET_LEVEL), is(2, *size)]);
    let clauses = sizes.map(|tests| Clause { tests, verdict }).collect();
    Rule { clauses, otherwise: Verdict::Allow }
}

fn is(argument: u32, value: u32) -> Test {
    Test { argument, mask: u32::MAX, value, negated: false }
}

fn differs(argument: u32, value: u32) -> Test {
    Test { argument, mask: u32::MAX, value, negated: true }
}

fn masked(argument: u32, mask: u32, value: u32) -> Test {
    Test { argument, mask, value, negated: false }
}

/// Whether any bit of `mask` is set.
fn has(argument: u32, mask: u32) -> Test {
    Test { argument, mask, value: 0, negated: true }
}

fn family(number: i32) -> Test {
    is(0, number.cast_unsigned())
}

/// The kind of a socket, without the flags that share its argument.
fn kind(number: i32) -> Test {
    Test { argument: 1, mask: 0xf, value: number.cast_unsigned(), negated: false }
}

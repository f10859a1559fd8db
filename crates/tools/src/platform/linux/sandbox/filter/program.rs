//! Rules on system calls, compiled to the instructions that seccomp runs.
//!
//! The numbers are searched by halving, so that the kernel, which follows the program once for
//! every known call when it is loaded, does so in a few steps.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W,
    sock_filter,
};

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// Fails with this error number.
    Refuse(i32),
    /// The supervisor decides.
    Supervise,
}

/// A question about one argument: whether its low 32 bits, masked, are this value.
///
/// The kernel looks at no more than these bits of an `int`, so whatever is above must not matter
/// here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) argument: u32,
    pub(super) mask: u32,
    pub(super) value: u32,
    /// Whether the answer is turned round.
    pub(super) negated: bool,
}

/// If all tests hold, the verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) tests: Vec<Test>,
    pub(super) verdict: Verdict,
}

/// What happens to one call: the first clause that holds, or else `otherwise`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) clauses: Vec<Clause>,
    pub(super) otherwise: Verdict,
}

impl From<Verdict> for Rule {
    fn from(verdict: Verdict) -> Self {
        Self::only(verdict)
    }
}

impl Rule {
    pub(super) const fn only(otherwise: Verdict) -> Self {
        Self { clauses: Vec::new(), otherwise }
    }

    /// The same with each verdict changed; without clauses that change nothing.
    pub(super) fn each(&self, change: fn(Verdict) -> Verdict) -> Self {
        let otherwise = change(self.otherwise);
        let clauses = self
            .clauses
            .iter()
            .map(|clause| Clause { tests: clause.tests.clone(), verdict: change(clause.verdict) });
        let mut clauses: Vec<_> = clauses.collect();
        while clauses.last().is_some_and(|last| last.verdict == otherwise) {
            clauses.pop();
        }
        Self { clauses, otherwise }
    }

    pub(super) fn otherwise(self, otherwise: Verdict) -> Self {
        Self { otherwise, ..self }
    }
}

/// Calls from `first` on, up to the next segment, follow `rule`.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    pub(super) first: u32,
    pub(super) rule: &'a Rule,
}

const OFFSET_OF_NUMBER: u32 = 0;
const OFFSET_OF_ARCHITECTURE: u32 = 4;
const OFFSET_OF_ARGUMENTS: u32 = 16;

/// Compiles segments that are sorted and begin with call 0; a call of a foreign architecture kills.
pub(super) fn compile(architecture: u32, segments: &[Segment<'_>]) -> Vec<sock_filter> {
    let mut program = vec![
        load(OFFSET_OF_ARCHITECTURE),
        jump(BPF_JEQ, architecture, 1, 0),
        instruction(BPF_RET | BPF_K, libc::SECCOMP_RET_KILL_PROCESS),
        load(OFFSET_OF_NUMBER),
    ];
    program.extend(search(segments));
    program
}

fn search(segments: &[Segment<'_>]) -> Vec<sock_filter> {
    let (lower, upper) = segments.split_at(segments.len() / 2);
    let (Some(middle), false) = (upper.first(), lower.is_empty()) else {
        return upper.first().map(|segment| compile_rule(segment.rule)).unwrap_or_default();
    };
    let below = search(lower);
    let mut program = match u8::try_from(below.len()) {
        Ok(length) => vec![jump(BPF_JGE, middle.first, length, 0)],
        // Farther than a conditional jump reaches.
        Err(_) => vec![jump(BPF_JGE, middle.first, 0, 1), skip(below.len())],
    };
    program.extend(below);
    program.extend(search(upper));
    program
}

fn compile_rule(rule: &Rule) -> Vec<sock_filter> {
    let mut program: Vec<_> = rule.clauses.iter().flat_map(compile_clause).collect();
    program.push(answer(rule.otherwise));
    program
}

fn compile_clause(clause: &Clause) -> Vec<sock_filter> {
    let mut program = Vec::new();
    for (position, test) in clause.tests.iter().enumerate() {
        // Behind this test come three instructions for each further one, and the answer.
        let rest = 3 * (clause.tests.len() - position - 1) + 1;
        let past = u8::try_from(rest).unwrap_or(u8::MAX);
        let (if_equal, if_not) = if test.negated { (past, 0) } else { (0, past) };
        // Low half first: both architectures are little-endian.
        program.push(load(OFFSET_OF_ARGUMENTS + 8 * test.argument));
        program.push(instruction(BPF_ALU | BPF_AND | BPF_K, test.mask));
        program.push(jump(BPF_JEQ, test.value, if_equal, if_not));
    }
    program.push(answer(clause.verdict));
    program
}

fn answer(verdict: Verdict) -> sock_filter {
    let value = match verdict {
        Verdict::Allow => libc::SECCOMP_RET_ALLOW,
        Verdict::Refuse(error) => libc::SECCOMP_RET_ERRNO | error.unsigned_abs(),
        Verdict::Supervise => libc::SECCOMP_RET_USER_NOTIF,
    };
    instruction(BPF_RET | BPF_K, value)
}

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, offset)
}

fn skip(count: usize) -> sock_filter {
    instruction(BPF_JMP | BPF_JA, u32::try_from(count).unwrap_or(u32::MAX))
}

fn jump(kind: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter { jt: if_true, jf: if_false, ..instruction(BPF_JMP | kind | BPF_K, value) }
}

fn instruction(code: u32, value: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

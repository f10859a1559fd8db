//! The processes of a sandbox, read from `/proc` outside it.

use std::collections::HashSet;
use std::fs;
use std::str::FromStr;

use rustix::process::Pid;

/// One process that descends from the warden.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) id: i32,
    /// Its threads, itself included.
    pub(super) threads: u64,
}

/// Everything that descends from `root`, without `root`; what ends meanwhile may be left out.
pub(super) fn descendants(root: Pid) -> Vec<Process> {
    let mut found = Vec::new();
    let mut seen = HashSet::<i32>::new();
    let mut waiting = vec![root.as_raw_nonzero().get()];
    while let Some(id) = waiting.pop() {
        let mut threads = 0;
        for thread in numbers_in_folder(&format!("/proc/{id}/task")) {
            threads += 1;
            let children = fs::read_to_string(format!("/proc/{id}/task/{thread}/children"));
            let children = children.unwrap_or_default();
            waiting.extend(
                children.split_whitespace().filter_map(parse).filter(|child| seen.insert(*child)),
            );
        }
        if id != root.as_raw_nonzero().get() {
            found.push(Process { id, threads });
        }
    }
    found
}

fn numbers_in_folder(path: &str) -> Vec<i32> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| parse(entry.file_name().to_str()?)).collect()
}

fn parse<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// How many processes and threads there are.
pub(super) fn tasks(processes: &[Process]) -> u64 {
    processes.iter().map(|process| process.threads).sum()
}

/// The process group of a process.
pub(super) fn group_of(process: Process) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{}/stat", process.id)).ok()?;
    // The name, in parentheses, may contain anything.
    let (_, fields) = status.rsplit_once(')')?;
    fields.split_whitespace().nth(2).and_then(parse)
}

/// Whether the processes together hold more than `limit` bytes of memory of their own.
pub(super) fn exceed_memory(processes: &[Process], limit: u64) -> bool {
    let sum = |measure: fn(Process) -> u64| {
        processes.iter().map(|process| measure(*process)).sum::<u64>()
    };
    // What processes share is counted once for each at first, which is cheap, and exactly only when
    // needed.
    sum(resident) > limit && sum(proportional) > limit
}

fn resident(process: Process) -> u64 {
    kibibytes(&format!("/proc/{}/status", process.id), &["RssAnon:", "RssShmem:"])
}

fn proportional(process: Process) -> u64 {
    kibibytes(&format!("/proc/{}/smaps_rollup", process.id), &["Pss_Anon:", "Pss_Shmem:"])
}

fn kibibytes(path: &str, labels: &[&str]) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let values = text.lines().filter_map(|line| {
        let value = labels.iter().find_map(|label| line.strip_prefix(label))?;
        parse::<u64>(value.trim().strip_suffix("kB")?.trim())
    });
    values.sum::<u64>() * 1024
}

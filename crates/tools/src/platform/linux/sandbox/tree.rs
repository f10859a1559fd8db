//! The processes of a sandbox, seen from outside.

use std::collections::HashSet;
use std::fs;
use std::str::FromStr;

use rustix::process::Pid;

/// One process that descends from the warden.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub(super) id: i32,
    /// Its threads, itself included; the first one may have ended before the others.
    pub(super) threads: Vec<i32>,
}

impl Process {
    /// Where `/proc` tells about each thread of this process.
    ///
    /// What they have in common has to be asked of one that lives: of a first thread that has ended the
    /// kernel shows neither memory nor files.
    pub(super) fn places(&self) -> impl Iterator<Item = String> {
        self.threads.iter().map(|thread| format!("/proc/{}/task/{thread}", self.id))
    }
}

/// Everything that descends from `root`, without `root`; what ends meanwhile may be left out.
pub(super) fn descendants(root: Pid) -> Vec<Process> {
    let mut found = Vec::new();
    let mut seen = HashSet::<i32>::new();
    let mut waiting = vec![root.as_raw_nonzero().get()];
    while let Some(id) = waiting.pop() {
        let threads = numbers_in_folder(&format!("/proc/{id}/task"));
        for thread in &threads {
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

pub(super) fn parse<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// How many processes and threads there are.
pub(super) fn tasks(processes: &[Process]) -> u64 {
    processes.iter().map(|process| process.threads.len() as u64).sum()
}

/// The process group of a process.
pub(super) fn group_of(process: &Process) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{}/stat", process.id)).ok()?;
    // The name, in parentheses, may contain anything.
    let (_, fields) = status.rsplit_once(')')?;
    fields.split_whitespace().nth(2).and_then(parse)
}

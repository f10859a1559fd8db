//! The processes of a sandbox and what they use, seen from outside.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
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
    let path = format!("/proc/{}/status", process.id);
    kibibytes(&path, &["RssAnon:", "RssShmem:"]).unwrap_or_default()
}

fn proportional(process: Process) -> u64 {
    let path = format!("/proc/{}/smaps_rollup", process.id);
    // A process can hide this, and then it is not given the benefit of the doubt.
    kibibytes(&path, &["Pss_Anon:", "Pss_Shmem:"]).unwrap_or_else(|| resident(process))
}

fn kibibytes(path: &str, labels: &[&str]) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let values = text.lines().filter_map(|line| {
        let value = labels.iter().find_map(|label| line.strip_prefix(label))?;
        parse::<u64>(value.trim().strip_suffix("kB")?.trim())
    });
    Some(values.sum::<u64>() * 1024)
}

/// The bytes of files that are open in these processes and in no folder any more.
pub(super) fn unlinked_bytes(processes: &[Process]) -> u64 {
    let mut files = HashMap::new();
    for process in processes {
        let entries =
            fs::read_dir(format!("/proc/{}/fd", process.id)).into_iter().flatten().flatten();
        for file in entries.filter_map(|entry| fs::metadata(entry.path()).ok()) {
            if file.is_file() && file.nlink() == 0 {
                files.insert((file.dev(), file.ino()), file.blocks() * BLOCK);
            }
        }
    }
    files.into_values().sum()
}

/// The bytes beneath a folder, or at least `enough` if there are more; a file without content still
/// counts as something.
pub(super) fn bytes_beneath(folder: &Path, enough: u64) -> u64 {
    const ENTRY: u64 = 4096;
    let mut used = 0;
    let mut folders: Vec<PathBuf> = vec![folder.into()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            used += (metadata.blocks() * BLOCK).max(ENTRY);
            if used >= enough {
                return used;
            }
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    used
}

/// The unit in which a file's blocks are counted.
const BLOCK: u64 = 512;

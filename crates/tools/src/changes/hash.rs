//! Hashes of many files, on more threads than one, and a memory of them.
//!
//! Invariant: a hash is remembered only for a file that nobody could have changed within the same tick of the clock.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use basics::sha256::Sha256;
use sha2::Digest;

use super::node::{Moment, Stamp};
use super::path::LayerPath;
use super::tree::Tree;

/// Fewer files than this are not worth a thread.
const FEW: usize = 32;
/// How far the clock of a file system may be behind.
pub(super) const TICK: u32 = 20_000_000;

/// Hashes of files of one layer, by what the file system says about them; for one run.
#[derive(Debug, Default)]
pub struct Hashes(HashMap<(u64, Moment, u64), Sha256>);

/// A file to be hashed.
pub(super) struct Job<'a> {
    pub(super) tree: &'a Tree,
    pub(super) path: &'a LayerPath,
    pub(super) stamp: Stamp,
}

impl Hashes {
    pub(super) fn get(&self, stamp: &Stamp) -> Option<Sha256> {
        self.0.get(&key(stamp)).copied()
    }

    pub(super) fn remember(&mut self, stamp: &Stamp, hash: Sha256, now: SystemTime) {
        if stamp.changed < before(now) {
            self.0.insert(key(stamp), hash);
        }
    }
}

fn key(stamp: &Stamp) -> (u64, Moment, u64) {
    (stamp.inode, stamp.changed, stamp.size)
}

/// A moment that is surely in the past when this time comes.
pub(super) fn before(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let past = since.saturating_sub(std::time::Duration::from_nanos(u64::from(TICK)));
    (i64::try_from(past.as_secs()).unwrap_or(i64::MAX), past.subsec_nanos())
}

/// Hashes files; each result is in its job's place.
pub(super) fn hash_all(jobs: &[Job<'_>]) -> Vec<io::Result<Sha256>> {
    side_by_side(jobs, |job, buffer| hash(&mut job.tree.file(job.path)?, buffer))
}

/// Does something with each item, on several threads where there are many.
pub(super) fn side_by_side<I: Sync, T: Send>(
    items: &[I],
    work: impl Fn(&I, &mut Vec<u8>) -> T + Sync,
) -> Vec<T> {
    if items.len() < FEW {
        let mut buffer = Vec::new();
        return items.iter().map(|item| work(item, &mut buffer)).collect();
    }
    let threads = thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let next = AtomicUsize::new(0);
    let results = Mutex::new((0..items.len()).map(|_| None).collect::<Vec<Option<T>>>());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut buffer = Vec::new();
                loop {
                    let start = next.fetch_add(FEW, Ordering::Relaxed);
                    let Some(some) = items.get(start..) else { break };
                    let some = &some[..some.len().min(FEW)];
                    let done: Vec<T> = some.iter().map(|item| work(item, &mut buffer)).collect();
                    let mut results = results.lock().unwrap_or_else(|error| error.into_inner());
                    for (place, result) in results[start..].iter_mut().zip(done) {
                        *place = Some(result);
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(|error| error.into_inner());
    results.into_iter().flatten().collect()
}

/// Hashes what is left in a file.
pub(super) fn hash(file: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<Sha256> {
    buffer.resize(128 << 10, 0);
    let mut hasher = sha2::Sha256::new();
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(hasher.into()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

//! A parallel map that keeps its order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Items a thread takes at a time: few enough to share evenly, enough to be worth taking.
const BATCH: usize = 64;

/// Applies `work` to each item on up to `threads` threads; results are in the order of the items.
pub(crate) fn map_in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let batches = items.len().div_ceil(BATCH);
    let threads = threads.min(batches);
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            let Some(items) = items.chunks(BATCH).nth(batch) else { return done };
            done.push((batch, items.iter().map(&work).collect::<Vec<R>>()));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            match other.join() {
                Ok(results) => done.extend(results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(batch, _)| *batch);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

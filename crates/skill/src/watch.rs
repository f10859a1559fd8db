//! Noticing changed skills while a program runs.
//!
//! Changes are found by comparing file stamps now and then, exactly as a new process would with a warm
//! cache. That needs no watch descriptors, of which a system has few, and works on network file systems.

#[cfg(test)]
mod tests;

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::index::Index;

/// An index that follows its files. It stops when dropped.
#[derive(Debug)]
pub struct Watch {
    current: Arc<Mutex<Arc<Index>>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins with `first`, calls `build` `every` so often and `changed` with each index that differs.
    pub fn start(
        first: Arc<Index>,
        mut build: impl FnMut() -> Option<Index> + Send + 'static,
        every: Duration,
        changed: impl Fn(&Arc<Index>) + Send + 'static,
    ) -> Self {
        let current = Arc::new(Mutex::new(first));
        let (stop, stopped) = channel();
        let shared = Arc::clone(&current);
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let Some(next) = build().map(Arc::new) else { continue };
                let mut current = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if !next.same_skills(&current) {
                    *current = Arc::clone(&next);
                    drop(current);
                    changed(&next);
                }
            }
        });
        Self { current, stop: Some(stop), thread: Some(thread) }
    }

    /// The index as it is now; whoever holds it keeps it as it was.
    pub fn current(&self) -> Arc<Index> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has already been reported there.
            let _ = thread.join();
        }
    }
}

//! The first of many things, in their order, without all of them in memory.

/// Keeps the least of what it is given, and counts the rest.
#[derive(Debug)]
pub(super) struct Bounded<T> {
    limit: usize,
    kept: Vec<T>,
    dropped: usize,
}

impl<T: Ord> Bounded<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), dropped: 0 }
    }

    pub(super) fn push(&mut self, value: T) {
        self.kept.push(value);
        // Now and then, so that it takes little time.
        if self.kept.len() > self.limit * 4 {
            self.cut();
        }
    }

    /// What was kept, in order, and how much was not.
    pub(super) fn finish(mut self) -> (Vec<T>, usize) {
        self.cut();
        (self.kept, self.dropped)
    }

    fn cut(&mut self) {
        self.kept.sort();
        self.dropped += self.kept.len().saturating_sub(self.limit);
        self.kept.truncate(self.limit);
    }
}

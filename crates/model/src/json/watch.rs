//! Which watches a place in the document satisfies, as sets of bits.

use super::path::{self, PathError, Step};

/// How a watched value is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Once, when complete, whatever its type.
    Value,
    /// In pieces as they arrive, if it is a string; any other value is not reported.
    Deltas,
}

/// Something at a watched path, with the caller's own tag of the watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a, T> {
    /// A value is complete; its JSON is valid and ready for `serde_json::from_slice`.
    Value(T, &'a [u8]),
    /// The next piece of a string; never empty.
    Delta(T, &'a str),
    /// A string is complete: the deltas since the last end, joined.
    DeltasEnd(T),
}

/// A set of watches, one bit each.
pub(super) type Set = u64;

/// All watches of one parser.
pub(super) struct Watches<T> {
    list: Vec<(Vec<Step>, T)>,
    /// The watches in [`Mode::Value`].
    pub(super) values: Set,
    /// The watches in [`Mode::Deltas`].
    pub(super) deltas: Set,
    longest_key: usize,
}

impl<T: Copy> Watches<T> {
    pub(super) fn new(watches: &[(&str, Mode, T)]) -> Result<Self, PathError> {
        if watches.len() > Set::BITS as usize {
            return Err(PathError::TooMany { count: watches.len() });
        }
        let mut all = Self { list: Vec::new(), values: 0, deltas: 0, longest_key: 0 };
        for (index, (path, mode, tag)) in watches.iter().enumerate() {
            match mode {
                Mode::Value => all.values |= 1 << index,
                Mode::Deltas => all.deltas |= 1 << index,
            }
            let steps = path::steps(path)?;
            for step in &steps {
                if let Step::Key(key) = step {
                    all.longest_key = all.longest_key.max(key.len());
                }
            }
            all.list.push((steps, *tag));
        }
        Ok(all)
    }

    /// The watches that the root can satisfy: all.
    pub(super) fn root(&self) -> Set {
        self.values | self.deltas
    }

    /// Of the watches that a container at a depth satisfies so far, those that its member does too.
    pub(super) fn member(&self, container: Set, depth: usize, key: &[u8]) -> Set {
        self.filter(container, |steps| steps.get(depth).is_some_and(|step| step.takes_key(key)))
    }

    /// Of the watches that a container at a depth satisfies so far, those that its element does too.
    pub(super) fn element(&self, container: Set, depth: usize, index: usize) -> Set {
        self.filter(container, |steps| steps.get(depth).is_some_and(|step| step.takes_index(index)))
    }

    /// Of the watches that a value at a depth satisfies so far, those that want exactly it.
    pub(super) fn complete(&self, value: Set, depth: usize) -> Set {
        self.filter(value, |steps| steps.len() == depth)
    }

    /// Collects a key, as far as it takes to tell it from every key that is watched.
    pub(super) fn collect(&self, key: &mut Vec<u8>, text: &str) {
        let room = (self.longest_key + 1).saturating_sub(key.len());
        key.extend(text.bytes().take(room));
    }

    /// The tags of a set of watches.
    pub(super) fn tags(&self, set: Set) -> impl Iterator<Item = T> + '_ {
        ones(set).map(|index| self.list[index].1)
    }

    #[inline]
    fn filter(&self, set: Set, keep: impl Fn(&[Step]) -> bool) -> Set {
        ones(set)
            .filter(|&index| keep(&self.list[index].0))
            .fold(0, |kept, index| kept | 1 << index)
    }
}

/// The positions of the bits that are set.
fn ones(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (index < Set::BITS as usize).then_some(index)
    })
}

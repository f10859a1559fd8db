//! How many bytes the files of a run can have.
//!
//! A record may come from anywhere, so nothing is read that is larger than what this program writes. Together they
//! keep a command that looks at any record below 200 MB of memory.

const MIB: u64 = 1 << 20;

/// `events.jsonl`: thousands of turns, for long texts are in files of their own.
pub(super) const EVENTS: u64 = 32 * MIB;
/// What the events take in memory, at most: values need many times the room of their text.
pub(super) const WEIGHT: u64 = 64 * MIB;
/// The first line of it, which may name each of ten thousand skills.
pub(super) const FIRST_LINE: u64 = 16 * MIB;
/// `events.seal`: a line of it is a fifth of the shortest event.
pub(super) const SEALS: u64 = 8 * MIB;
/// `run.json`: the request, and a line for each thing that was used.
pub(super) const SUMMARY: u64 = 4 * MIB;
/// `index.json`: ten thousand skills take less than half of it.
pub(super) const INDEX: u64 = 64 * MIB;
/// The list of skills that the model was shown: a part of its context.
pub(super) const CATALOG: u64 = 16 * MIB;
/// An answer, a text of an event or a file before it was changed: tools stop at 10 MiB.
pub(super) const CONTENT: u64 = 16 * MIB;
/// What all scripts of a run printed; it is never held in memory, but it takes time.
pub(super) const STREAMS: u64 = 4096 * MIB;
/// The long texts of all events together.
pub(super) const TOGETHER: u64 = 48 * MIB;

//! How many bytes the files of a run can have.
//!
//! A record may come from anywhere, so nothing is read that is larger than what this program writes.

const MIB: u64 = 1 << 20;

/// `events.jsonl`: tens of thousands of turns, for long texts are in files of their own.
pub(super) const EVENTS: u64 = 256 * MIB;
/// The first line of it, which may name each of ten thousand skills.
pub(super) const FIRST_LINE: u64 = 16 * MIB;
/// `events.seal`: a line of it is a fifth of the shortest event.
pub(super) const SEALS: u64 = 64 * MIB;
/// `run.json`: the request, and a line for each thing that was used.
pub(super) const SUMMARY: u64 = 64 * MIB;
/// `index.json`: ten thousand skills take a tenth of it.
pub(super) const INDEX: u64 = 256 * MIB;
/// The list of skills that the model was shown: a part of its context.
pub(super) const CATALOG: u64 = 16 * MIB;
/// An answer, a text of an event or a file before it was changed: tools stop at 10 MiB.
pub(super) const CONTENT: u64 = 64 * MIB;
/// What a script printed; it is never held in memory.
pub(super) const STREAM: u64 = 1024 * MIB;
/// A path and two hashes.
pub(super) const CHANGE: u64 = MIB / 4;
/// The long texts of all events together, or all files before they were changed: what fits into memory.
pub(super) const TOGETHER: u64 = 1024 * MIB;

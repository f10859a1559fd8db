//! Where the record of a run keeps what is too long for an event.

use basics::sha256::Sha256;

/// The events themselves, relative to the run's folder.
pub const EVENTS: &str = "events.jsonl";

/// Bytes of the longest text that stays in its event.
pub const INLINE: usize = 2_000;

/// Where a content with this hash is kept, relative to the run's folder.
pub fn reference(sha256: &Sha256) -> String {
    format!("observations/{}.txt", &sha256.to_string()[..16])
}

/// Where a text of an event is kept: long ones in a file of their own, short ones in the event itself.
pub fn place_of(text: &str) -> String {
    if text.len() > INLINE { reference(&Sha256::of(text)) } else { EVENTS.to_owned() }
}

//! The event-stream decoder: no panic, and the same events however the bytes are split.
#![no_main]

use fuzz::split;
use libfuzzer_sys::fuzz_target;
use model::sse::{Decoder, Event};

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    pieces
        .flat_map(|piece| decoder.push(piece))
        .map(|event| event.expect("far below the limit"))
        .collect()
}

fuzz_target!(|data: &[u8]| {
    let (stream, pieces) = split(data);
    let whole = decode(std::iter::once(stream));
    assert_eq!(decode(pieces), whole);
    assert_eq!(decode(stream.chunks(1)), whole);
});

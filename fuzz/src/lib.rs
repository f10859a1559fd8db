//! What the fuzz targets share.

/// A text, and the same text in pieces whose lengths the fuzzer chose in the first bytes, over and over.
pub fn split(data: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let (&count, data) = data.split_first().unwrap_or((&0, data));
    let (lengths, text) = data.split_at(usize::from(count % 8).min(data.len()));
    let (mut rest, mut lengths) = (text, lengths.iter().cycle());
    let pieces = std::iter::from_fn(move || {
        let length = lengths.next().map_or(rest.len(), |length| usize::from(*length) + 1);
        let (piece, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    });
    (text, pieces)
}

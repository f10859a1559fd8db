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

/// Reads an answer of a provider whole, split and byte by byte; all must come to the same.
pub fn answer(wire: model::remote::Wire, data: &[u8]) {
    use model::dialect::{Dialect, Form, Protocol, TokenLimit};

    let (bytes, pieces) = split(data);
    let form = if data.first().is_some_and(|byte| byte % 2 == 0) { Form::Tools } else { Form::Text };
    let dialect = Dialect { form, ..Dialect::first(Protocol::Auto, true, TokenLimit::MaxTokens) };
    let read = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let (mut decoder, mut shown) = (wire.decoder(dialect), String::new());
        for piece in pieces {
            if let Err(error) = decoder.push(piece, &mut |text| shown.push_str(text)) {
                return (format!("{error:?}"), String::new());
            }
        }
        match decoder.finish(&mut |text| shown.push_str(text)) {
            Ok(answered) => {
                if answered.decision.is_ok() {
                    assert_eq!(shown, answered.text);
                }
                (format!("{answered:?}"), shown)
            }
            Err(error) => (format!("{error:?}"), String::new()),
        }
    };
    let whole = read(&mut std::iter::once(bytes));
    assert_eq!(read(&mut pieces.into_iter()), whole);
    assert_eq!(read(&mut bytes.chunks(1)), whole);
}

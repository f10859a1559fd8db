//! The push parser against `serde_json`: same verdict, same values, same text, however the bytes are split.
#![no_main]

use fuzz::split;
use libfuzzer_sys::fuzz_target;
use model::json::{Event, JsonError, Mode, Parser};
use serde_json::Value;

#[derive(Debug, Default, PartialEq)]
struct Seen {
    values: Vec<(usize, Vec<u8>)>,
    texts: Vec<(usize, String)>,
    open: [String; WATCHES.len()],
}

const WATCHES: [(&str, Mode, usize); 6] = [
    ("$", Mode::Value, 0),
    ("$", Mode::Deltas, 1),
    ("$.*", Mode::Value, 2),
    ("$.a", Mode::Deltas, 3),
    ("$[0].*", Mode::Deltas, 4),
    ("$.*[*]", Mode::Value, 5),
];

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Seen, Result<(), JsonError>) {
    let mut seen = Seen::default();
    let mut on_event = |event: Event<'_, usize>| match event {
        Event::Value(tag, json) => seen.values.push((tag, json.to_vec())),
        Event::Delta(tag, text) => seen.open[tag].push_str(text),
        Event::DeltasEnd(tag) => seen.texts.push((tag, std::mem::take(&mut seen.open[tag]))),
    };
    let mut parser = Parser::new(&WATCHES).expect("the paths are right");
    for piece in pieces {
        if let Err(error) = parser.push(piece, &mut on_event) {
            return (seen, Err(error));
        }
    }
    let result = parser.finish(&mut on_event);
    (seen, result)
}

fn compare(text: &[u8], whole: &Seen) {
    let reference: Value = serde_json::from_slice(text).expect("the same verdict");
    let last = |wanted| whole.values.iter().rev().find(|(tag, _)| *tag == wanted);
    let root: Value = serde_json::from_slice(&last(0).expect("a root").1).expect("valid JSON");
    assert_eq!(root, reference);
    for (_, json) in &whole.values {
        serde_json::from_slice::<Value>(json).expect("valid JSON");
    }
    let said = |wanted| {
        whole.texts.iter().rev().find(|(tag, _)| *tag == wanted).map(|(_, text)| text.as_str())
    };
    assert_eq!(said(1), reference.as_str());
    if let Some(Value::String(text)) = reference.get("a") {
        assert_eq!(said(3), Some(text.as_str()));
    }
}

fuzz_target!(|data: &[u8]| {
    let (text, pieces) = split(data);
    let whole = read(std::iter::once(text));
    assert_eq!(whole.1.is_ok(), serde_json::from_slice::<Value>(text).is_ok());
    assert_eq!(read(pieces), whole);
    assert_eq!(read(text.chunks(1)), whole);
    if whole.1.is_ok() {
        compare(text, &whole.0);
    }
});

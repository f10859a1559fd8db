//! Noisy replies: what is shown early is the same however it is split, and is the object found in the end or that is refused.
#![no_main]

use fuzz::split;
use libfuzzer_sys::fuzz_target;
use model::json::{Event, Mode};
use model::reply::{ReplyParser, outermost_object};
use serde_json::Value;

#[derive(Debug, Default, PartialEq)]
struct Shown {
    text: String,
    object: Option<Value>,
}

fn show<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Shown {
    let mut shown = Shown::default();
    let watches = [("$", Mode::Value, ()), ("$.*", Mode::Deltas, ())];
    let mut parser = ReplyParser::new(&watches).expect("the paths are right");
    for piece in pieces {
        parser.push(piece, &mut |event| match event {
            Event::Value((), json) => {
                shown.object = Some(serde_json::from_slice(json).expect("valid JSON"))
            }
            Event::Delta((), text) => shown.text.push_str(text),
            Event::DeltasEnd(()) => {}
        });
    }
    shown
}

fuzz_target!(|data: &[u8]| {
    let (reply, pieces) = split(data);
    let shown = show(std::iter::once(reply));
    assert_eq!(show(pieces), shown);
    assert_eq!(show(reply.chunks(1)), shown);
    let Ok(reply) = std::str::from_utf8(reply) else { return };
    let found =
        outermost_object(reply).ok().and_then(|object| serde_json::from_str::<Value>(object).ok());
    if let Some(found) = found
        && shown != Shown::default()
    {
        assert_eq!(Some(found), shown.object);
    }
});

//! Responses in, events out, however they are split.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    pieces.into_iter().flat_map(|piece| decoder.push(piece)).map(Result::unwrap).collect()
}

/// The events, which must be the same for every cut in two, and byte by byte.
fn decode_split(stream: &[u8]) -> Vec<Event> {
    let whole = decode([stream]);
    for cut in 0..=stream.len() {
        let (left, right) = stream.split_at(cut);
        assert_eq!(decode([left, right]), whole, "cut at {cut}: {}", stream.escape_ascii());
    }
    assert_eq!(decode(stream.chunks(1)), whole, "byte by byte: {}", stream.escape_ascii());
    whole
}

fn check(stream: impl AsRef<[u8]>, expected: &[(&str, &str)]) {
    let events = decode_split(stream.as_ref());
    let shown: Vec<_> =
        events.iter().map(|event| (event.name.as_str(), event.data.as_str())).collect();
    assert_eq!(shown, expected, "{}", stream.as_ref().escape_ascii());
}

#[test]
fn an_event_ends_with_an_empty_line() {
    check(
        "data: {\"a\":1}\n\ndata: [DONE]\n\n",
        &[("message", "{\"a\":1}"), ("message", "[DONE]")],
    );
    check("event: message_stop\ndata: {}\n\n", &[("message_stop", "{}")]);
    check("data: {}\nevent: late\n\ndata: next\n\n", &[("late", "{}"), ("message", "next")]);
    check("event: a\nevent: b\ndata: x\n\n", &[("b", "x")]);
}

#[test]
fn an_event_that_the_stream_cuts_off_is_not_given() {
    check("data: a\n\ndata: b\n", &[("message", "a")]);
    check("data: a\n\ndata: b", &[("message", "a")]);
    check("", &[]);
}

#[test]
fn lines_end_in_three_ways() {
    check("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", &[("message", "a\nb"), ("message", "c")]);
    check("data: a\rdata: b\r\rdata: c\r\r", &[("message", "a\nb"), ("message", "c")]);
    check(
        "data: a\r\n\ndata: b\n\r\ndata: c\n\r",
        &[("message", "a"), ("message", "b"), ("message", "c")],
    );
}

#[test]
fn data_may_have_several_lines() {
    check("data: a\ndata:\ndata:  b\n\n", &[("message", "a\n\n b")]);
    check("data\n\n", &[("message", "")]);
    check("data\ndata\n\n", &[("message", "\n")]);
    check("data:a:b\n\n", &[("message", "a:b")]);
}

#[test]
fn comments_unknown_fields_and_empty_events_are_skipped() {
    check(": ping\n\n:\n\ndata: a\n: between\ndata: b\n\n", &[("message", "a\nb")]);
    check("id: 7\nretry: 10\nDATA: x\n data: y\ndatum: z\n\n", &[]);
    check("event: lost\n\ndata: a\n\n", &[("message", "a")]);
}

#[test]
fn only_the_first_byte_order_mark_is_skipped() {
    check(
        "\u{feff}data: a\n\n\u{feff}data: b\n\ndata: \u{feff}c\n\n",
        &[("message", "a"), ("message", "\u{feff}c")],
    );
    check("\u{feff}\u{feff}data: a\n\n", &[]);
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced() {
    check(b"event: \xff\ndata: a\xe2\x82\ndata: \xe2\x82\xac\n\n", &[("\u{fffd}", "a\u{fffd}\n€")]);
}

/// The part over and over in small pieces, until the decoder gives up; what it read by then.
fn bytes_until_too_long(part: &str) -> usize {
    let mut decoder = Decoder::default();
    for count in 0..=MAX_EVENT_BYTES {
        if let Some(result) = decoder.push(part.as_bytes()).pop() {
            assert_eq!(result, Err(SseError::TooLong));
            assert_eq!(decoder.push(b"\n\ndata: a\n\n"), [Err(SseError::TooLong)]);
            return count * part.len();
        }
    }
    panic!("no limit for {part}");
}

#[test]
fn an_endless_line_or_event_is_an_error() {
    let long = "x".repeat(1000);
    for part in [&long, &format!(": {long}"), &format!("data: {long}\n")] {
        let read = bytes_until_too_long(part);
        assert!(read <= MAX_EVENT_BYTES + MAX_EVENT_BYTES / 100, "{read}");
    }
}

#[test]
fn many_events_and_comments_have_no_limit() {
    let line = format!("data: {0}\n\n: {0}\n", "x".repeat(MAX_EVENT_BYTES / 4));
    let mut decoder = Decoder::default();
    for _ in 0..10 {
        assert!(matches!(decoder.push(line.as_bytes())[..], [Ok(_)]));
    }
}

#[test]
fn events_before_an_error_are_given() {
    let stream = format!("data: a\n\ndata: {}", "x".repeat(MAX_EVENT_BYTES));
    let event = Event { name: "message".to_owned(), data: "a".to_owned() };
    assert_eq!(Decoder::default().push(stream.as_bytes()), [Ok(event), Err(SseError::TooLong)]);
}

/// The standard's text in the simplest possible way, for a whole stream.
fn reference(stream: &str) -> Vec<Event> {
    let stream =
        stream.strip_prefix('\u{feff}').unwrap_or(stream).replace("\r\n", "\n").replace('\r', "\n");
    let Some((stream, _cut_off)) = stream.rsplit_once('\n') else { return Vec::new() };
    let (mut events, mut name, mut data) = (Vec::new(), "", Vec::new());
    for line in stream.split('\n') {
        match line.split_once(':').unwrap_or((line, "")) {
            ("", "") if line.is_empty() => {
                if !data.is_empty() {
                    let name = if name.is_empty() { "message" } else { name }.to_owned();
                    events.push(Event { name, data: data.join("\n") });
                }
                (name, data) = ("", Vec::new());
            }
            ("event", value) => name = value.strip_prefix(' ').unwrap_or(value),
            ("data", value) => data.push(value.strip_prefix(' ').unwrap_or(value)),
            _ => {}
        }
    }
    events
}

fn stream() -> impl Strategy<Value = String> {
    let parts = vec![
        "data", "event", ":", " ", "\n", "\r", "\r\n", "\n\n", "data: x", "event: e", "id", "é",
        "\u{feff}", "😀", "\0",
    ];
    vec(select(parts), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_stream_gives_the_standards_events_however_it_is_split(stream in stream(), cuts in vec(any::<Index>(), 0..10)) {
        let expected = reference(&stream);
        prop_assert_eq!(&decode_split(stream.as_bytes()), &expected);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).chain([0, stream.len()]).collect();
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &stream.as_bytes()[pair[0]..pair[1]]);
        prop_assert_eq!(decode(pieces), expected);
    }
}

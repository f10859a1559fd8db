use super::*;

/// Feeds a stream in pieces of every size and compares what stays with the plain answer.
#[track_caller]
fn check(content: &[u8], kept: usize, head: &[u8], tail: &[u8]) {
    for size in 1..=content.len().max(1) {
        let mut stored = Vec::new();
        let mut capture = Capture::new(&mut stored, kept);
        for piece in content.chunks(size) {
            capture.push(piece).unwrap();
        }
        let captured = capture.finish().unwrap();
        assert_eq!(
            (captured.head.as_slice(), captured.tail.as_slice()),
            (head, tail),
            "pieces of {size}"
        );
        assert_eq!(captured.omitted(), (content.len() - head.len() - tail.len()) as u64);
        assert_eq!(captured.sha256, <[u8; 32]>::from(Sha256::digest(content)));
        assert_eq!(stored, content);
    }
}

#[test]
fn a_short_stream_is_kept_whole() {
    check(b"", 8, b"", b"");
    check(b"abc", 8, b"abc", b"");
    check(b"abcdef", 8, b"abcd", b"ef");
    check(b"abcdefgh", 8, b"abcd", b"efgh");
}

#[test]
fn of_a_long_stream_the_beginning_and_the_end_are_kept() {
    check(b"abcdefghijklmnopqrstuvwxyz", 8, b"abcd", b"wxyz");
}

#[test]
fn nothing_needs_to_be_kept() {
    check(b"abc", 0, b"", b"");
}

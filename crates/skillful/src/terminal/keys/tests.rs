use super::{Decoder, Key};

fn keys(bytes: &[u8], size: usize) -> Vec<Key> {
    let (mut decoder, mut keys) = (Decoder::default(), Vec::new());
    for piece in bytes.chunks(size) {
        decoder.push(piece, &mut keys);
    }
    decoder.pause(&mut keys);
    keys
}

#[test]
fn keys_are_the_same_however_bytes_are_split() {
    let bytes = "aé表\r\x1b\r\x7f\x03\x1b[A\x1b[1;5D\x1bOH\x1b[3~\x1b[200~x\r\ny\rz\x1b[A\x1b[201~b\t\x1b[Z\x1b[99;9x\x1b";
    let expected = vec![
        Key::Char('a'),
        Key::Char('é'),
        Key::Char('表'),
        Key::Enter,
        Key::NewLine,
        Key::Backspace,
        Key::Ctrl('c'),
        Key::Up,
        Key::WordLeft,
        Key::Home,
        Key::Delete,
        Key::Paste("x\ny\nz\x1b[A".to_owned()),
        Key::Char('b'),
        Key::Tab,
        Key::BackTab,
        Key::Escape,
    ];
    for size in 1..=bytes.len() {
        assert_eq!(keys(bytes.as_bytes(), size), expected, "pieces of {size}");
    }
}

#[test]
fn broken_bytes_are_passed_over() {
    assert_eq!(keys(b"\xff\xc3(\x80ok", 1), [Key::Char('('), Key::Char('o'), Key::Char('k')]);
    let endless = [b"\x1b[".as_slice(), &[b'1'; 100], b"x"].concat();
    assert_eq!(keys(&endless, 200), []);
}

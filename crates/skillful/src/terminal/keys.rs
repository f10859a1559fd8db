//! From the bytes of a terminal to keys.
//!
//! Bytes come split anywhere. What is no key that matters here is dropped.

#[cfg(test)]
mod tests;

/// A key, or a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    /// Enter with Alt: another line of the same text.
    NewLine,
    Tab,
    BackTab,
    Backspace,
    /// Backspace with Alt.
    BackWord,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    WordLeft,
    WordRight,
    Escape,
    /// A letter with Ctrl.
    Ctrl(char),
    Paste(String),
}

const ESCAPE: u8 = 0x1b;
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// Longer sequences of control mean nothing here.
const MAX_SEQUENCE: usize = 32;

/// Bytes on their way to become keys.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    paste: Option<Vec<u8>>,
}

/// What the first bytes are.
enum First {
    /// This many of them are a key, or nothing that matters.
    Is(usize, Option<Key>),
    PasteBegins(usize),
    /// More must come.
    Unclear,
}

impl Decoder {
    pub(crate) fn push(&mut self, bytes: &[u8], keys: &mut Vec<Key>) {
        self.bytes.extend_from_slice(bytes);
        let mut rest = std::mem::take(&mut self.bytes);
        let mut start = 0;
        while start < rest.len() {
            if let Some(paste) = &mut self.paste {
                // An end that came in two pieces begins in what was kept of the paste.
                let kept = paste.len();
                paste.extend_from_slice(&rest[start..]);
                let from = kept.saturating_sub(PASTE_ENDS.len());
                let end = find(&paste[from..], PASTE_ENDS).map(|place| from + place);
                let Some(end) = end else {
                    start = rest.len();
                    break;
                };
                start += (end + PASTE_ENDS.len()) - kept;
                let text = String::from_utf8_lossy(&paste[..end]).replace("\r\n", "\n");
                keys.push(Key::Paste(text.replace('\r', "\n")));
                self.paste = None;
                continue;
            }
            match first(&rest[start..]) {
                First::Is(length, key) => {
                    keys.extend(key);
                    start += length;
                }
                First::PasteBegins(length) => {
                    self.paste = Some(Vec::new());
                    start += length;
                }
                First::Unclear => break,
            }
        }
        rest.drain(..start);
        self.bytes = rest;
    }

    /// Nothing came for a while: an escape by itself was the key.
    pub(crate) fn pause(&mut self, keys: &mut Vec<Key>) {
        if self.bytes.first() == Some(&ESCAPE) {
            let is_key = self.bytes.len() == 1;
            self.bytes.clear();
            keys.extend(is_key.then_some(Key::Escape));
        }
    }

    /// Whether a pause would tell something.
    pub(crate) fn is_unclear(&self) -> bool {
        self.bytes.first() == Some(&ESCAPE)
    }
}

fn first(bytes: &[u8]) -> First {
    match bytes[0] {
        ESCAPE => escape(bytes),
        b'\r' | b'\n' => First::Is(1, Some(Key::Enter)),
        b'\t' => First::Is(1, Some(Key::Tab)),
        0x7f | 0x08 => First::Is(1, Some(Key::Backspace)),
        control @ 1..0x1b => First::Is(1, Some(Key::Ctrl(char::from(control + b'a' - 1)))),
        0 | 0x1c..0x20 => First::Is(1, None),
        _ => letter(bytes),
    }
}

fn letter(bytes: &[u8]) -> First {
    let length = match bytes[0] {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => return First::Is(1, None),
    };
    let Some(bytes) = bytes.get(..length) else { return First::Unclear };
    match std::str::from_utf8(bytes) {
        Ok(text) => First::Is(length, text.chars().next().map(Key::Char)),
        Err(_) => First::Is(1, None),
    }
}

fn escape(bytes: &[u8]) -> First {
    match bytes.get(1) {
        None => First::Unclear,
        Some(b'[') => sequence(bytes),
        Some(b'O') => match bytes.get(2) {
            None => First::Unclear,
            Some(last) => First::Is(3, arrow(*last, b"")),
        },
        Some(b'\r' | b'\n') => First::Is(2, Some(Key::NewLine)),
        Some(0x7f | 0x08) => First::Is(2, Some(Key::BackWord)),
        Some(b'b') => First::Is(2, Some(Key::WordLeft)),
        Some(b'f') => First::Is(2, Some(Key::WordRight)),
        // The key, and then another one.
        Some(&ESCAPE) => First::Is(1, Some(Key::Escape)),
        Some(_) => First::Is(2, None),
    }
}

/// `ESC [ … letter`
fn sequence(bytes: &[u8]) -> First {
    let end = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte));
    let Some(end) = end.map(|place| place + 2) else {
        return if bytes.len() > MAX_SEQUENCE {
            First::Is(bytes.len(), None)
        } else {
            First::Unclear
        };
    };
    let parameters = &bytes[2..end];
    let key = match (bytes[end], parameters) {
        (b'~', b"200") => return First::PasteBegins(end + 1),
        (b'~', b"1" | b"7") => Some(Key::Home),
        (b'~', b"4" | b"8") => Some(Key::End),
        (b'~', b"3") => Some(Key::Delete),
        // Enter with Shift or Alt, where a terminal tells.
        (b'~', b"27;2;13" | b"27;3;13") | (b'u', b"13;2" | b"13;3") => Some(Key::NewLine),
        (b'Z', _) => Some(Key::BackTab),
        (last, parameters) => arrow(last, parameters),
    };
    First::Is(end + 1, key)
}

fn arrow(last: u8, parameters: &[u8]) -> Option<Key> {
    let by_word = matches!(parameters, b"1;5" | b"1;3");
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if by_word => Key::WordRight,
        b'D' if by_word => Key::WordLeft,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'M' => Key::Enter,
        _ => return None,
    })
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

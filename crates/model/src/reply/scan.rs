//! Tells a reply's objects from the text around them, a byte at a time, in constant memory.

/// Reads a reply without parsing its JSON: strings and braces are all that matter inside an object.
#[derive(Default)]
pub(super) struct Scanner {
    state: State,
    offset: usize,
    /// A `{` that will have begun an object if a quote comes next.
    brace: Option<Opening>,
    line: Line,
    /// The lines before this one have more than white space, thinking or a fence at their end.
    after_prose: bool,
    /// An object began since the last that was discarded.
    object_seen: bool,
    trusted_seen: bool,
    /// The last sixteen bytes outside objects, to recognise tags by; an object leaves its `{` here.
    recent: u128,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Outside,
    Thinking,
    Object {
        depth: usize,
    },
    Text {
        depth: usize,
    },
    Escape {
        depth: usize,
    },
}

/// What a byte decided.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    /// This quote made the last `{` the beginning of an object.
    Began(Opening),
    /// This `}` closed the object.
    Ended,
    /// What came so far was thinking, objects included.
    Discarded,
}

/// A `{`.
#[derive(Clone, Copy)]
pub(super) struct Opening {
    /// Bytes before it.
    pub(super) start: usize,
    /// If it begins an object, that will be the reply's object, or the reply is refused.
    pub(super) trusted: bool,
}

impl Scanner {
    /// Reads one byte.
    pub(super) fn step(&mut self, byte: u8) -> Option<Mark> {
        self.offset += 1;
        self.state = match (self.state, byte) {
            (State::Outside, _) => return self.outside(byte),
            (State::Thinking, _) => {
                self.remember(byte);
                if byte == b'>' && self.is_tag("</") {
                    self.after_thinking()
                } else {
                    State::Thinking
                }
            }
            (State::Object { depth }, b'"') => State::Text { depth },
            (State::Object { depth }, b'{') => State::Object { depth: depth + 1 },
            (State::Object { depth: 1 }, b'}') => {
                self.state = State::Outside;
                return Some(Mark::Ended);
            }
            (State::Object { depth }, b'}') => State::Object { depth: depth - 1 },
            (State::Text { depth }, b'"') => State::Object { depth },
            (State::Text { depth }, b'\\') => State::Escape { depth },
            (State::Escape { depth }, _) => State::Text { depth },
            (state, _) => state,
        };
        None
    }

    fn outside(&mut self, byte: u8) -> Option<Mark> {
        let brace = self.brace.take();
        if let (b'"', Some(opening)) = (byte, brace) {
            self.object_seen = true;
            self.trusted_seen |= opening.trusted;
            self.state = State::Text { depth: 1 };
            return Some(Mark::Began(opening));
        }
        self.remember(byte);
        match byte {
            b' ' | b'\t' | b'\r' => self.brace = brace,
            b'\n' => {
                self.brace = brace;
                self.after_prose = self.prose_so_far();
                self.line = Line::default();
            }
            b'>' if self.is_tag("<") => self.state = State::Thinking,
            b'>' if self.is_tag("</") => {
                self.after_thinking();
                // What was shown stays, and makes a second object an error.
                if !self.trusted_seen {
                    self.object_seen = false;
                    return Some(Mark::Discarded);
                }
            }
            b'{' => {
                let trusted = !self.object_seen && !self.prose_so_far();
                self.brace = Some(Opening { start: self.offset - 1, trusted });
                self.line.push(byte);
            }
            _ => self.line.push(byte),
        }
        None
    }

    fn after_thinking(&mut self) -> State {
        self.line = Line::default();
        self.after_prose = false;
        State::Outside
    }

    /// Whether an object that began here would follow prose.
    fn prose_so_far(&self) -> bool {
        if self.line.is_empty() { self.after_prose } else { !self.line.is_fence() }
    }

    fn remember(&mut self, byte: u8) {
        self.recent = self.recent << 8 | u128::from(byte.to_ascii_lowercase());
    }

    /// Whether the last bytes are a thinking tag that begins like this.
    fn is_tag(&self, opening: &str) -> bool {
        let recent = self.recent.to_be_bytes();
        ["think>", "thinking>"].iter().any(|name| {
            recent
                .strip_suffix(name.as_bytes())
                .is_some_and(|before| before.ends_with(opening.as_bytes()))
        })
    }
}

/// The beginning of a line, white space left out: enough to know a fence.
#[derive(Default)]
struct Line {
    bytes: [u8; 8],
    length: usize,
}

impl Line {
    fn push(&mut self, byte: u8) {
        if let Some(free) = self.bytes.get_mut(self.length) {
            *free = byte.to_ascii_lowercase();
            self.length += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn is_fence(&self) -> bool {
        matches!(&self.bytes[..self.length], b"```" | b"```json")
    }
}

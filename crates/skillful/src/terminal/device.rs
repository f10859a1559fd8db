//! The terminal's own modes, its size, and the way to write to it.

use std::io::Write;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Pastes are marked as such.
const MARK_PASTES: &str = "\x1b[?2004h";
const NO_MARKS: &str = "\x1b[?2004l";

/// A terminal that hands over each key.
#[derive(Debug)]
pub(super) struct Device {
    /// As it was found.
    found: Termios,
}

impl Device {
    /// The terminal on stdin, if there is one; its modes stay as they are.
    pub(super) fn open() -> Option<Self> {
        Some(Self { found: tcgetattr(std::io::stdin()).ok()? })
    }

    /// Each key comes at once and is not shown by the terminal itself.
    pub(super) fn take_keys(&self) {
        let mut modes = self.found.clone();
        modes
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
        modes.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // A terminal that cannot do it is used as it is.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
        write_err(MARK_PASTES);
    }

    /// The terminal is as it was found.
    pub(super) fn give_back(&self) {
        write_err(NO_MARKS);
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.found);
    }
}

/// Columns and rows of the terminal.
pub(super) fn size() -> (usize, usize) {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((width, height)) if width.0 > 0 && height.0 > 0 => (width.0.into(), height.0.into()),
        _ => (80, 24),
    }
}

pub(super) fn write_err(text: &str) {
    let mut stderr = std::io::stderr();
    // Nobody is there to tell when it is closed.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

pub(super) fn write_out(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

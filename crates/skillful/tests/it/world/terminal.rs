//! A terminal that remembers what was written to it, and somebody who answers there.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

pub(crate) struct Terminal {
    own: File,
    theirs: Option<File>,
    written: Vec<u8>,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Self {
        let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&own).unwrap();
        unlockpt(&own).unwrap();
        let name = ptsname(&own, Vec::new()).unwrap();
        let theirs = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OpenptFlags::NOCTTY.bits() as i32)
            .open(name.to_str().unwrap())
            .unwrap();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&theirs, size).unwrap();
        // Newlines stay newlines.
        let mut modes = tcgetattr(&theirs).unwrap();
        modes.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&theirs, OptionalActions::Now, &modes).unwrap();
        Self { own: File::from(own), theirs: Some(theirs), written: Vec::new() }
    }

    /// A handle for a program to write to.
    pub(crate) fn side(&self) -> OwnedFd {
        self.theirs.as_ref().unwrap().try_clone().unwrap().into()
    }

    /// Leaves the other side to the program: reading ends when it does.
    pub(crate) fn leave(&mut self) {
        self.theirs = None;
    }

    /// Waits for a question that was not answered yet, then presses `keys`.
    pub(crate) fn press(&mut self, question: &str, keys: &str) {
        let start = self.written.len();
        while !String::from_utf8_lossy(&self.written[start..]).contains(question) {
            let seen = String::from_utf8_lossy(&self.written).into_owned();
            assert!(self.read_more(), "it ended without asking `{question}`:\n{seen}");
        }
        self.own.write_all(keys.as_bytes()).unwrap();
    }

    /// Everything that was written, once nobody else can write any more.
    pub(crate) fn read(mut self) -> Vec<u8> {
        self.leave();
        while self.read_more() {}
        self.written
    }

    /// Waits for more; answers whether there can be any.
    fn read_more(&mut self) -> bool {
        let mut block = [0; 4096];
        let mut is_closed = false;
        loop {
            match self.own.read(&mut block) {
                Ok(0) => return false,
                Ok(length) => {
                    self.written.extend(&block[..length]);
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if is_closed => return false,
                // Linux says so when the other side is closed, now and then before it hands over what
                // was written last.
                Err(_) => is_closed = true,
            }
        }
    }
}

/// A program at a terminal, with what is to be seen there.
pub(crate) struct Sitting {
    own: File,
    child: Child,
    screen: vt100::Parser,
    /// Every byte that came.
    pub(crate) written: Vec<u8>,
}

impl Sitting {
    /// Starts the program; `command` must not have streams of its own.
    pub(crate) fn new(mut command: Command, columns: u16, rows: u16) -> Self {
        let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&own).unwrap();
        unlockpt(&own).unwrap();
        let name = ptsname(&own, Vec::new()).unwrap();
        let side = || {
            let flags = OpenptFlags::NOCTTY.bits() as i32;
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(flags);
            options.open(name.to_str().unwrap()).unwrap()
        };
        let first = side();
        set_size(&first, columns, rows);
        let child = command.stdin(side()).stdout(side()).stderr(first).spawn().unwrap();
        drop(command);
        let screen = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        Self { own: File::from(own), child, screen, written: Vec::new() }
    }

    /// What is to be seen, without empty lines at the end.
    pub(crate) fn screen(&self) -> String {
        let text = self.screen.screen().contents();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Waits until this is to be seen.
    pub(crate) fn wait(&mut self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    pub(crate) fn wait_until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        while !is_so(&self.screen()) {
            assert!(self.read_more(), "it ended without `{what}`:\n{}", self.screen());
        }
        self.screen()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        let mut keys = keys.as_bytes();
        // The terminal takes a few thousand bytes at once; what comes back must be read meanwhile.
        while !keys.is_empty() {
            let (piece, rest) = keys.split_at(keys.len().min(1_024));
            self.own.write_all(piece).unwrap();
            keys = rest;
        }
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        set_size(&self.own, columns, rows);
        self.screen.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
    }

    /// What is to be seen when it has ended, and how it did.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        while self.read_more() {}
        let status = self.child.wait().unwrap();
        (self.screen(), status.code())
    }

    fn read_more(&mut self) -> bool {
        let mut ready = [PollFd::new(&self.own, PollFlags::IN)];
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        let polled = poll(&mut ready, Some(&patience)).unwrap();
        assert!(polled > 0, "nothing came for a minute:\n{}", self.screen());
        let mut block = [0; 4096];
        match self.own.read(&mut block) {
            Ok(length @ 1..) => {
                self.written.extend(&block[..length]);
                self.screen.process(&block[..length]);
                true
            }
            Ok(0) | Err(_) => false,
        }
    }
}

fn set_size(terminal: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

/// Whether a terminal shows it as it is.
pub(crate) fn is_seen(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{feff}' => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{e0000}'..='\u{e0fff}' => false,
        _ => true,
    }
}

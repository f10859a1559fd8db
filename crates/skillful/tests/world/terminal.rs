//! A terminal that remembers what was written to it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

pub(crate) struct Terminal {
    own: File,
    theirs: File,
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
        Self { own: File::from(own), theirs }
    }

    /// A handle for a program to write to.
    pub(crate) fn side(&self) -> OwnedFd {
        self.theirs.try_clone().unwrap().into()
    }

    /// Everything that is written until nobody else can write any more. At `question` the user presses `keys`.
    pub(crate) fn read(self, question: &str, keys: &str) -> Vec<u8> {
        let Self { mut own, theirs } = self;
        drop(theirs);
        let mut written = Vec::new();
        let mut block = [0; 4096];
        let mut keys = Some(keys.as_bytes());
        loop {
            match own.read(&mut block) {
                Ok(0) => return written,
                Ok(length) => written.extend(&block[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Linux has this error for a terminal whose other side is closed.
                Err(_) => return written,
            }
            let asked = String::from_utf8_lossy(&written).contains(question);
            if let Some(keys) = keys.take_if(|_| asked) {
                own.write_all(keys).unwrap();
            }
        }
    }
}

//! Reads keys while nobody else has the terminal.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read as read_bytes};

use super::keys::Decoder;
use super::stage::Shared;

/// After an escape, another byte of the same key comes at once.
const QUICK: Duration = Duration::from_millis(40);
const PATIENCE: Duration = Duration::from_millis(100);

/// Reads until the end, or until nobody is there.
pub(super) fn read(shared: &Shared) {
    let stdin = std::io::stdin();
    let mut decoder = Decoder::default();
    let mut block = [0; 64 * 1024];
    loop {
        let time = if decoder.is_unclear() { QUICK } else { PATIENCE };
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        let polled = poll(&mut ready, Timespec::try_from(time).ok().as_ref());
        let mut keys = Vec::new();
        {
            let state = shared.lock();
            if state.has_ended {
                return;
            }
            if state.is_lent {
                drop(state);
                std::thread::sleep(QUICK);
                continue;
            }
            match polled {
                Ok(0) => decoder.pause(&mut keys),
                Ok(_) => match read_bytes(&stdin, &mut block) {
                    Ok(0) => break,
                    Ok(length) => decoder.push(&block[..length], &mut keys),
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(_) => break,
                },
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if !keys.is_empty() {
            shared.press(keys);
        }
    }
    shared.hang_up();
}

//! A question whose answer is not shown.

use std::io::{BufRead, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Asks on the terminal, and reads a line without showing it.
pub(crate) fn ask_hidden(question: &str) -> std::io::Result<String> {
    let mut out = std::io::stderr();
    let stdin = std::io::stdin();
    let shown = tcgetattr(&stdin)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    // Before the question: whoever answers it at once is not shown, and is heard.
    tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = write!(out, "{question}")
        .and_then(|()| out.flush())
        .and_then(|()| stdin.lock().read_line(&mut line));
    tcsetattr(&stdin, OptionalActions::Now, &shown)?;
    writeln!(out)?;
    read?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

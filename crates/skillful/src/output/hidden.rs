//! A question whose answer is not shown.

use std::io::{BufRead, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Asks on the terminal, and reads a line without showing it.
pub(crate) fn ask_hidden(question: &str) -> std::io::Result<String> {
    let mut out = std::io::stderr();
    write!(out, "{question}")?;
    out.flush()?;
    let stdin = std::io::stdin();
    let shown = tcgetattr(&stdin)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    tcsetattr(&stdin, OptionalActions::Now, &shown)?;
    writeln!(out)?;
    read?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

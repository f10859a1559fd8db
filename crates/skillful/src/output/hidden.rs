//! A question whose answer is not shown.

use std::io::{BufRead, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Asks on the terminal, and reads a line without showing it.
pub(crate) fn ask_hidden(question: &str) -> std::io::Result<String> {
    let mut line = String::new();
    unseen(|| {
        let mut out = std::io::stderr();
        write!(out, "{question}")?;
        out.flush()?;
        std::io::stdin().lock().read_line(&mut line)
    })??;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Puts a question and reads the answer, while what is typed is not shown.
///
/// It is hidden before the question: whoever answers at once is not shown, and is heard.
pub(crate) fn unseen<T>(ask: impl FnOnce() -> T) -> std::io::Result<T> {
    let stdin = std::io::stdin();
    let shown = tcgetattr(&stdin)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    let answer = ask();
    tcsetattr(&stdin, OptionalActions::Now, &shown)?;
    writeln!(std::io::stderr())?;
    Ok(answer)
}

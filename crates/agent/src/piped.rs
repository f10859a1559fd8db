//! Text that was piped in beside a request: one request, in which both can be told apart again.

/// What stands between a request and what was piped in.
const LABEL: &str = "\n\n[Standard input]\n";

/// A request with the text that was piped in.
pub fn join(request: &str, piped: &str) -> String {
    format!("{}{LABEL}{piped}", request.trim_end())
}

/// The words of a request, and the text that was piped in, if there was any.
pub fn split(request: &str) -> (&str, Option<&str>) {
    // A skill that was chosen by the first word leaves no others.
    match request.strip_prefix(LABEL.trim_start()) {
        Some(piped) => ("", Some(piped)),
        None => {
            request.split_once(LABEL).map_or((request, None), |(words, piped)| (words, Some(piped)))
        }
    }
}

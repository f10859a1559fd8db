//! What an error shows of a server's answer.

/// The beginning of a text on one line; the title, where it is a web page.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 300;
    let text = text.trim();
    let page = text.get(..1_000.min(text.len())).unwrap_or(text).to_lowercase();
    let is_page = page.starts_with("<!doctype html") || page.starts_with("<html");
    let title = is_page.then(|| title(text)).flatten();
    let shown = match (is_page, title) {
        (true, Some(title)) => format!("a web page, \"{}\"", basics::text::one_line(title)),
        (true, None) => "a web page".to_owned(),
        (false, _) => basics::text::one_line(text).to_string(),
    };
    match shown.is_empty() {
        true => "nothing".to_owned(),
        false => basics::text::prefix(&shown, LONGEST).to_owned(),
    }
}

fn title(page: &str) -> Option<&str> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let end = start + lower[start..].find("</title>")?;
    Some(page[start..end].trim()).filter(|title| !title.is_empty())
}

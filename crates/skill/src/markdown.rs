//! The little of Markdown that matters here: lines, code fences and headings.

/// A line of a document and what it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// Where the next one begins.
    pub(crate) end: usize,
    /// The line without its newline.
    pub(crate) text: &'a str,
    /// Whether it belongs to a fenced code block, its fences included.
    pub(crate) in_code: bool,
}

/// The lines of `text`, with fenced code marked.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let mut start = 0;
    text.split_inclusive('\n').map(move |raw| {
        let (begin, end) = (start, start + raw.len());
        start = end;
        let line = raw.strip_suffix('\n').unwrap_or(raw);
        let in_code = match (fence, fence_mark(line)) {
            (None, Some((mark, length, _))) => {
                fence = Some((mark, length));
                true
            }
            (Some((mark, length)), Some((closing, count, bare)))
                if closing == mark && count >= length && bare =>
            {
                fence = None;
                true
            }
            (open, _) => open.is_some(),
        };
        Line { start: begin, end, text: line, in_code }
    })
}

/// The mark of a fence, its length, and whether nothing follows it.
fn fence_mark(line: &str) -> Option<(char, usize, bool)> {
    let indented = line.trim_start_matches(' ');
    let mark = indented.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = indented.trim_start_matches(mark);
    let length = indented.len() - rest.len();
    // Backticks in the info string mean inline code, not a fence.
    let is_fence =
        length >= 3 && line.len() - indented.len() <= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then(|| (mark, length, rest.trim().is_empty()))
}

/// Level and title of an ATX heading such as `## Steps`.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let indented = line.trim_start_matches(' ');
    if line.len() - indented.len() > 3 {
        return None;
    }
    let rest = indented.trim_start_matches('#');
    let level = indented.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let unclosed = title.trim_end_matches('#');
    // `## Title ##` may be closed; `# C#` is not.
    let closed = unclosed.is_empty() || unclosed.ends_with([' ', '\t']);
    Some((level, if closed { unclosed.trim_end() } else { title }))
}

/// The level of a heading whose title stands above this line: 1 for `===`, 2 for `---`.
pub(crate) fn underline(line: &str) -> Option<usize> {
    let indented = line.trim_start_matches(' ');
    let marks = indented.trim_end();
    let level = match marks.chars().next()? {
        '=' => 1,
        '-' => 2,
        _ => return None,
    };
    let is_line = marks.trim_start_matches(&marks[..1]).is_empty();
    (is_line && line.len() - indented.len() <= 3).then_some(level)
}

/// Whether a line only separates, as `---` and `* * *` do.
pub(crate) fn is_rule(line: &str) -> bool {
    let marks = line.split_whitespace().collect::<String>();
    marks.len() >= 3 && ["-", "*", "_"].iter().any(|m| marks.trim_start_matches(m).is_empty())
}

/// Whether a line can be a title once it is underlined: no code, list, quote, table or HTML.
pub(crate) fn may_be_title(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < text.len() && rest.starts_with(['.', ')']);
    line.len() - text.len() <= 3
        && !text.starts_with(['#', '-', '*', '+', '>', '|', '<', '\t'])
        && !is_numbered
}

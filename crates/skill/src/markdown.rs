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

/// The lines of `text`, with fenced code marked, also within lists.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut fence: Option<Fence> = None;
    let mut items = Vec::new();
    let mut start = 0;
    text.split_inclusive('\n').map(move |raw| {
        let (begin, end) = (start, start + raw.len());
        start = end;
        let line = raw.strip_suffix('\n').unwrap_or(raw);
        let in_code = match &fence {
            Some(open) => {
                if open.is_closed_by(line) {
                    fence = None;
                }
                true
            }
            None => {
                fence = Fence::opened_by(line, &mut items);
                fence.is_some()
            }
        };
        Line { start: begin, end, text: line, in_code }
    })
}

/// Columns that a line may be indented without being code.
pub(crate) const INDENT: usize = 3;

/// A fenced code block that is open.
struct Fence {
    mark: char,
    length: usize,
    /// The column where the text of the list item begins that it stands in.
    margin: usize,
}

impl Fence {
    /// Keeps the columns where the text of open list `items` begins.
    fn opened_by(line: &str, items: &mut Vec<usize>) -> Option<Self> {
        let (mut column, mut rest) = indentation(line.trim_end(), 0);
        if rest.is_empty() {
            return None;
        }
        items.retain(|margin| *margin <= column);
        loop {
            let margin = items.last().copied().unwrap_or(0);
            if column - margin > INDENT {
                return None;
            }
            let Some(marker) = marker(rest) else {
                return fence_mark(rest).map(|(mark, length, _)| Self { mark, length, margin });
            };
            let behind = column + marker;
            (column, rest) = indentation(&rest[marker..], behind);
            // An empty item, or one that begins with code, has its text right behind its marker.
            let is_text = !rest.is_empty() && column - behind <= INDENT + 1;
            items.push(if is_text { column } else { behind + 1 });
            if rest.is_empty() {
                return None;
            }
        }
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let (column, rest) = indentation(line, 0);
        column <= self.margin + INDENT
            && fence_mark(rest).is_some_and(|(mark, length, is_bare)| {
                mark == self.mark && length >= self.length && is_bare
            })
    }
}

/// The column behind the white space that `text` begins with, and what follows; `text` itself begins
/// in column `from`.
pub(crate) fn indentation(text: &str, from: usize) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    let white = text[..text.len() - rest.len()].bytes();
    // A tab leads to the next multiple of four.
    (white.fold(from, |column, b| if b == b'\t' { column / 4 * 4 + 4 } else { column + 1 }), rest)
}

/// The length of the list marker that `text` begins with: `-`, `*`, `+`, `1.` or `1)`.
fn marker(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[char] = if digits == 0 { &['-', '*', '+'] } else { &['.', ')'] };
    let rest = text[digits..].strip_prefix(marks)?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    (ends && digits < 10).then_some(digits + 1)
}

/// The mark of a fence, its length, and whether nothing follows it.
fn fence_mark(text: &str) -> Option<(char, usize, bool)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    // Backticks in the info string mean inline code, not a fence.
    let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then(|| (mark, length, rest.trim().is_empty()))
}

/// Level and title of an ATX heading such as `## Steps`.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let (column, indented) = indentation(line, 0);
    if column > INDENT {
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
    let (column, marks) = indentation(line.trim_end(), 0);
    let level = match marks.chars().next()? {
        '=' => 1,
        '-' => 2,
        _ => return None,
    };
    let is_line = marks.trim_start_matches(&marks[..1]).is_empty();
    (is_line && column <= INDENT).then_some(level)
}

/// Whether a line only separates, as `---` and `* * *` do.
pub(crate) fn is_rule(line: &str) -> bool {
    let marks = line.split_whitespace().collect::<String>();
    marks.len() >= 3 && ["-", "*", "_"].iter().any(|m| marks.trim_start_matches(m).is_empty())
}

/// Whether a line can be a title once it is underlined: no code, list, quote, table or HTML.
pub(crate) fn may_be_title(line: &str) -> bool {
    let (column, text) = indentation(line, 0);
    column <= INDENT && marker(text).is_none() && !text.starts_with(['#', '>', '|', '<'])
}

//! The part of a skill's text that fits a request.

use skill::search::{Document, rank};
use skill::sections::{Heading, headings};

/// A part of a skill's text.
#[derive(Debug, PartialEq)]
pub(super) struct Part {
    /// Its heading; none for the beginning of the text.
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Whether there is more of it.
    pub(super) is_cut: bool,
}

/// Titles of what is to be done, the best first.
const STEPS: [&str; 9] = [
    "steps",
    "instructions",
    "workflow",
    "procedure",
    "process",
    "how to use",
    "usage",
    "quick start",
    "quickstart",
];
/// Titles of what nobody asks to be done.
const BESIDE: [&str; 16] = [
    "next steps",
    "when to use",
    "see also",
    "references",
    "resources",
    "further reading",
    "related skills",
    "license",
    "changelog",
    "overview",
    "scripts",
    "checklist",
    "failure modes",
    "troubleshooting",
    "inputs and outputs",
    "requirements",
];
/// Characters of a part that are shown.
const SHOWN: usize = 4_000;
/// How far ahead of the next a section must be that is not called what the request says.
const AHEAD: f32 = 1.5;

/// The section whose title speaks of the request, the one with the steps, the one whose text fits clearly best, or the
/// beginning.
pub(super) fn part_for(body: &str, request: &str) -> Part {
    let all = headings(body);
    // The title of all of it says no more than the skill's name.
    let whole = all.first().filter(|first| first.level == 1).map(|first| first.title.as_str());
    let sections: Vec<(&Heading, &str)> = all
        .iter()
        .enumerate()
        .filter(|(_, heading)| Some(heading.title.as_str()) != whole)
        .map(|(place, heading)| (heading, text_of(body, &all, place)))
        .filter(|(heading, text)| !text.is_empty() && !BESIDE.contains(&plain(heading).as_str()))
        .collect();
    let chosen = by_title(&sections, whole.unwrap_or_default(), request)
        .or_else(|| steps(&sections))
        .or_else(|| by_text(&sections, request));
    match chosen {
        Some(place) => shortened(Some(sections[place].0.title.clone()), sections[place].1),
        None => shortened(None, beginning(body, &all)),
    }
}

/// Behind a heading, up to the next one of the same or a higher level.
fn text_of<'a>(body: &'a str, all: &[Heading], place: usize) -> &'a str {
    let heading = &all[place];
    let next = all[place + 1..].iter().find(|next| next.level <= heading.level);
    let section = &body[heading.start..next.map_or(body.len(), |next| next.start)];
    let text = section.split_once('\n').map_or("", |(_, text)| text);
    // A title may be underlined.
    let underline = |line: &str| !line.is_empty() && line.trim_matches(['=', '-']).is_empty();
    match text.split_once('\n') {
        Some((first, rest)) if underline(first.trim()) => rest.trim(),
        _ => text.trim(),
    }
}

/// A title without its number and its decoration.
fn plain(heading: &Heading) -> String {
    let title = heading.title.trim_start_matches(|c: char| !c.is_alphabetic());
    title.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The section whose title has most of the words of the request that are not in the title of the whole.
fn by_title(sections: &[(&Heading, &str)], whole: &str, request: &str) -> Option<usize> {
    let titles: Vec<Document<'_>> = sections
        .iter()
        .map(|(heading, _)| Document { name: "", description: &heading.title })
        .chain([Document { name: "", description: whole }])
        .collect();
    // A word of every other title tells nothing either.
    let scores = rank(&titles, request);
    let of_whole =
        scores.iter().find(|(place, _)| *place == sections.len()).map(|(_, score)| *score);
    let mut fitting = scores.iter().filter(|(place, score)| {
        *place < sections.len() && of_whole.is_none_or(|of_whole| *score > of_whole)
    });
    let best = fitting.next()?;
    let is_alone = fitting.next().is_none_or(|next| next.1 < best.1);
    is_alone.then_some(best.0)
}

fn steps(sections: &[(&Heading, &str)]) -> Option<usize> {
    let titled = |wanted: &str| sections.iter().position(|(heading, _)| plain(heading) == wanted);
    STEPS.into_iter().find_map(titled)
}

/// The section whose text fits the request far better than any other that is not a part of it.
fn by_text(sections: &[(&Heading, &str)], request: &str) -> Option<usize> {
    let texts: Vec<Document<'_>> = sections
        .iter()
        .map(|(heading, text)| Document { name: &heading.title, description: text })
        .collect();
    let scores = rank(&texts, request);
    let (best, score) = *scores.first()?;
    let is_ahead = scores.get(1).is_none_or(|(_, next)| score > next * AHEAD);
    is_ahead.then_some(best)
}

/// All of it, behind the title.
fn beginning<'a>(body: &'a str, all: &[Heading]) -> &'a str {
    match all.first() {
        Some(first) if first.level == 1 && body[..first.start].trim().is_empty() => {
            body[first.start..].split_once('\n').map_or("", |(_, text)| text).trim()
        }
        _ => body.trim(),
    }
}

/// As much of a text as is shown, up to the end of a paragraph or a line, and not one that announces what follows it.
fn shortened(title: Option<String>, text: &str) -> Part {
    let start = basics::text::prefix(text, SHOWN);
    if start.len() == text.len() {
        return Part { title, text: text.to_owned(), is_cut: false };
    }
    // A list may be one long paragraph.
    let paragraph = start.rfind("\n\n").filter(|end| *end > start.len() / 2);
    let mut kept = paragraph.or(start.rfind('\n')).map_or(start, |end| &start[..end]);
    while let Some((before, last)) = kept.trim_end().rsplit_once('\n')
        && (last.trim_end().ends_with(':') || last.starts_with('#'))
    {
        kept = before;
    }
    let mut text = kept.trim_end().to_owned();
    // Code that is cut in the middle must not swallow what follows it.
    let is_open = text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1;
    if is_open {
        text.push_str("\n```");
    }
    Part { title, text, is_cut: true }
}

//! What a skill's text says about how to do its job: its steps and its scripts.

use skill::sections;

use super::file_names::file_names;
use super::usage::{ScriptRun, Usage, usages};

/// A skill's instructions.
pub(super) struct Manual {
    pub(super) steps: String,
    pub(super) scripts: Vec<Usage>,
}

/// Headings of what is to be done, the best first.
const STEPS: [&str; 6] = ["Steps", "Instructions", "Workflow", "Procedure", "How to use", "Usage"];
/// Characters of the steps that are shown.
const STEPS_SHOWN: usize = 4_000;

impl Manual {
    pub(super) fn read(text: &str) -> Self {
        let body = text.split("\n[Files of this skill]\n").next().unwrap_or_default();
        let is_label = |line: &&str| line.starts_with("[Skill") || line.starts_with("[Load Report");
        let body: Vec<&str> = body.lines().skip_while(is_label).collect();
        let body = body.join("\n");
        let section = sections::find(&body, "Scripts").map_or("", |range| &body[range]);
        let documented = usages(section);
        let scripts = if documented.is_empty() { usages(&body) } else { documented };
        Self { steps: steps(&body), scripts }
    }

    /// The scripts to run for a request: of the one script that takes the files it names.
    pub(super) fn runs(&self, request: &str) -> Vec<ScriptRun> {
        let names = file_names(request);
        let mut fitting: Vec<(usize, Vec<ScriptRun>)> = Vec::new();
        for usage in &self.scripts {
            let runs = usage.runs(&names);
            if !runs.is_empty() {
                fitting.push((usage.likeness(request), runs));
            }
        }
        fitting.sort_by_key(|(likeness, _)| std::cmp::Reverse(*likeness));
        // Two that fit alike: to guess could do something that nobody asked for.
        let is_tie = matches!(fitting.as_slice(), [(a, _), (b, _), ..] if a == b);
        if is_tie {
            Vec::new()
        } else {
            fitting.into_iter().next().map_or(Vec::new(), |(_, runs)| runs)
        }
    }
}

/// The numbered steps, or all of the section about them, or the beginning.
fn steps(body: &str) -> String {
    let range = STEPS.iter().find_map(|title| sections::find(body, title));
    let section = range.map_or(body, |range| &body[range]);
    let lines: Vec<&str> = section.lines().skip(1).collect();
    let is_step = |line: &&str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
    };
    let is_part = |line: &&str| is_step(line) || line.is_empty() || line.starts_with([' ', '\t']);
    let numbered: Vec<&str> =
        lines.iter().copied().skip_while(|line| !is_step(line)).take_while(is_part).collect();
    let chosen = if numbered.is_empty() { section.to_owned() } else { numbered.join("\n") };
    shortened(chosen.trim()).to_owned()
}

/// The beginning of a text up to the end of a line.
fn shortened(text: &str) -> &str {
    let start = basics::text::prefix(text, STEPS_SHOWN);
    if start.len() == text.len() {
        return text;
    }
    start.rfind('\n').map_or(start, |end| &start[..end])
}

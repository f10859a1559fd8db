//! What a skill's text says about how to do its job: its scripts, and the part that fits a request.

use skill::sections;

use super::piped::Kind;
use super::section::{self, Part};
use super::usage::{ScriptRun, Usage, usages};

/// A skill's instructions.
pub(super) struct Manual {
    pub(super) scripts: Vec<Usage>,
    body: String,
    /// Whether scripts read standard input where their file is called `-`.
    takes_input: bool,
}

impl Manual {
    pub(super) fn read(text: &str) -> Self {
        let body = text.split("\n[Files of this skill]\n").next().unwrap_or_default();
        let is_label = |line: &&str| line.starts_with("[Skill") || line.starts_with("[Load Report");
        let body: Vec<&str> = body.lines().skip_while(is_label).collect();
        let body = body.join("\n");
        let section = sections::find(&body, "Scripts").map_or("", |range| &body[range]);
        let documented = usages(section);
        let (scripts, about) = match documented.is_empty() {
            true => (usages(&body), body.as_str()),
            false => (documented, section),
        };
        let takes_input = about.lines().any(|line| {
            line.contains("`-`") && (line.contains("standard input") || line.contains("stdin"))
        });
        Self { scripts, takes_input, body }
    }

    /// The scripts to run for a request: of the one script that takes these files.
    pub(super) fn runs(&self, names: &[&str], request: &str) -> Vec<ScriptRun> {
        let fitting = self.scripts.iter().map(|usage| (usage, usage.runs(names)));
        let fitting: Vec<_> = fitting.filter(|(_, runs)| !runs.is_empty()).collect();
        best(fitting, request).unwrap_or_default()
    }

    /// The script to run on a text that was piped in.
    pub(super) fn piped_run(&self, text: &str, request: &str) -> Option<ScriptRun> {
        let kind = Kind::of(text).extension().to_owned();
        let takes = |usage: &&Usage| {
            self.takes_input && usage.takes_one_known_file() && usage.extensions.contains(&kind)
        };
        let fitting = self.scripts.iter().filter(takes).map(|usage| (usage, usage.reading(text)));
        best(fitting.collect(), request)
    }

    /// Whether a file could be found that the request does not name.
    pub(super) fn takes_known_files(&self) -> bool {
        self.scripts.iter().any(Usage::takes_one_known_file)
    }

    /// Whether a file is what a script takes; of several kinds, the one that the request speaks of.
    pub(super) fn fits(&self, file: &str, request: &str) -> bool {
        let request = request.to_lowercase();
        let words: Vec<&str> = request.split(|c: char| !c.is_alphanumeric()).collect();
        self.scripts.iter().filter(|usage| usage.takes_one_known_file()).any(|usage| {
            let mut spoken_of =
                usage.extensions.iter().filter(|kind| words.contains(&kind.as_str())).peekable();
            let is_meant = spoken_of.peek().is_none()
                || spoken_of.any(|kind| file.to_lowercase().ends_with(&format!(".{kind}")));
            usage.takes(file) && is_meant
        })
    }

    /// The part that fits a request.
    pub(super) fn part_for(&self, request: &str) -> Part {
        section::part_for(&self.body, request)
    }
}

/// What belongs to the script that is most like the request. Of two that fit alike none: to guess could do something that
/// nobody asked for.
fn best<T>(fitting: Vec<(&Usage, T)>, request: &str) -> Option<T> {
    let mut fitting: Vec<(usize, T)> =
        fitting.into_iter().map(|(usage, run)| (usage.likeness(request), run)).collect();
    fitting.sort_by_key(|(likeness, _)| std::cmp::Reverse(*likeness));
    let is_tie = matches!(fitting.as_slice(), [(a, _), (b, _), ..] if a == b);
    fitting.into_iter().next().filter(|_| !is_tie).map(|(_, run)| run)
}

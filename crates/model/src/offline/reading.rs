//! Reading what a skill documents, as far as that goes without understanding it.

/// What an observation is about.
pub(super) struct Label<'a> {
    pub(super) kind: &'a str,
    pub(super) target: &'a str,
    pub(super) ok: bool,
}

/// `=== Observation 2 | run_script csv-report/scripts/report.sh a.csv | ok [mark] ===`
pub(super) fn label(observation: &str) -> Option<Label<'_>> {
    let line = observation.lines().next()?;
    let mut parts = line.split(" | ").skip(1);
    let (what, state) = (parts.next()?, parts.next()?);
    let (kind, target) = what.split_once(' ').unwrap_or((what, ""));
    Some(Label { kind, target, ok: state.starts_with("ok ") })
}

/// What stands between the marks of an observation.
pub(super) fn block(observation: &str) -> &str {
    let start = observation.find('\n').map_or(0, |end| end + 1);
    let end = observation.rfind("\n=== end [").unwrap_or(observation.len());
    observation.get(start..end).unwrap_or_default()
}

/// The standard output in a script's observation.
pub(super) fn stdout(text: &str) -> &str {
    let start = text.find("[stdout]\n").map_or(0, |at| at + "[stdout]\n".len());
    let rest = &text[start..];
    rest.find("\n[stderr]\n").map_or(rest, |end| &rest[..end])
}

/// A script that a skill documents: ``- `scripts/report.sh FILE` — prints a summary of a CSV file (.csv)``.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Script<'a> {
    pub(super) path: &'a str,
    parameters: Vec<&'a str>,
    description: &'a str,
}

/// The scripts of a skill, in the order of its text.
pub(super) fn scripts(text: &str) -> Vec<Script<'_>> {
    text.lines().filter_map(script).collect()
}

fn script(line: &str) -> Option<Script<'_>> {
    let item = line.trim_start().strip_prefix(['-', '*'])?.trim_start().strip_prefix('`')?;
    let (usage, description) = item.split_once('`')?;
    let mut words = usage.split_whitespace();
    let path = words.next().filter(|path| path.starts_with("scripts/"))?;
    // What is in brackets may be left out.
    let parameters =
        words.filter(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_')).collect();
    Some(Script { path, parameters, description })
}

impl Script<'_> {
    /// The arguments, if the request names what the script needs.
    pub(super) fn arguments(&self, files: &[&str]) -> Option<Vec<String>> {
        let needed = self.parameters.len();
        if needed == 0 || files.len() < needed {
            return None;
        }
        let mentioned = |file: &&str| {
            let extension = file.rsplit('.').next().unwrap_or_default().to_lowercase();
            self.description.to_lowercase().contains(&format!(".{extension}"))
        };
        // A description that names no extension takes any file.
        let particular = self.description.contains("(.") || self.description.contains(" .");
        let chosen: Vec<String> = files
            .iter()
            .filter(|file| !particular || mentioned(file))
            .take(needed)
            .map(|file| (*file).to_owned())
            .collect();
        (chosen.len() == needed).then_some(chosen)
    }
}

/// A word without the quotes and the punctuation around it.
pub(super) fn unquoted(word: &str) -> &str {
    word.trim_matches(|c: char| {
        matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '?' | '!' | '(' | ')')
    })
    .trim_end_matches('.')
}

/// Whether a word looks like the name of a file.
pub(super) fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// The numbered list under a heading that speaks of steps.
pub(super) fn steps(text: &str) -> String {
    let is_heading = |line: &&str| line.starts_with('#');
    let wanted = |line: &&str| {
        let title = line.to_lowercase();
        is_heading(line)
            && ["step", "workflow", "procedure", "步骤", "流程"]
                .iter()
                .any(|word| title.contains(word))
    };
    let section =
        text.lines().skip_while(|line| !wanted(line)).skip(1).take_while(|line| !is_heading(line));
    section.collect::<Vec<_>>().join("\n").trim().to_owned()
}

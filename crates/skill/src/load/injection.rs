//! The block in which a skill's text enters a model's context.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use basics::skill::LoadReport;
use basics::text;

use super::SkillFile;
use crate::entry::Entry;

/// Names that are listed.
const LISTED: usize = 50;

/// The files a model may ask for, by name.
#[derive(Debug, Clone, Copy)]
pub struct FileList<'a>(pub &'a [SkillFile]);

/// `text` with the label that says where it comes from, and what the model must know about it: the files of the skill,
/// and the tools that it may use, where it says so.
pub fn injection(
    entry: &Entry,
    report: &LoadReport,
    content: &str,
    files: FileList<'_>,
    tools: Option<&[String]>,
) -> String {
    format!(
        "[Skill: {} | source={}]\n[Skill Path: {}]\n[Load Report: sha256={} truncated={} bytes_read={}]\n{}\n{}{}{}",
        text::one_line(&entry.name),
        entry.source,
        text::one_line(&entry.path.to_string_lossy()),
        report.file_sha256,
        report.truncated,
        report.bytes_read,
        escape_labels(content.trim_end()),
        notes(report),
        tools.map(list_tools).unwrap_or_default(),
        files.render(),
    )
}

/// What begins the lines above a skill's text: in the text itself it would look like the beginning of another skill.
const LABELS: [&str; 3] = ["[Skill: ", "[Skill Path: ", "[Load Report: "];

fn escape_labels(content: &str) -> Cow<'_, str> {
    let is_label = |line: &str| LABELS.iter().any(|label| line.trim_start().starts_with(label));
    if !content.lines().any(is_label) {
        return Cow::Borrowed(content);
    }
    let escape = |line| if is_label(line) { format!("\\{line}") } else { line.to_owned() };
    Cow::Owned(content.lines().map(escape).collect::<Vec<_>>().join("\n"))
}

/// The tools that this skill may use: the model should know before it is refused one.
fn list_tools(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| text::one_line(name)).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("[Tools of this skill: {names}]\n")
}

fn notes(report: &LoadReport) -> String {
    let diagnostics = report.diagnostics.iter().map(|diagnostic| {
        format!("[Note: {}: {}]\n", diagnostic.code, text::one_line(&diagnostic.message))
    });
    let whole = report.storage_ref.iter().map(|place| format!("[The whole is in {place}]\n"));
    diagnostics.chain(whole).collect()
}

impl FileList<'_> {
    fn render(self) -> String {
        let others: Vec<&SkillFile> =
            self.0.iter().filter(|file| file.path != "SKILL.md").collect();
        if others.is_empty() {
            return String::new();
        }
        let mut list = "\n[Files of this skill]\n".to_owned();
        for file in others.iter().take(LISTED) {
            list.push_str(&format!("- {}\n", text::one_line(&file.path)));
        }
        if others.len() > LISTED {
            list.push_str(&format!("- and {} more\n", others.len() - LISTED));
        }
        list
    }
}

//! What could be typed next: commands and skills after a `/`, files of the workspace after an `@`.

use std::path::{Path, PathBuf};

use skill::index::Index;

use super::command::{COMMANDS, Command};
use crate::terminal::editor::{Candidate, Completer, Completion};

/// More files of one folder are not looked at.
const MOST: usize = 200;

/// Completes for this index and this workspace.
pub(super) fn completer(index: &Index, workspace: &Path) -> Completer {
    let commands = COMMANDS.iter().map(|(_, name, words, does)| Candidate {
        text: format!("/{name}"),
        hint: if words.is_empty() { (*does).to_owned() } else { format!("{words}  {does}") },
    });
    let skills = index.skills.iter().filter(|skill| {
        skill.controls.user_invocable && skill.trusted && Command::named(&skill.name).is_none()
    });
    let skills = skills.map(|skill| Candidate {
        text: format!("/{}", skill.name),
        hint: skill.description.clone(),
    });
    let words: Vec<Candidate> = commands.chain(skills).collect();
    let workspace = workspace.to_owned();
    Box::new(move |before| complete(before, &words, &workspace))
}

fn complete(before: &str, words: &[Candidate], workspace: &Path) -> Completion {
    let from = before
        .rfind(char::is_whitespace)
        .map_or(0, |place| place + before[place..].chars().next().map_or(1, char::len_utf8));
    let word = &before[from..];
    if from == 0 && word.starts_with('/') {
        let fitting = words.iter().filter(|candidate| candidate.text.starts_with(word));
        return Completion { from, candidates: fitting.cloned().collect() };
    }
    match word.strip_prefix('@') {
        Some(typed) => Completion { from, candidates: files(typed, workspace) },
        None => Completion::default(),
    }
}

/// Files and folders of the workspace whose path begins like this, links left out.
fn files(typed: &str, workspace: &Path) -> Vec<Candidate> {
    let (folder, name) =
        typed.rsplit_once('/').map_or(("", typed), |(folder, name)| (folder, name));
    if Path::new(folder).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return Vec::new();
    }
    let place: PathBuf = workspace.join(folder);
    let Ok(listed) = std::fs::read_dir(&place) else { return Vec::new() };
    let mut found: Vec<Candidate> = listed
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let own = entry.file_name().into_string().ok()?;
            let kind = entry.file_type().ok()?;
            let is_hidden = own.starts_with('.') && !name.starts_with('.');
            let is_wanted = own.starts_with(name) && !is_hidden && own != ".git";
            if !is_wanted || !(kind.is_file() || kind.is_dir()) || own.contains(char::is_whitespace)
            {
                return None;
            }
            let slash = if folder.is_empty() { "" } else { "/" };
            let end = if kind.is_dir() { "/" } else { "" };
            Some(Candidate { text: format!("@{folder}{slash}{own}{end}"), hint: String::new() })
        })
        .take(MOST)
        .collect();
    found.sort_by(|one, other| one.text.cmp(&other.text));
    found
}

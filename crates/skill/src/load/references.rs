//! Which files of a skill a text names.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use super::SkillFile;

/// The files that `text` names, in the order of `files`. `path` is where the text stands: a name may also be
/// relative to its folder.
pub(super) fn referenced(text: &str, path: &str, files: &[SkillFile]) -> Vec<String> {
    let named: HashSet<&str> = text.split(is_between).map(bare).collect();
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let beside = |file: &str| -> Option<String> {
        file.strip_prefix(folder?)?.strip_prefix('/').map(str::to_owned)
    };
    let is_named = |file: &str| {
        named.contains(file) || beside(file).is_some_and(|name| named.contains(name.as_str()))
    };
    let others = files.iter().map(|file| file.path.as_str()).filter(|file| *file != path);
    others.filter(|file| is_named(file)).map(str::to_owned).collect()
}

/// What stands around a path in Markdown, code and prose.
fn is_between(c: char) -> bool {
    c.is_whitespace() || "()[]{}<>\"'`,;:|*#=，。；：、（）「」".contains(c)
}

/// A path without what a sentence or a shell puts around it.
fn bare(word: &str) -> &str {
    word.trim_start_matches("./").trim_end_matches(['.', '!', '?'])
}

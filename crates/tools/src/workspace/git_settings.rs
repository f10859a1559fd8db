//! What a Git repository has outside of its own folder and yet lets Git run something: settings that it includes, and
//! hooks that it keeps elsewhere.
//!
//! Invariant: whatever the settings hold, reading them ends, and what cannot be read names nothing.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::closed::repositories;

/// How large a file of settings may be, how many are read, and how deep they include each other.
const LARGEST: u64 = 1 << 20;
const MOST: usize = 200;
const DEEPEST: usize = 5;
/// How many folders are searched for repositories of submodules.
const FOLDERS: usize = 2_000;

/// The files that the settings of a repository include, and the folders in which it has its hooks. `git` is a `.git`.
pub(crate) fn git_settings(git: &Path) -> Vec<PathBuf> {
    let own: Vec<PathBuf> = match git.is_dir() {
        true => vec![git.to_owned()],
        false => repositories(git),
    };
    let mut reading = Reading { found: Vec::new(), left: MOST };
    for repository in own {
        let mut trees: Vec<PathBuf> = git.parent().map(Path::to_owned).into_iter().collect();
        let others: Vec<PathBuf> = folders(&repository.join("worktrees")).collect();
        trees.extend(others.iter().filter_map(|other| worktree(other)));
        let settings = ["config", "config.worktree"].map(|name| repository.join(name));
        let others = others.iter().map(|other| other.join("config.worktree"));
        for file in settings.into_iter().chain(others) {
            reading.file(&file, (&repository, &trees), DEEPEST);
        }
        for module in modules(&repository) {
            reading.file(&module.join("config"), (&module, &[]), DEEPEST);
        }
    }
    reading.found
}

/// The value that the last of these files gives a setting.
pub(crate) fn git_setting(files: &[PathBuf], section: &str, key: &str) -> Option<String> {
    let texts = files.iter().rev().filter_map(|file| read(file));
    let mut found = texts.flat_map(|text| settings(&text).into_iter().rev());
    let is_given = |one: &Setting| one.is(section, key) && !one.value.is_empty();
    found.find(is_given).map(|one| one.value)
}

struct Reading {
    found: Vec<PathBuf>,
    left: usize,
}

impl Reading {
    fn file(&mut self, file: &Path, (repository, trees): (&Path, &[PathBuf]), depth: usize) {
        let Some(above) = file.parent() else { return };
        if depth == 0 || self.left == 0 {
            return;
        }
        self.left -= 1;
        let settings = read(file).map(|text| settings(&text)).unwrap_or_default();
        let own = settings.iter().filter(|setting| setting.is("core", "worktree"));
        let own: Vec<PathBuf> = own.map(|setting| repository.join(&setting.value)).collect();
        for setting in &settings {
            let includes = matches!(&*setting.section, "include" | "includeif");
            if includes && setting.key == "path" {
                let included = above.join(&setting.value);
                self.file(&included, (repository, trees), depth - 1);
                self.found.push(included);
            }
            if setting.is("core", "hookspath") {
                let trees = trees.iter().chain(&own);
                self.found.extend(trees.map(|tree| tree.join(&setting.value)));
            }
        }
    }
}

/// The folder of files that belongs to an entry of `worktrees`.
fn worktree(entry: &Path) -> Option<PathBuf> {
    let git = read(&entry.join("gitdir"))?;
    Some(entry.join(git.trim()).parent()?.to_owned())
}

/// The repositories of submodules, also of those within others.
fn modules(repository: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![repository.join("modules")]);
    let mut left = FOLDERS;
    while let Some(folder) = waiting.pop()
        && left > 0
    {
        left -= 1;
        match folder.join("HEAD").exists() {
            true => {
                waiting.push(folder.join("modules"));
                found.push(folder);
            }
            false => waiting.extend(folders(&folder)),
        }
    }
    found
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
}

/// A small regular file, as text.
fn read(file: &Path) -> Option<String> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(file).ok()?;
    let mut content = Vec::new();
    file.metadata().ok()?.is_file().then_some(())?;
    file.take(LARGEST).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// One setting; section and key in small letters.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    section: String,
    key: String,
    value: String,
}

impl Setting {
    fn is(&self, section: &str, key: &str) -> bool {
        self.section == section && self.key == key
    }
}

/// The settings in a file. What is no setting is passed over.
fn settings(text: &str) -> Vec<Setting> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace("\\\n", "");
    let (mut found, mut section) = (Vec::new(), String::new());
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some(header) = rest.strip_prefix('[') {
            let end = end_of_header(header);
            let name = header[..end].split(['.', ' ', '\t', '"']).next().unwrap_or_default();
            section = name.to_lowercase();
            rest = header[end..].trim_start_matches(']').trim_start();
        }
        if let Some((key, value)) = rest.split_once('=') {
            let (key, value) = (key.trim().to_lowercase(), plain(value.trim_start()));
            found.push(Setting { section: section.clone(), key, value });
        }
    }
    found
}

/// Where a header ends: a `]` in quotes does not count.
fn end_of_header(header: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = header.char_indices().find(|(_, letter)| {
        let was_escaped = std::mem::replace(&mut is_escaped, false);
        match letter {
            '"' if !was_escaped => is_quoted = !is_quoted,
            '\\' if !was_escaped => is_escaped = true,
            ']' => return !is_quoted,
            _ => {}
        }
        false
    });
    end.map_or(header.len(), |(end, _)| end)
}

/// A value without quotes and without the comment after it.
fn plain(value: &str) -> String {
    let (mut found, mut is_quoted, mut kept) = (String::new(), false, 0);
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => found.extend(letters.next().map(|letter| match letter {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            other => found.push(other),
        }
        if is_quoted || !letter.is_whitespace() {
            kept = found.len();
        }
    }
    found.truncate(kept);
    found
}

#[cfg(test)]
mod tests;

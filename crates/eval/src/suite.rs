//! Finding the files that hold cases.
//!
//! Invariant: whatever is found below a folder lies in it; a link that leads out is told and not followed.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::case::{CaseError, Located, read_file};

/// Folders that hold what cases need, not cases.
const NO_CASES: [&str; 4] = ["inputs", "expected", "files", "node_modules"];
/// How deep suites may nest.
const DEPTH: usize = 6;
/// Files and folders that are looked at.
const LIMIT: usize = 20_000;

/// All cases of the given files and folders, and what is wrong with the others.
pub fn find(paths: &[PathBuf]) -> (Vec<Located>, Vec<CaseError>) {
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for path in paths {
        let (files, unfit) = files(path);
        problems.extend(unfit);
        for file in files {
            match read_file(&file) {
                Ok(read) => {
                    for located in read {
                        if seen.insert(located.name()) {
                            cases.push(located);
                        } else {
                            problems.push(CaseError::SameName {
                                path: located.file,
                                id: located.case.id,
                            });
                        }
                    }
                }
                Err(problem) => problems.push(problem),
            }
        }
    }
    (cases, problems)
}

/// The files that may hold cases, in a fixed order; a path that is no folder is taken at its word.
fn files(path: &Path) -> (Vec<PathBuf>, Vec<CaseError>) {
    if !path.is_dir() {
        return (vec![path.to_owned()], Vec::new());
    }
    // In a skill, only its evals are cases.
    let evals = path.join("evals");
    let start =
        if path.join("SKILL.md").is_file() && evals.is_dir() { evals } else { path.to_owned() };
    let mut walk = Walk {
        top: path,
        real: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        left: LIMIT,
        found: Vec::new(),
        problems: Vec::new(),
    };
    walk.folder(&start, DEPTH);
    (walk.found, walk.problems)
}

struct Walk<'a> {
    top: &'a Path,
    /// The same without links.
    real: PathBuf,
    left: usize,
    found: Vec<PathBuf>,
    problems: Vec<CaseError>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, levels: usize) {
        if folder != self.top && !self.stays_inside(folder) {
            return;
        }
        let own_case = ["case.json", "case.yaml", "case.yml"].map(|name| folder.join(name));
        let is_there = |case: &PathBuf| fs::symlink_metadata(case).is_ok() && !case.is_dir();
        if let Some(case) = own_case.into_iter().find(is_there) {
            self.file(case);
            return;
        }
        for path in self.entries(folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') || NO_CASES.contains(&name.as_str()) {
                continue;
            }
            let end = path.extension();
            if path.is_dir() {
                if levels > 0 {
                    let is_skill = path.join("SKILL.md").is_file();
                    let inner = if is_skill { path.join("evals") } else { path };
                    self.folder(&inner, levels - 1);
                }
            } else if end.is_some_and(|end| ["json", "yaml", "yml"].iter().any(|e| end == *e)) {
                self.file(path);
            }
        }
    }

    fn file(&mut self, path: PathBuf) {
        if self.stays_inside(&path) {
            self.found.push(path);
        }
    }

    /// What is in a folder, in order, as far as it is looked at.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.path()).take(self.left.saturating_add(1)).collect();
        if paths.len() > self.left && self.left > 0 {
            let path = self.top.to_owned();
            self.problems.push(CaseError::TooMany { path, limit: LIMIT });
        }
        paths.sort();
        paths.truncate(self.left);
        self.left -= paths.len();
        paths
    }

    fn stays_inside(&mut self, path: &Path) -> bool {
        // What leads nowhere is told when it is read.
        let stays = path.canonicalize().map_or(true, |real| real.starts_with(&self.real));
        if !stays {
            let (path, folder) = (path.to_owned(), self.top.to_owned());
            self.problems.push(CaseError::LeadsOut { path, folder });
        }
        stays
    }
}

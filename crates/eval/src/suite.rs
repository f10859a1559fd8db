//! Finding the files that hold cases.

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

/// All cases of the given files and folders, and what is wrong with the others.
pub fn find(paths: &[PathBuf]) -> (Vec<Located>, Vec<CaseError>) {
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for file in paths.iter().flat_map(|path| files(path)) {
        match read_file(&file) {
            Ok(read) => {
                for located in read {
                    if seen.insert(located.name()) {
                        cases.push(located);
                    } else {
                        problems
                            .push(CaseError::SameName { path: located.file, id: located.case.id });
                    }
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    (cases, problems)
}

/// The files that may hold cases, in a fixed order; a path that is no folder is taken at its word.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    // In a skill, only its evals are cases.
    let evals = path.join("evals");
    let start =
        if path.join("SKILL.md").is_file() && evals.is_dir() { evals } else { path.to_owned() };
    let mut found = Vec::new();
    walk(&start, DEPTH, &mut found);
    found
}

fn walk(folder: &Path, levels: usize, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let own_case = ["case.json", "case.yaml", "case.yml"].map(|name| folder.join(name));
    if let Some(case) = own_case.into_iter().find(|case| case.is_file()) {
        found.push(case);
        return;
    }
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || NO_CASES.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            if levels > 0 {
                let is_skill = path.join("SKILL.md").is_file();
                walk(&if is_skill { path.join("evals") } else { path }, levels - 1, found);
            }
        } else if path
            .extension()
            .is_some_and(|end| ["json", "yaml", "yml"].iter().any(|e| end == *e))
        {
            found.push(path);
        }
    }
}

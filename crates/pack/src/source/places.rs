//! Where the skills are among the paths of a repository or an archive.

use std::collections::BTreeSet;

/// Folders between the source and a skill, as in a root.
const DEEPEST_SKILL: usize = 6;

/// Folders with a `SKILL.md`; below a skill nothing is searched.
pub(super) fn places<'a>(paths: impl Iterator<Item = &'a [u8]>) -> BTreeSet<Vec<u8>> {
    let holding = paths.filter_map(|path| match path.strip_suffix(b"SKILL.md")? {
        b"" => Some(Vec::new()),
        folder => Some(folder.strip_suffix(b"/")?.to_vec()),
    });
    let searched = |folder: &Vec<u8>| {
        folder.is_empty() || {
            let segments: Vec<&[u8]> = folder.split(|byte| *byte == b'/').collect();
            segments.len() <= DEEPEST_SKILL
                && segments.iter().all(|name| !name.starts_with(b".") && *name != b"node_modules")
        }
    };
    let all: BTreeSet<Vec<u8>> = holding.filter(searched).collect();
    let outermost = |folder: &&Vec<u8>| !parents(folder).any(|above| all.contains(above));
    all.iter().filter(outermost).cloned().collect()
}

/// The folders above a path, the innermost first.
fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = (0..path.len()).rev().filter(|at| path[*at] == b'/');
    let top = (!path.is_empty()).then_some(&path[..0]);
    ends.map(|end| &path[..end]).chain(top)
}

/// The skill's folder that a path lies in.
pub(super) fn place_of<'a>(path: &'a [u8], places: &BTreeSet<Vec<u8>>) -> Option<&'a [u8]> {
    parents(path).find(|folder| places.contains(*folder))
}

//! Archives that other programs made, brought into the shape of a pack: skills at the top, nothing else.
//!
//! Invariant: an archive with a `manifest.json` at its top is taken as it is, since the manifest says what
//! belongs to it. Whatever is left out is listed, and nothing that is left out is installed.

use std::collections::{BTreeMap, BTreeSet};

use super::places::{place_of, places};
use crate::manifest::{MANIFEST, SIGNATURE};
use crate::material::{Entry, Material};
use crate::name::PackPath;
use crate::refusal::{Flaw, Refusal};

/// Brings an archive into the shape of a pack.
pub(super) fn shape(mut material: Material) -> Result<Material, Refusal> {
    if has_manifest(&material.entries) {
        return Ok(material);
    }
    let entries = std::mem::take(&mut material.entries);
    let (kept, left_out) = match wrapper(&entries) {
        None => split(entries, is_content),
        Some(wrapper) => unwrapped(entries, &wrapper)?,
    };
    material.entries = kept;
    material.entries.sort_by(|a, b| a.path.cmp(&b.path));
    material.left_out = left_out;
    material.left_out.sort();
    Ok(material)
}

fn has_manifest(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| matches!(entry.path.as_str(), MANIFEST | SIGNATURE))
}

/// The entries to keep, and the paths of the others.
fn split(entries: Vec<Entry>, keeps: impl Fn(&str) -> bool) -> (Vec<Entry>, Vec<String>) {
    let keeps = |entry: &Entry| keeps(entry.path.as_str());
    let (kept, others): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(keeps);
    (kept, others.into_iter().map(|entry| entry.path.as_str().to_owned()).collect())
}

fn is_content(path: &str) -> bool {
    !is_junk(path) && !is_document(path)
}

/// What macOS adds to an archive for itself.
fn is_junk(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("__MACOSX/") || name == ".DS_Store" || name.starts_with("._")
}

/// A readme or a licence at the top.
fn is_document(path: &str) -> bool {
    const STEMS: [&str; 5] = ["readme", "license", "licence", "copying", "unlicense"];
    let name = path.to_ascii_lowercase();
    let stem = name.split(['.', '-', '_']).next().unwrap_or_default();
    !path.contains('/') && STEMS.contains(&stem)
}

/// The one folder that all content is in, where it is no skill itself, but holds some.
fn wrapper(entries: &[Entry]) -> Option<String> {
    let content = entries.iter().map(|entry| &entry.path).filter(|path| is_content(path.as_str()));
    let tops: BTreeSet<&str> = content.clone().map(|path| path.top().0).collect();
    let [top] = Vec::from_iter(tops)[..] else { return None };
    let inner: Vec<&str> = content.map(|path| path.top().1).collect::<Option<_>>()?;
    let holds_skills = inner.iter().any(|path| path.ends_with("/SKILL.md"));
    (holds_skills && !inner.contains(&"SKILL.md")).then(|| top.to_owned())
}

/// What is in the wrapper, and the paths of everything else.
fn unwrapped(entries: Vec<Entry>, wrapper: &str) -> Result<(Vec<Entry>, Vec<String>), Refusal> {
    let prefix = format!("{wrapper}/");
    let (inner, mut left_out) = split(entries, |path| path.starts_with(&prefix));
    let strip = |entry: Entry| {
        let path = PackPath::new(&entry.path.as_str().as_bytes()[prefix.len()..])?;
        Ok(Entry { path, ..entry })
    };
    let inner: Vec<Entry> = inner.into_iter().map(strip).collect::<Result<_, Refusal>>()?;
    if has_manifest(&inner) {
        return Ok((inner, left_out));
    }
    let (skills, rest) = take_skills(inner)?;
    left_out.extend(rest.into_iter().map(|path| prefix.clone() + &path));
    Ok((skills, left_out))
}

/// The skills, each in a folder at the top, and the paths of what is in none, as for a repository.
fn take_skills(entries: Vec<Entry>) -> Result<(Vec<Entry>, Vec<String>), Refusal> {
    let places = places(entries.iter().map(|entry| entry.path.as_str().as_bytes()));
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    let (mut skills, mut rest) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry.path.as_str();
        let place = place_of(path.as_bytes(), &places).filter(|_| !is_junk(path));
        let Some(place) = place.map(<[u8]>::len) else {
            rest.push(path.to_owned());
            continue;
        };
        let place = &path[..place];
        let folder = place.rsplit('/').next().unwrap_or(place);
        let known = folders.entry(folder.to_lowercase()).or_insert_with(|| place.to_owned());
        if known != place {
            let both = format!("`{known}` and `{place}`");
            return Err(Refusal::of(Flaw::DuplicateSkill, folder).because(both));
        }
        let own = format!("{folder}{}", &path[place.len()..]);
        skills.push(Entry { path: PackPath::new(own.as_bytes())?, ..entry });
    }
    Ok((skills, rest))
}

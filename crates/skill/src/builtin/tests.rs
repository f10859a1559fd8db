use std::collections::BTreeMap;
use std::path::Path;

use super::*;

/// Every file below `folder`, by its path relative to it.
fn files_below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_table_holds_every_file_of_the_skills_folder() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../skills"));
    let mut on_disk = files_below(folder);
    on_disk.remove("README.md").expect("the skills are presented");
    let built_in: BTreeMap<String, Vec<u8>> = SKILLS
        .iter()
        .flat_map(|(name, files)| {
            files.iter().map(move |file| (format!("{name}/{}", file.path), file.bytes.to_vec()))
        })
        .collect();
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&built_in), names(&on_disk));
    assert!(built_in == on_disk, "the bytes differ");
}

#[test]
fn every_builtin_skill_is_valid() {
    let scan = scan();
    assert_eq!(scan.found.len(), SKILLS.len());
    for (found, (name, files)) in scan.found.iter().zip(SKILLS) {
        assert_eq!(files[0].path, "SKILL.md");
        assert_eq!(found.metadata.name, *name);
        assert_eq!(found.metadata.diagnostics, [], "{name}");
        let verdict = crate::standard::check(files[0].bytes, name);
        let unexpected: Vec<_> =
            verdict.errors.iter().filter(|error| !error.starts_with("unexpected fields")).collect();
        assert!(unexpected.is_empty(), "{name}: {unexpected:?}");
    }
}

#[test]
fn files_are_found_by_the_name_of_their_skill() {
    for (name, files) in SKILLS {
        assert_eq!(super::files(name).map(<[_]>::len), Some(files.len()));
    }
    assert!(files("no such skill").is_none());
}

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
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/skills"));
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
    let discovery = discover();
    assert_eq!(discovery.found.len(), SKILLS.len());
    for (found, (name, files)) in discovery.found.iter().zip(SKILLS) {
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

/// What the script of a skill prints about a file, where `awk` is this program.
fn printed(awk: &Path, script: &str, file: &str, content: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(awk, folder.path().join("awk")).unwrap();
    std::fs::write(folder.path().join(file), content).unwrap();
    let skills = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/skills"));
    let output = std::process::Command::new("/bin/sh")
        .arg(skills.join(script))
        .arg(file)
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", folder.path())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn scripts_print_the_same_with_every_awk() {
    let csv = "name;price;when;note\r\nnut;1.234,50;03/04/2025;\"a \"\"b\"\" ; c\"\r\n\
        bolt;-0,5;2025-13-01;x\r\nÄpfel €;010;31/12/2024 10:05 PM;\"two\nlines\"\r\n;;;\r\n1;2\r\n";
    let text = "---\ntitle: x\n---\n# Ein Titel\n\nDr. J. Müller ging. ÄPFEL, Ωμ… 你好。Привет!\n\
        ```sh\ncode\n```\n- e.g. this | that `x`\n\n[a](b) <b>bold</b>\n";
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for name in ["mawk", "gawk", "original-awk", "busybox"] {
        let awk = Path::new("/usr/bin").join(name);
        if awk.is_file() { found.push(awk) } else { missing.push(name) }
    }
    if !missing.is_empty() {
        println!("skipped: not installed: {}", missing.join(", "));
    }
    for (script, file, content) in [
        ("csv-report/scripts/report.sh", "a.csv", csv),
        ("text-stats/scripts/stats.sh", "a.md", text),
    ] {
        let outputs = found.iter().map(|awk| printed(awk, script, file, content));
        let outputs: Vec<_> = outputs.collect();
        for (awk, output) in found.iter().zip(&outputs) {
            assert_eq!(output, &outputs[0], "{} and {}", awk.display(), found[0].display());
            assert!(output.0 == Some(0) && output.1.lines().count() > 10, "{output:?}");
        }
    }
}

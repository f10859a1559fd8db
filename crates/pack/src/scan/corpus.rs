//! Thousands of real `SKILL.md` files, where they are at hand: nearly all of them are harmless.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use super::{File, Scanner, Severity};

/// Every file by its path below the corpus.
fn files() -> Vec<(String, Vec<u8>)> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let archives = above.map(|folder| folder.join("shared/corpus/skills.tar.gz"));
    let Some(archive) = archives.into_iter().find_map(|path| fs::File::open(path).ok()) else {
        println!("skipped: there is no shared/corpus beside the repository");
        return Vec::new();
    };
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let mut files = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push((path, bytes));
        }
    }
    files
}

#[test]
fn real_skills_are_rarely_suspected() {
    let files = files();
    let scanner = Scanner::new();
    let mut table: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
    let (mut suspected, mut doubted) = (0, 0);
    for (path, bytes) in &files {
        let report = scanner.scan([File { path: "SKILL.md", bytes, executable: false }]);
        let mut seen: Vec<(&str, Severity)> =
            report.findings.iter().map(|finding| (finding.rule, finding.severity)).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter().for_each(|key| *table.entry(key).or_default() += 1);
        for finding in report.findings.iter().filter(|f| f.severity >= Severity::Medium) {
            let (severity, line, rule) = (finding.severity.as_str(), finding.line, finding.rule);
            println!("{severity} {path}:{line} {rule} {}", finding.excerpt);
        }
        suspected += usize::from(report.worst() >= Some(Severity::High));
        doubted += usize::from(report.worst() >= Some(Severity::Medium));
    }
    for ((rule, severity), count) in &table {
        println!("{rule:24} {:8} {count:5} skills", severity.as_str());
    }
    println!("of {} skills, {suspected} have a finding of severity high", files.len());
    println!("and {doubted} one of severity medium or above");
    assert!(suspected * 200 <= files.len(), "more than 0.5 % are suspected");
}

//! Scans: no panic, every finding within its file, nothing hidden in what is shown.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pack::scan::{File, Scanner};

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);
const PATHS: [&str; 4] = ["SKILL.md", "scripts/run.sh", "scripts/run.py", "data.json"];

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let path = PATHS[usize::from(choice % 4)];
    let report = SCANNER.scan([File { path, bytes, executable: choice & 4 != 0 }]);
    assert_eq!(report.looked_at.files + report.not_looked_at.len(), 1);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for finding in &report.findings {
        assert!(finding.line >= 1 && finding.line <= lines.len());
        assert!(finding.column >= 1 && finding.column <= lines[finding.line - 1].len() + 1);
        assert!(!basics::text::has_hidden(&finding.excerpt));
    }
});

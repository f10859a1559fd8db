//! What a user should know before a skill is installed.

use skill::lock::Mode;

use crate::check::{Pack, PackedSkill};
use crate::material::ArchiveError;
use crate::scan::{Report, Scanner, Severity};

/// Tools that change files or reach the network.
const HIGH_RISK: &[&str] = &["write_file", "delete_file", "network_request"];

/// Something that needs a person's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// The skill.
    pub skill: String,
    /// What about it.
    pub text: String,
}

/// What a skill could do beyond being read.
pub fn concerns(skill: &PackedSkill) -> Vec<Concern> {
    let concern = |text: String| Concern { skill: skill.name().to_owned(), text };
    let mut found = Vec::new();
    let tools = skill.metadata.controls.allowed_tools.iter().flatten();
    let risky: Vec<&str> =
        tools.map(String::as_str).filter(|tool| HIGH_RISK.contains(tool)).collect();
    if !risky.is_empty() {
        found.push(concern(format!("asks for the tools {}", risky.join(", "))));
    }
    let scripts: Vec<&str> = scripts(skill).collect();
    match scripts.as_slice() {
        [] => {}
        [one] => found.push(concern(format!("has a script: {one}"))),
        [first, rest @ ..] => found.push(concern(format!(
            "has {} scripts: {first} and {} more",
            scripts.len(),
            rest.len()
        ))),
    }
    found
}

/// Looks through the files of a skill in a pack.
pub fn scan(scanner: &Scanner, pack: &Pack, skill: &PackedSkill) -> Result<Report, ArchiveError> {
    let mut scan = scanner.begin();
    for file in &skill.files {
        let Some(entry) = pack.material.get(&format!("{}/{}", skill.dir, file.path)) else {
            scan.skip(&file.path, "not in the pack");
            continue;
        };
        let mut reading = scan.open(&file.path, file.mode == Mode::Executable);
        pack.material.copy(entry, &mut reading)?;
        reading.finish();
    }
    Ok(scan.finish())
}

/// Findings that need a person's word; lesser ones are common in honest skills.
pub fn scan_concerns<'a>(
    skill: &'a PackedSkill,
    report: &'a Report,
) -> impl Iterator<Item = Concern> + 'a {
    let concern = |text: String| Concern { skill: skill.name().to_owned(), text };
    let grave = report.findings.iter().filter(|finding| finding.severity >= Severity::Medium);
    let each = grave.map(move |finding| {
        concern(format!(
            "has a finding of {} severity in {} line {}: {}",
            finding.severity.as_str(),
            finding.file,
            finding.line,
            finding.explanation
        ))
    });
    // More of a kind are left out only beside some that are listed.
    let is_grave = report.omitted > 0 && report.worst() >= Some(Severity::Medium);
    let more = is_grave.then(|| concern(format!("has {} more findings", report.omitted)));
    each.chain(more)
}

/// Files that are meant to be run.
pub fn scripts(skill: &PackedSkill) -> impl Iterator<Item = &str> {
    let is_script =
        |path: &str, mode: Mode| path.starts_with("scripts/") || mode == Mode::Executable;
    skill
        .files
        .iter()
        .filter(move |file| is_script(&file.path, file.mode))
        .map(|file| file.path.as_str())
}

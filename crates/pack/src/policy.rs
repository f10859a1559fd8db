//! What a user should know before a skill is installed.

use skill::lock::Mode;

use crate::check::PackedSkill;

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

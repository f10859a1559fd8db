//! What every model is told first.

use permission::{Mode, Tool, ToolSet};

use crate::setup::Here;

/// The texts of all versions, the first one first: a record is replayed with the one that its model was told.
const RULES: [&str; 3] =
    [include_str!("rules/1.md"), include_str!("rules/2.md"), include_str!("rules/3.md")];

/// The version that new runs get.
pub const LATEST: u32 = RULES.len() as u32;

/// Rules, protocol, tools, where the run works and catalog: the part that is the same in every turn. One action may
/// select so many skills.
pub fn system_text(
    version: u32,
    tools: &ToolSet,
    catalog: &str,
    skills_per_turn: usize,
    here: Option<(&Here, Mode)>,
) -> String {
    let skills = match skills_per_turn {
        0 => "no skill".to_owned(),
        1 => "one skill".to_owned(),
        2 => "at most two skills".to_owned(),
        more => format!("at most {more} skills"),
    };
    // What a newer program told its model is not known here.
    let rules = RULES[(version.clamp(1, LATEST) - 1) as usize];
    let mut text = rules.replacen("{skills}", &skills, 1);
    let callable: Vec<Tool> = tools.iter().filter(|tool| *tool != Tool::RunScript).collect();
    if !callable.is_empty() {
        text.push_str("\n# Tools\n");
    }
    for tool in callable {
        text.push_str(&format!("- {} {}\n", tool.name(), parameters(tool)));
    }
    if let Some((here, mode)) = here {
        text.push_str(&place(here, mode));
    }
    text.push_str("\n# Catalog\n");
    text.push_str(if catalog.is_empty() { "There are no skills.\n" } else { catalog });
    text
}

/// Where the run works, and what its mode means.
fn place(here: &Here, mode: Mode) -> String {
    let Here { workspace, folder, system, date, shell, interpreters } = here;
    let mode = match mode {
        Mode::ReadOnly => "read-only: you can read; scripts, commands and changes are off",
        Mode::Ask => "ask: the user is asked before each script and command",
        Mode::Contained => "contained: scripts and commands run unasked in the sandbox",
        Mode::Plan => {
            "plan: you can read; answer with a plan as final_answer, and the user approves it before anything is done"
        }
    };
    format!(
        "\n# Here\n- Workspace: {workspace}\n- Scripts and commands start in: {folder}\n- System: {system}; shell: {shell}; today: {date}\n- Interpreters: {}\n- Mode: {mode}\n",
        if interpreters.is_empty() { "none".to_owned() } else { interpreters.join(", ") }
    )
}

/// `{"path": string, "offset"?: integer}` from the tool's schema.
fn parameters(tool: Tool) -> String {
    let Some(schema) = tool.params_schema() else { return "{}".to_owned() };
    let schema = schema.to_value();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let shown: Vec<String> = properties
        .iter()
        .map(|(name, property)| {
            let optional = if required.iter().any(|r| r == name) { "" } else { "?" };
            let kind = match &property["type"] {
                serde_json::Value::String(kind) => kind.clone(),
                serde_json::Value::Array(kinds) => {
                    kinds.first().and_then(|kind| kind.as_str()).unwrap_or("any").to_owned()
                }
                _ => "any".to_owned(),
            };
            format!("\"{name}\"{optional}: {kind}")
        })
        .collect();
    format!("{{{}}}", shown.join(", "))
}

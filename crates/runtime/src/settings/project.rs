//! What a project's file may set.
//!
//! A repository is somebody else's word. Invariant: a setting that is not in the table is the user's
//! alone, so a new one is closed to projects until somebody decides otherwise. Nothing of `model` is in
//! it: who decides, what goes over the wire and what that costs is for whoever pays.

use serde_json::Value;

use super::Config;
use super::layers::{known_keys, variable_name};

/// How far a project's word goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Say {
    /// Any value.
    Any,
    /// A number, no higher than the default; where there is no limit by default, any number.
    Lower,
    /// These values, which protect the user at least as well as the default.
    Only(&'static [&'static str]),
}

use Say::{Any, Lower, Only};

pub(super) const SETTINGS: [(&str, Say); 44] = [
    ("audit.store_prompts", Only(&["false"])),
    ("budget.max_context_chars", Lower),
    ("budget.max_cost_usd", Lower),
    ("budget.max_output_tokens", Lower),
    ("budget.max_script_runs", Lower),
    ("budget.max_tool_calls", Lower),
    ("budget.max_turns", Lower),
    ("budget.max_wall_seconds", Lower),
    ("catalog.format", Any),
    // Both decide how much of the user's own skills every request holds.
    ("catalog.max_chars", Lower),
    ("disclosure", Only(&["metadata"])),
    ("eval.trigger_threshold", Any),
    // It adds to what the user wants to be asked about.
    ("execution.copy_bytes", Lower),
    ("execution.layer_bytes", Lower),
    ("execution.layer_files", Lower),
    ("execution.require_approval_for", Any),
    ("execution.sandbox", Only(&["required"])),
    ("execution.timeout_seconds", Lower),
    ("install.max_bytes", Lower),
    ("install.max_entries", Lower),
    ("install.max_ratio", Lower),
    // The default demands nothing.
    ("install.require_signature", Any),
    ("install.timeout_seconds", Lower),
    ("install.verify_on_load", Only(&["warn", "require"])),
    // Of the user's and the project's, the stricter one counts.
    ("mode", Only(&["read-only", "plan", "ask"])),
    // The engine lets a project's rules only tighten.
    ("permissions", Any),
    ("profiles", Any),
    ("registry.compat", Any),
    ("registry.follow_symlinks", Any),
    ("registry.max_depth", Lower),
    ("registry.max_directories", Lower),
    ("registry.mode", Only(&["strict"])),
    ("registry.precedence", Any),
    ("security.block_angle_brackets_in_frontmatter", Only(&["true"])),
    ("security.max_frontmatter_depth", Lower),
    ("security.max_frontmatter_line_chars", Lower),
    ("security.max_frontmatter_lines", Lower),
    ("security.max_resource_excerpt_chars", Lower),
    ("security.max_resource_file_bytes", Lower),
    ("security.max_skill_body_chars", Lower),
    ("security.max_skill_body_lines", Lower),
    ("security.oversize_skill_body", Any),
    // These folders are trusted no more than the project is.
    ("skill_roots", Any),
    ("trust.projects", Only(&["ask"])),
];

/// Something that a project says and that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// The setting, with its value where that is no secret.
    pub what: String,
    /// Why it does not count.
    pub why: String,
}

impl Objection {
    /// What to say where the rest of the file counts.
    pub(super) fn warning(&self) -> String {
        format!("`{}` in the project's file is ignored: {}", self.what, self.why)
    }
}

/// Takes out of a project's settings what it may not say; answers with that.
pub(super) fn restrict(settings: &mut Value) -> Vec<Objection> {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let mut objections = Vec::new();
    for key in known_keys() {
        let pointer = format!("/{}", key.replace('.', "/"));
        let default = defaults.pointer(&pointer).unwrap_or(&Value::Null);
        let Some(value) = settings.pointer(&pointer) else { continue };
        if let Some(objection) = objection(&key, value, default) {
            objections.push(objection);
            remove(settings, &pointer);
        }
    }
    objections
}

/// Why a project's word on a setting does not count, if it does not.
fn objection(key: &str, value: &Value, default: &Value) -> Option<Objection> {
    let say = SETTINGS.iter().find(|(known, _)| *known == key).map(|(_, say)| *say);
    let ignored =
        |what: &str, why: &str| Some(Objection { what: what.to_owned(), why: why.to_owned() });
    match say {
        // A default changes nothing.
        _ if value == default => None,
        Some(Any) => None,
        Some(Only(values)) if values.iter().any(|known| is(value, known)) => None,
        Some(Only(_)) => ignored(&format!("{key}: {value}"), "a project may only tighten it"),
        Some(Lower) => match (value.as_f64(), default.as_f64()) {
            (Some(value), Some(limit)) if value <= limit => None,
            (Some(_), None) => None,
            _ => ignored(
                &format!("{key}: {value}"),
                &format!("a project may only lower it, from {default}"),
            ),
        },
        // Without the value: it may be a secret.
        None => ignored(
            key,
            &format!(
                "only you may set it, in `~/.agent/config.json` or with `{}`",
                variable_name(key)
            ),
        ),
    }
}

fn is(value: &Value, text: &str) -> bool {
    match value {
        Value::Bool(value) => text.parse() == Ok(*value),
        value => value == text,
    }
}

fn remove(settings: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(section)) = settings.pointer_mut(parent) {
        section.remove(key);
    }
}

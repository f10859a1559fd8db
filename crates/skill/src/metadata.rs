//! What the frontmatter says about a skill, read into types.
//!
//! Invariant: a control that cannot be understood counts as the stricter one, so that a mistake
//! never shows or allows more than its author meant.

mod naming;
mod tool_names;

#[cfg(test)]
mod tests;

use basics::skill::{Diagnostic, RunMode};
use basics::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::frontmatter::{self, FrontmatterError, Limits};
use crate::value::{Map, Value};

pub(crate) use naming::departures;

/// How forgiving the index is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A skill without a readable description is refused; a missing name is the folder's.
    #[default]
    Strict,
    /// The same, but a missing description is empty, and angle brackets are escaped.
    Lenient,
}

/// The fields whose values a model sees.
const SEEN_BY_MODELS: [&str; 3] = ["name", "description", "when_to_use"];

/// How a frontmatter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReadOptions {
    /// Strict or lenient.
    pub mode: Mode,
    /// Whether `<` and `>` in a value that a model sees refuse the skill; lenient mode escapes them
    /// instead, but in a name, which is no text to be read. In other values they are only noted.
    pub block_angle_brackets: bool,
    /// Bounds of the frontmatter.
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { mode: Mode::Strict, block_angle_brackets: true, limits: Limits::default() }
    }
}

impl ReadOptions {
    /// `text` as a model or a person may see it.
    fn shown(&self, text: String) -> String {
        let escapes = self.block_angle_brackets && self.mode == Mode::Lenient;
        if escapes && text.contains(['<', '>']) {
            text.replace('<', "&lt;").replace('>', "&gt;")
        } else {
            text
        }
    }
}

/// What a skill allows to be done with it. Its fields are in the order of their names, as canonical JSON has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Controls {
    /// The commands it may run, as patterns; `null` when it does not say.
    #[serde(default)]
    pub allowed_commands: Option<Vec<String>>,
    /// The tools this skill may use; `null` when it does not say.
    pub allowed_tools: Option<Vec<String>>,
    /// Hidden from the model; a user can still invoke it.
    pub disable_model_invocation: bool,
    /// In the conversation or in a child run.
    pub run_mode: RunMode,
    /// Offered to users as a direct command.
    pub user_invocable: bool,
}

impl Controls {
    /// The tools that the skill's actions may use, where it says so. Reading is always among them: without it most
    /// skills could do nothing.
    pub fn usable_tools(&self) -> Option<Vec<String>> {
        let declared =
            self.allowed_tools.as_ref().filter(|names| !names.iter().any(|name| name == "*"))?;
        let reading = ["read_file", "list_dir", "grep"].map(str::to_owned);
        let others = declared.iter().filter(|name| !reading.contains(name)).cloned();
        let all = reading.iter().cloned().chain(others);
        // Whoever may run a command in the background may look after it.
        let runs = declared.iter().any(|name| name == "run_command");
        let minding = ["command_output", "command_input", "command_stop"].map(str::to_owned);
        Some(all.chain(minding.into_iter().filter(|_| runs)).collect())
    }
}

/// Facts about a skill that change nothing in how it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// Who wrote it.
    pub author: Option<String>,
    /// What it needs to work.
    pub compatibility: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// Its version.
    pub version: Option<String>,
}

/// A skill's frontmatter, read into types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The name, as the frontmatter gives it.
    pub name: String,
    /// What it does and when to use it, without hidden characters.
    pub description: String,
    /// What may be done with it.
    pub controls: Controls,
    /// Further facts.
    pub meta: Meta,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

impl Metadata {
    /// Reads the frontmatter of a whole `SKILL.md` in a folder called `folder`.
    pub fn of_file(
        content: &[u8],
        folder: &str,
        options: &ReadOptions,
    ) -> Result<Self, FrontmatterError> {
        let (yaml, _) = frontmatter::split_whole(content, &options.limits)?;
        let yaml = std::str::from_utf8(&content[yaml]).map_err(|_| FrontmatterError::NotUtf8)?;
        Self::read(yaml, folder, options)
    }

    /// Reads the text between the `---` lines of the `SKILL.md` in a folder called `folder`.
    pub fn read(yaml: &str, folder: &str, options: &ReadOptions) -> Result<Self, FrontmatterError> {
        let parsed = frontmatter::parse(yaml, &options.limits)?;
        let mut reader = Reader { fields: &parsed.fields, options, diagnostics: Vec::new() };
        if parsed.repaired {
            reader.note("repaired-yaml", "some values needed quotes to be valid YAML");
        }
        reader.refuse_angle_brackets()?;
        let name = reader.name(folder)?;
        let description = reader.description()?;
        let controls = reader.controls();
        let meta = reader.meta();
        let mut diagnostics = reader.diagnostics;
        diagnostics.extend(departures(&name, &description, folder));
        Ok(Self { name, description: options.shown(description), controls, meta, diagnostics })
    }
}

struct Reader<'a> {
    fields: &'a Map,
    options: &'a ReadOptions,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn note(&mut self, code: &str, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, message));
    }

    /// Hidden characters in a key do not make it another one: a control must not be lost to them.
    fn get(&self, field: &str) -> Option<&Value> {
        let is_field = |key: &str| text::strip_hidden(key).0 == field;
        self.fields.0.iter().find(|(key, _)| is_field(key)).map(|(_, value)| value)
    }

    fn lenient(&self) -> bool {
        self.options.mode == Mode::Lenient
    }

    fn refuse_angle_brackets(&mut self) -> Result<(), FrontmatterError> {
        if !self.options.block_angle_brackets {
            return Ok(());
        }
        for (field, value) in &self.fields.0 {
            let mut found = false;
            value.scalars(&mut |scalar| found |= scalar.text.contains(['<', '>']));
            if !found {
                continue;
            }
            let is_seen = SEEN_BY_MODELS.contains(&&*text::strip_hidden(field).0);
            let consequence = match self.options.mode {
                Mode::Lenient => "is escaped when shown",
                Mode::Strict if is_seen => {
                    return Err(FrontmatterError::AngleBrackets { field: field.clone() });
                }
                Mode::Strict => "is kept: a model does not see this field",
            };
            let field = text::for_terminal(field);
            self.note("angle-brackets", format!("`<` or `>` in `{field}` {consequence}"));
        }
        Ok(())
    }

    fn required(&self, field: &str) -> Result<Option<&str>, FrontmatterError> {
        match self.get(field) {
            None => Ok(None),
            Some(value) if value.is_null() => Ok(None),
            Some(value) => match value.text().map(str::trim) {
                Some("") => Ok(None),
                Some(text) => Ok(Some(text)),
                None => Err(FrontmatterError::NotText { field: field.to_owned() }),
            },
        }
    }

    fn name(&mut self, folder: &str) -> Result<String, FrontmatterError> {
        let name = match self.required("name")? {
            Some(name) => name.to_owned(),
            // The file system's own root has no name to give.
            None if matches!(folder, "" | "/") => return Err(FrontmatterError::NoName),
            None => {
                self.note("missing-name", "no `name`, so the folder's name is used");
                folder.to_owned()
            }
        };
        if self.options.block_angle_brackets && name.contains(['<', '>']) {
            return Err(FrontmatterError::AngleBrackets { field: "name".to_owned() });
        }
        let hidden = text::has_hidden(&name) || name.contains(['\n', '\t']);
        if hidden { Err(FrontmatterError::HiddenInName) } else { Ok(name) }
    }

    fn description(&mut self) -> Result<String, FrontmatterError> {
        let description = match self.required("description")? {
            Some(description) => description.to_owned(),
            None if self.lenient() => {
                self.note(
                    "missing-description",
                    "no `description`, so a model cannot know when to use the skill",
                );
                String::new()
            }
            None => return Err(FrontmatterError::NoDescription),
        };
        let (visible, removed) = text::strip_hidden(&description);
        if removed == 0 {
            return Ok(description);
        }
        let visible = visible.trim().to_owned();
        self.note(
            "hidden-characters",
            format!("removed {removed} hidden characters from the description"),
        );
        if visible.is_empty() && !self.lenient() {
            return Err(FrontmatterError::NoDescription);
        }
        Ok(visible)
    }

    fn controls(&mut self) -> Controls {
        let user_invocable = match self.get("user-invocable") {
            Some(_) => "user-invocable",
            None => "user-invokable",
        };
        let (allowed_tools, allowed_commands) = self.allowed_tools();
        Controls {
            allowed_commands,
            allowed_tools,
            disable_model_invocation: self.flag("disable-model-invocation", false, true),
            run_mode: self.run_mode(),
            user_invocable: self.flag(user_invocable, true, false),
        }
    }

    fn flag(&mut self, field: &str, absent: bool, unclear: bool) -> bool {
        let read = match self.get(field) {
            None => return absent,
            Some(Value::Scalar(scalar)) => scalar.flag(),
            Some(_) => None,
        };
        read.unwrap_or_else(|| {
            self.note(
                "invalid-value",
                format!("`{field}` is not true or false; Skillful reads it as {unclear}"),
            );
            unclear
        })
    }

    fn run_mode(&mut self) -> RunMode {
        match self.get("run-mode").map(|value| value.text().map(str::trim)) {
            None | Some(Some("inline")) => RunMode::Inline,
            Some(Some("subagent")) => RunMode::Subagent,
            Some(_) => {
                self.note(
                    "invalid-value",
                    "`run-mode` is not `inline` or `subagent`; Skillful reads it as `inline`",
                );
                RunMode::Inline
            }
        }
    }

    fn allowed_tools(&mut self) -> (Option<Vec<String>>, Option<Vec<String>>) {
        let Some(value) = self.get("allowed-tools") else { return (None, None) };
        let written: Vec<String> = match value {
            Value::Scalar(_) => value.text().map_or_else(Vec::new, tool_names::split),
            Value::List(items) if items.iter().all(|item| item.text().is_some()) => {
                items.iter().filter_map(Value::text).flat_map(tool_names::split).collect()
            }
            _ => {
                self.note(
                    "invalid-value",
                    "`allowed-tools` is not a list of names, so no tool is allowed",
                );
                Vec::new()
            }
        };
        (Some(tool_names::mapped(&written)), tool_names::commands(&written))
    }

    fn meta(&self) -> Meta {
        let text = |value: Option<&Value>| {
            let (visible, _) = text::strip_hidden(value?.text()?.trim());
            (!visible.is_empty()).then(|| self.options.shown(visible.into_owned()))
        };
        let nested = match self.get("metadata") {
            Some(Value::Map(map)) => Some(map),
            _ => None,
        };
        let either = |field| {
            text(self.get(field)).or_else(|| nested.and_then(|nested| text(nested.get(field))))
        };
        Meta {
            author: either("author"),
            compatibility: text(self.get("compatibility")),
            license: text(self.get("license")),
            version: either("version"),
        }
    }
}

//! Skills as tools for any model that can call tools: what it is told about them, and what a call does.
//!
//! [`definitions`] describes the tools, [`action`] reads a call of one of them. [`SkillTool`] is the one
//! that matters most, for loops that need no more: it describes itself and hands skills over.
//!
//! Invariant: a skill that is not offered is in no description, no enum and no error from here.

#[cfg(test)]
mod tests;

use agent::action::{Action, SkillRef};
use agent::request::Refusal;
use basics::skill::Source;
use permission::{Answer, ApprovalId, Engine, Invocation, Permission, Verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skill::load::{Limits, LoadError};
use skill::metadata::ReadOptions;
use skill::offer::{Catalog, CatalogLimits, Offer};
use tools::grants::GrantFile;

use crate::driver::Approver;
use crate::workbench::{activate, of_skills};

/// Names in an enum; with more, the catalog and the search must do.
const NAMES: usize = 200;

/// A tool as a model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// A few words for people.
    pub title: &'static str,
    /// What it does and when to call it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// Whether it changes nothing.
    pub read_only: bool,
}

/// The tools for a model that may see what is offered: none at all where no skill is.
pub fn definitions(offer: &Offer<'_>, engine: &Engine, catalog: &Catalog) -> Vec<Definition> {
    let Some(skill) = definition(offer, catalog) else { return Vec::new() };
    let named = |more: Value, required: &[&str]| {
        let mut properties =
            json!({"name": {"type": "string", "description": "The skill"}, "source": source()});
        if let (Value::Object(all), Value::Object(more)) = (&mut properties, more) {
            all.extend(more);
        }
        object(properties, required)
    };
    let path = json!({"type": "string", "description": "The file, relative to the skill's folder"});
    let mut tools = vec![
        skill,
        Definition {
            name: "load_skill_chunk",
            title: "Load a chunk of a skill",
            description: "Load one of the chunks that a skill lists under Available Chunks.".to_owned(),
            input_schema: named(
                json!({"chunk_id": {"type": "string", "description": "The chunk"}}),
                &["name", "chunk_id"],
            ),
            read_only: true,
        },
        Definition {
            name: "load_skill_resource",
            title: "Read a file of a skill",
            description: "Read one file of a skill, or a section of it, when the skill says that it is needed.".to_owned(),
            input_schema: named(
                json!({"relative_path": path, "section_hint": {"type": "string", "description": "The heading of the section that matters"}}),
                &["name", "relative_path"],
            ),
            read_only: true,
        },
        Definition {
            name: "search_skills",
            title: "Search for skills",
            description: "Find skills for a task by words. Use it when the list shows no skill that fits.".to_owned(),
            input_schema: object(
                json!({"query": {"type": "string", "description": "What is needed, in words"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many to show"}}),
                &["query"],
            ),
            read_only: true,
        },
        Definition {
            name: "read_observation",
            title: "Read the rest of a result",
            description: "Read a result of this session that was too long to be shown as a whole, from an offset on or only the lines that match a pattern.".to_owned(),
            input_schema: object(
                json!({"ref": {"type": "string", "description": "The `storage_ref` that came with the result"},
                    "offset": {"type": "integer", "minimum": 0, "description": "How many characters to leave out"},
                    "pattern": {"type": "string", "description": "A regular expression; only lines that match it are shown"}}),
                &["ref"],
            ),
            read_only: true,
        },
    ];
    if engine.offers(Permission::RunScript) {
        tools.push(Definition {
            name: "run_skill_script",
            title: "Run a script of a skill",
            description: "Run a script of a skill that was loaded, in a sandbox without network. The user may be asked first.".to_owned(),
            input_schema: named(
                json!({"relative_path": {"type": "string", "description": "The script, under scripts/"},
                    "args": {"type": "array", "items": {"type": "string"}, "description": "Its arguments"},
                    "stdin": {"type": "string", "description": "What it reads from standard input"}}),
                &["name", "relative_path"],
            ),
            read_only: false,
        });
    }
    tools
}

/// The tool that loads a skill, described by the skills there are.
pub fn definition(offer: &Offer<'_>, catalog: &Catalog) -> Option<Definition> {
    offer.skills().next()?;
    let names: Vec<&str> =
        offer.skills().map(|entry| entry.name.as_str()).take(NAMES + 1).collect();
    let mut name = json!({"type": "string", "description": "The skill"});
    if names.len() <= NAMES {
        name["enum"] = json!(names);
    }
    Some(Definition {
        name: "skill",
        title: "Load a skill",
        description: format!(
            "Load a skill: tested instructions for one kind of task, with files and scripts. When one of these fits the task, load it before you begin, and follow it.\n\n{}",
            catalog.text
        ),
        input_schema: object(json!({"name": name, "source": source()}), &["name"]),
        read_only: true,
    })
}

fn source() -> Value {
    json!({"type": "string", "enum": Source::ALL, "description": "Where it comes from, if several have this name"})
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    source: Option<Source>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chunk {
    #[serde(alias = "skill_name")]
    name: String,
    source: Option<Source>,
    chunk_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resource {
    name: String,
    source: Option<Source>,
    relative_path: String,
    section_hint: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadBack {
    #[serde(rename = "ref")]
    reference: String,
    offset: Option<usize>,
    pattern: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    name: String,
    source: Option<Source>,
    relative_path: String,
    #[serde(default)]
    args: Vec<String>,
    stdin: Option<String>,
}

/// What a call of one of the tools asks for; nothing where there is no such tool.
pub fn action(tool: &str, arguments: Value) -> Option<Result<Action, Refusal>> {
    let reference = |name, source| SkillRef { name, source };
    Some(match tool {
        "skill" => read(tool, arguments).map(|Named { name, source }| Action::SelectSkills {
            skills: vec![reference(name, source)],
            reason: String::new(),
        }),
        "load_skill_chunk" => read(tool, arguments).map(|Chunk { name, source, chunk_id }| {
            Action::LoadChunk { skill: reference(name, source), chunk_id }
        }),
        "load_skill_resource" => {
            read(tool, arguments).map(|Resource { name, source, relative_path, section_hint }| {
                Action::LoadResource { skill: reference(name, source), relative_path, section_hint }
            })
        }
        "search_skills" => read(tool, arguments)
            .map(|Search { query, limit }| Action::SearchSkills { query, limit }),
        "read_observation" => {
            read(tool, arguments).map(|ReadBack { reference, offset, pattern }| {
                Action::ReadObservation { reference, offset, pattern }
            })
        }
        "run_skill_script" => {
            read(tool, arguments).map(|Script { name, source, relative_path, args, stdin }| {
                Action::RunScript { skill: reference(name, source), relative_path, args, stdin }
            })
        }
        _ => return None,
    })
}

fn read<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, Refusal> {
    serde_json::from_value(arguments).map_err(|error| {
        Refusal::new(
            "InvalidAction",
            format!("the arguments of `{tool}` cannot be understood: {error}"),
            "call it with the arguments that its schema names",
        )
    })
}

/// The Skill tool of one conversation.
#[derive(Debug)]
pub struct SkillTool<'a> {
    offer: &'a Offer<'a>,
    engine: Engine,
    read: ReadOptions,
    limits: Limits,
    grants: Option<GrantFile>,
    loaded: Vec<SkillRef>,
}

impl<'a> SkillTool<'a> {
    /// A tool that hands over what is offered, as far as the engine allows.
    pub fn new(offer: &'a Offer<'a>, engine: Engine) -> Self {
        let (read, limits) = Default::default();
        Self { offer, engine, read, limits, grants: None, loaded: Vec::new() }
    }

    /// How the frontmatter is read and how much is handed over, where the defaults will not do.
    pub fn with_limits(self, read: ReadOptions, limits: Limits) -> Self {
        Self { read, limits, ..self }
    }

    /// Where approvals for always are kept; without a file they end with the conversation.
    pub fn with_grants(self, grants: GrantFile) -> Self {
        Self { grants: Some(grants), ..self }
    }

    /// The tool as a model is told about it; nothing where there is no skill to load.
    pub fn definition(&self, limits: CatalogLimits, request: &str) -> Option<Definition> {
        definition(self.offer, &self.offer.catalog(limits, request))
    }

    /// Loads the skill that a call names: permission first, then its body.
    pub fn call(
        &mut self,
        arguments: Value,
        approver: &mut dyn Approver,
    ) -> Result<String, Refusal> {
        let Named { name, source } = read("skill", arguments)?;
        let Some(entry) = self.offer.get(&name, source) else {
            return Err(LoadError::SkillNotFound { name }.into());
        };
        let found = SkillRef { name: entry.name.clone(), source: Some(entry.source) };
        if self.loaded.contains(&found) {
            return Ok(format!("{} already loaded; see above.", found.name));
        }
        let action = Action::SelectSkills { skills: vec![found.clone()], reason: String::new() };
        self.permit(of_skills(&action, &[entry], &self.engine), approver)?;
        let (text, _) =
            activate(entry, &[], &self.engine, (&self.read, &self.limits), |_| Ok(None))?;
        self.loaded.push(found);
        Ok(text)
    }

    fn permit(
        &mut self,
        request: agent::request::Request,
        approver: &mut dyn Approver,
    ) -> Result<(), Refusal> {
        let hash = request.skill_hash.clone();
        let pending = match self.engine.decide(request, hash.as_ref()) {
            Verdict::Allowed(_) => return Ok(()),
            Verdict::Denied(denial) => return Err(denial.into()),
            Verdict::Ask(pending) => pending,
        };
        let id = ApprovalId::numbered(self.loaded.len() as u64);
        let invocation = Invocation { command: Vec::new(), arguments: Vec::new() };
        let question = pending.question(id, "the model wants to load a skill", &invocation);
        let Some(answer) = approver.ask(&question) else {
            return Err(Refusal::new(
                "ApprovalRequired",
                format!("an approval is needed: it {}", question.effect),
                "tell the user; a rule for `skill` can allow it",
            ));
        };
        let always = answer == Answer::Always;
        let granted = pending.answer(answer)?;
        if let (true, Some(file)) = (always, &self.grants)
            && let Err(why) = file.add(granted.grants.clone())
        {
            approver.not_kept(&why);
        }
        self.engine.remember(granted.grants);
        Ok(())
    }
}

//! The action of a decision, checked key by key, so that a problem has a path.

use Need::{Optional, Required};
use agent::action::Action;
use basics::skill::Source;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Problem;
use super::problem::{kind, quoted};

/// A key of a payload.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) need: Need,
    shape: Shape,
}

/// Whether a key may be left out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// What a value must look like.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Text,
    /// A text, or a number that stands for one.
    Reference,
    Texts,
    Count,
    Flag,
    Object,
    Skill,
    Skills,
    /// An answer to choose.
    Choice,
    Choices,
}

const fn field(name: &'static str, need: Need, shape: Shape) -> Field {
    Field { name, need, shape }
}

/// The types of actions and the keys of their payloads, as [`Action`] has them.
pub(super) const KINDS: [(&str, &[Field]); 10] = [
    (
        "select_skills",
        &[field("skills", Required, Shape::Skills), field("reason", Optional, Shape::Text)],
    ),
    (
        "search_skills",
        &[field("query", Required, Shape::Text), field("limit", Optional, Shape::Count)],
    ),
    (
        "load_resource",
        &[
            field("skill", Required, Shape::Skill),
            field("relative_path", Required, Shape::Text),
            field("section_hint", Optional, Shape::Text),
        ],
    ),
    (
        "load_chunk",
        &[field("skill", Required, Shape::Skill), field("chunk_id", Required, Shape::Text)],
    ),
    (
        "run_script",
        &[
            field("skill", Required, Shape::Skill),
            field("relative_path", Required, Shape::Text),
            field("args", Optional, Shape::Texts),
            field("stdin", Optional, Shape::Text),
        ],
    ),
    (
        "call_tool",
        &[
            field("tool", Required, Shape::Text),
            field("params", Optional, Shape::Object),
            field("skill", Optional, Shape::Skill),
        ],
    ),
    (
        "read_observation",
        &[
            field("ref", Required, Shape::Reference),
            field("offset", Optional, Shape::Count),
            field("pattern", Optional, Shape::Text),
        ],
    ),
    (
        "ask_user",
        &[
            field("question", Required, Shape::Text),
            field("options", Optional, Shape::Choices),
            field("multiple", Optional, Shape::Flag),
            field("secret", Optional, Shape::Flag),
        ],
    ),
    (
        "apply_changes",
        &[field("paths", Optional, Shape::Texts), field("reason", Optional, Shape::Text)],
    ),
    ("final_answer", &[field("content", Required, Shape::Text)]),
];

/// Keys that only comment on an action.
const COMMENTS: [&str; 7] =
    ["comment", "explanation", "rationale", "reason", "reasoning", "thought", "thoughts"];

/// The action in a decision's object, from which plan and diagnostics were taken.
pub(super) fn action(mut object: Map<String, Value>) -> Result<Action, Problem> {
    match object.remove("action") {
        Some(Value::Object(action)) => typed(action, "action."),
        Some(other) => {
            Err(wrong("action".to_owned(), &other, "an object with `type` and `payload`"))
        }
        None if object.contains_key("type") => typed(object, ""),
        None => Err(Problem::Missing {
            path: "action".to_owned(),
            expected: "an object with `type` and `payload`",
        }),
    }
}

/// `{"type": T, "payload": {…}}`, or the payload's keys beside the type.
fn typed(mut action: Map<String, Value>, at: &str) -> Result<Action, Problem> {
    let path = format!("{at}type");
    name_chunk_action(&mut action);
    let (name, fields) = match action.remove("type") {
        Some(Value::String(found)) => {
            let known = KINDS.iter().find(|(name, _)| *name == found);
            known.ok_or_else(|| Problem::UnknownType { found: quoted(&found) })?
        }
        Some(other) => return Err(wrong(path, &other, "a string")),
        None => return Err(Problem::Missing { path, expected: "a string" }),
    };
    let payload = match action.remove("payload") {
        Some(Value::Object(payload)) => {
            refuse_others(&action, at, "type, payload")?;
            checked(payload, fields, &format!("{at}payload."))?
        }
        Some(other) => return Err(wrong(format!("{at}payload"), &other, "an object")),
        None if action.keys().all(|key| COMMENTS.contains(&key.as_str())) => {
            return Err(Problem::Missing { path: format!("{at}payload"), expected: "an object" });
        }
        None => checked(action, fields, at)?,
    };
    Action::deserialize(json!({"type": name, "payload": payload}))
        .map_err(|error| Problem::Unreadable { reason: error.to_string() })
}

/// `load_skill_chunk {skill_name, chunk_id}`, which is what the text of a skill calls it, is `load_chunk`; the text says
/// that it is a tool, so it may be called as one.
fn name_chunk_action(action: &mut Map<String, Value>) {
    if let Some(Value::Object(payload)) = action.get_mut("payload")
        && payload.get("tool").and_then(Value::as_str) == Some("load_skill_chunk")
        && let Some(params @ Value::Object(_)) = payload.remove("params")
    {
        action.insert("type".to_owned(), "load_skill_chunk".into());
        action.insert("payload".to_owned(), params);
    }
    if action.get("type").and_then(Value::as_str) != Some("load_skill_chunk") {
        return;
    }
    action.insert("type".to_owned(), "load_chunk".into());
    let payload = match action.get_mut("payload") {
        Some(Value::Object(payload)) => payload,
        _ => action,
    };
    if let Some(name) = payload.remove("skill_name").or_else(|| payload.remove("name")) {
        payload.entry("skill").or_insert(name);
    }
}

/// The payload with its known keys only, each of the right shape.
fn checked(
    mut payload: Map<String, Value>,
    fields: &[Field],
    at: &str,
) -> Result<Map<String, Value>, Problem> {
    let mut known = Map::new();
    let mut missing = Ok(());
    for field in fields {
        let path = || format!("{at}{}", field.name);
        match payload.remove(field.name) {
            None | Some(Value::Null) if field.shape == Shape::Object => {
                known.insert(field.name.to_owned(), Value::Object(Map::new()));
            }
            None | Some(Value::Null) if field.need == Optional => {}
            None => {
                let expected = field.shape.expected();
                missing = missing.and(Err(Problem::Missing { path: path(), expected }));
            }
            Some(mut value) => {
                field.shape.check(&value, &path)?;
                if field.shape == Shape::Reference && value.is_u64() {
                    value = value.to_string().into();
                }
                if let Value::Object(params) = &mut value {
                    params.retain(|_, param| field.shape != Shape::Object || !param.is_null());
                }
                known.insert(field.name.to_owned(), value);
            }
        }
    }
    // A misspelt key says more than the one that is missing for it.
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    refuse_others(&payload, at, &names.join(", "))?;
    missing.map(|()| known)
}

fn refuse_others(rest: &Map<String, Value>, at: &str, known: &str) -> Result<(), Problem> {
    match rest.keys().find(|key| !COMMENTS.contains(&key.as_str())) {
        Some(key) => Err(Problem::UnknownKey {
            path: format!("{at}{}", quoted(key)),
            known: known.to_owned(),
        }),
        None => Ok(()),
    }
}

impl Shape {
    fn expected(self) -> &'static str {
        match self {
            Self::Text | Self::Reference => "a string",
            Self::Texts => "an array of strings",
            Self::Count => "a whole number",
            Self::Flag => "true or false",
            Self::Object => "an object",
            Self::Skill => "a skill as {\"name\": NAME}",
            Self::Skills => "an array of skills as [{\"name\": NAME}]",
            Self::Choice => "an answer as {\"label\": TEXT}",
            Self::Choices => "an array of answers as [{\"label\": TEXT}]",
        }
    }

    fn check(self, value: &Value, path: &dyn Fn() -> String) -> Result<(), Problem> {
        let each = |shape: Self, elements: &[Value]| {
            elements.iter().enumerate().try_for_each(|(index, element)| {
                shape.check(element, &|| format!("{}[{index}]", path()))
            })
        };
        match (self, value) {
            (Self::Texts, Value::Array(texts)) => each(Self::Text, texts),
            (Self::Skills, Value::Array(skills)) => each(Self::Skill, skills),
            (Self::Choices, Value::Array(choices)) => each(Self::Choice, choices),
            (Self::Skill, Value::Object(skill)) => check_skill(skill, path),
            (Self::Choice, Value::Object(choice)) => check_choice(choice, path),
            (Self::Text | Self::Reference | Self::Skill | Self::Choice, Value::String(_))
            | (Self::Flag, Value::Bool(_))
            | (Self::Object, Value::Object(_)) => Ok(()),
            (Self::Count | Self::Reference, value) if value.is_u64() => Ok(()),
            _ => Err(wrong(path(), value, self.expected())),
        }
    }
}

/// Names and sources as the catalog shows them; what else was copied from there does no harm.
fn check_skill(skill: &Map<String, Value>, path: &dyn Fn() -> String) -> Result<(), Problem> {
    match skill.get("name") {
        None => {
            let path = format!("{}.name", path());
            return Err(Problem::Missing { path, expected: Shape::Text.expected() });
        }
        Some(name) => Shape::Text.check(name, &|| format!("{}.name", path()))?,
    }
    match skill.get("source") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(source)) if Source::ALL.iter().any(|known| known.as_str() == source) => {
            Ok(())
        }
        Some(other) => Err(wrong(
            format!("{}.source", path()),
            other,
            "one of `explicit`, `project`, `user`, `builtin`",
        )),
    }
}

fn check_choice(choice: &Map<String, Value>, path: &dyn Fn() -> String) -> Result<(), Problem> {
    let label = || format!("{}.label", path());
    match choice.get("label") {
        None => {
            return Err(Problem::Missing { path: label(), expected: Shape::Text.expected() });
        }
        Some(name) => Shape::Text.check(name, &label)?,
    }
    match choice.get("description") {
        None | Some(Value::Null) => Ok(()),
        Some(text) => Shape::Text.check(text, &|| format!("{}.description", path())),
    }
}

fn wrong(path: String, value: &Value, expected: &'static str) -> Problem {
    let found = match value {
        Value::String(text) if expected.starts_with("one of") => format!("`{}`", quoted(text)),
        other => kind(other).to_owned(),
    };
    Problem::WrongType { path, found, expected }
}

//! What a model may reply, as JSON Schema: for providers that hold a model to a schema, and for those with tool calling
//! of their own, where each action is a tool.
//!
//! Both are made from the types that [`crate::decision`] reads, in the small language that strict modes and grammars
//! understand: no references, every object closed, every key required. What that language cannot say, such as free-form
//! objects, is not offered.
//!
//! ```
//! use skillful_model::schema::{Offered, decision_schema, tool_decision, tool_definitions};
//! use permission::ToolSet;
//!
//! let tools = ToolSet::from_names(["grep"]);
//! let offered = Offered { tools: &tools, skills: Some(&["pdf", "csv-report"]), scripts: None };
//! let schema = serde_json::to_string(&decision_schema(&offered))?;
//! assert!(schema.starts_with(r#"{"additionalProperties":false,"properties":{"action":{"anyOf":[{"#));
//!
//! let names: Vec<String> = tool_definitions(&offered).into_iter().map(|tool| tool.name).collect();
//! assert_eq!(names, ["select_skills", "search_skills", "load_resource", "load_chunk", "read_observation", "ask_user", "apply_changes", "final_answer", "grep"]);
//! assert_eq!(tool_decision("grep", r#"{"pattern": "x"}"#)?.decision.action.kind().name(), "call_tool");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod closed;

use permission::{Tool, ToolSet};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value, json};

use crate::decision::{self, Problem, Understood};
use closed::{Closed, object, word};

/// What there is to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The tools that a run has.
    pub tools: &'a ToolSet,
    /// The only skills that may be named; any, if nothing is said. A skill that is found by searching must be among
    /// them, too.
    pub skills: Option<&'a [&'a str]>,
    /// The only skills whose scripts may be run; any, if nothing is said.
    pub scripts: Option<&'a [&'a str]>,
}

/// A schema whose objects are written with their keys in the order in which a model should write them.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(Value);

/// An action as a tool of the provider's own tool calling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// The type of the action, or the name of the tool that it calls.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its arguments.
    pub parameters: Schema,
}

/// The schema of a decision.
pub fn decision_schema(offered: &Offered<'_>) -> Schema {
    let closed = Closed::new(offered.skills);
    let action = |kind: &str, description: &str, payload: Value| {
        let mut action = object(vec![("type", word(&[kind])), ("payload", payload)]);
        action["description"] = description.into();
        action
    };
    let mut actions = Vec::new();
    for (kind, description, payload) in actions_of(&closed, offered) {
        actions.push(action(kind, description, payload));
    }
    for (tool, _, params) in tools_of(&closed, offered) {
        let payload = object(vec![("tool", word(&[tool.name()])), ("params", params)]);
        actions.push(action("call_tool", "Use a tool.", payload));
    }
    Schema(object(vec![
        ("action", json!({"anyOf": actions})),
        ("plan_update", closed.plan_update()),
    ]))
}

/// The actions as tools; each can change the plan, too.
pub fn tool_definitions(offered: &Offered<'_>) -> Vec<ToolDefinition> {
    let closed = Closed::new(offered.skills);
    // Written out, it would take more room than all the tools; the rules describe it.
    let plan_update = json!({"type": ["object", "null"], "description": "A change of the plan."});
    let definition = |name: &str, description: &str, mut parameters: Value| {
        closed::add(&mut parameters, "plan_update", plan_update.clone());
        let (name, description) = (name.to_owned(), description.to_owned());
        ToolDefinition { name, description, parameters: Schema(parameters) }
    };
    let actions = actions_of(&closed, offered).into_iter();
    let tools = tools_of(&closed, offered).into_iter();
    actions
        .map(|(kind, description, payload)| definition(kind, description, payload))
        .chain(tools.map(|(tool, text, params)| definition(tool.name(), &text, params)))
        .collect()
}

/// The decision that a call of one of these tools is.
pub fn tool_decision(name: &str, arguments: &str) -> Result<Understood, Problem> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let mut payload = decision::object(arguments)?;
    let beside = ["plan_update", "diagnostics"].map(|key| (key.to_owned(), payload.remove(key)));
    let (kind, payload) = match Tool::from_name(name) {
        None | Some(Tool::RunScript) => (name, Value::Object(payload)),
        Some(_) => ("call_tool", json!({"tool": name, "params": payload})),
    };
    let mut object = Map::from_iter(beside.map(|(key, value)| (key, value.unwrap_or_default())));
    object.insert("type".to_owned(), kind.into());
    object.insert("payload".to_owned(), payload);
    decision::from_object(object)
}

/// The actions but for `call_tool`: type, description and payload.
fn actions_of<'a>(closed: &'a Closed<'_>, offered: &Offered<'_>) -> Vec<(&'a str, &'a str, Value)> {
    let has_scripts = offered.scripts.is_none_or(|skills| !skills.is_empty());
    let offers_scripts = has_scripts && offered.tools.contains(Tool::RunScript);
    let is_offered = |kind: &str| kind != "call_tool" && (kind != "run_script" || offers_scripts);
    let mut actions: Vec<_> = closed.actions().filter(|(kind, ..)| is_offered(kind)).collect();
    for (_, _, payload) in actions.iter_mut().filter(|(kind, ..)| *kind == "run_script") {
        if let Some(skills) = offered.scripts {
            payload["properties"]["skill"]["properties"]["name"] = word(skills);
        }
    }
    actions
}

/// The tools that are called: description and params.
fn tools_of(closed: &Closed<'_>, offered: &Offered<'_>) -> Vec<(Tool, String, Value)> {
    let schemas = offered.tools.iter().filter_map(|tool| Some((tool, tool.params_schema()?)));
    schemas
        .filter_map(|(tool, schema)| {
            let schema = schema.to_value();
            let description = schema["description"].as_str().unwrap_or_default().to_owned();
            Some((tool, description, closed.root(&schema)?))
        })
        .collect()
}

impl Schema {
    /// The schema as a value, in which the order is lost.
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Ordered(&self.0, &Value::Null).serialize(serializer)
    }
}

/// A value, and the keys that come first in it. Providers make a model write keys in the order of `properties`; with
/// `payload` before `type`, nothing could be shown early, and the model would fill in what it has not chosen yet.
struct Ordered<'a>(&'a Value, &'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = &Value::Null;
        match self.0 {
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                let first = self.1.as_array().into_iter().flatten().filter_map(Value::as_str);
                let first: Vec<&str> = first.filter(|key| members.contains_key(*key)).collect();
                let others = members.keys().map(String::as_str).filter(|key| !first.contains(key));
                for key in first.iter().copied().chain(others) {
                    let order = if key == "properties" { &self.0["required"] } else { none };
                    map.serialize_entry(key, &Ordered(&members[key], order))?;
                }
                map.end()
            }
            Value::Array(elements) => {
                let mut list = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    list.serialize_element(&Ordered(element, none))?;
                }
                list.end()
            }
            other => other.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests;

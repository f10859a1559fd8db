//! Schemas of types in the language of strict modes.
//!
//! Invariant: an object lists all its keys and allows no others, and nothing refers to anything.

use agent::action::Decision;
use schemars::schema_for;
use serde_json::{Map, Value, json};

/// Rewrites schemas.
pub(super) struct Closed<'a> {
    decision: Value,
    skills: Option<&'a [&'a str]>,
}

impl<'a> Closed<'a> {
    pub(super) fn new(skills: Option<&'a [&'a str]>) -> Self {
        Self { decision: schema_for!(Decision).to_value(), skills }
    }

    /// Every action: its type, its description and its payload, where that can be said.
    pub(super) fn actions(&self) -> impl Iterator<Item = (&str, &str, Value)> {
        let defs = &self.decision["$defs"];
        let variants = defs["Action"]["oneOf"].as_array().into_iter().flatten();
        variants.filter_map(move |variant| {
            let kind = variant["properties"]["type"]["const"].as_str()?;
            let payload = self.schema(&variant["properties"]["payload"], defs)?;
            Some((kind, variant["description"].as_str().unwrap_or_default(), payload))
        })
    }

    /// A change of the plan, or none.
    pub(super) fn plan_update(&self) -> Value {
        let defs = &self.decision["$defs"];
        let mut update = self.schema(&defs["PlanUpdate"], defs).unwrap_or_default();
        let step = self.schema(&defs["PlanStep"], defs).unwrap_or_default();
        let value = json!({"anyOf": [{"type": ["string", "null"]}, step]});
        let variants = update.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten();
        for change in variants.filter_map(|it| it.pointer_mut("/properties/ops/items")) {
            add(change, "value", value.clone());
        }
        json!({"anyOf": [update, {"type": "null"}]})
    }

    /// A schema with its own definitions.
    pub(super) fn root(&self, schema: &Value) -> Option<Value> {
        self.schema(schema, &schema["$defs"])
    }

    /// The schema rewritten; nothing where anything is allowed, which cannot be said.
    fn schema(&self, schema: &Value, defs: &Value) -> Option<Value> {
        let mut closed = if let Some(path) = schema["$ref"].as_str() {
            self.definition(path.strip_prefix("#/$defs/")?, defs)?
        } else if let Some(variants) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            self.variants(variants, defs)?
        } else {
            match &schema["type"] {
                Value::String(kind) if kind == "object" => self.members(schema, defs)?,
                Value::String(kind) if kind == "array" => {
                    json!({"type": "array", "items": self.schema(&schema["items"], defs)?})
                }
                Value::Null => return None,
                scalar => json!({"type": scalar}),
            }
        };
        for key in ["description", "enum"] {
            if !schema[key].is_null() {
                closed[key] = schema[key].clone();
            }
        }
        if !schema["const"].is_null() {
            closed["enum"] = json!([schema["const"]]);
        }
        Some(closed)
    }

    fn definition(&self, name: &str, defs: &Value) -> Option<Value> {
        let mut closed = self.schema(&defs[name], defs)?;
        if let ("SkillRef", Some(skills)) = (name, self.skills) {
            closed["properties"]["name"] = word(skills);
        }
        Some(closed)
    }

    /// One of several words is an `enum`, anything else is an `anyOf`.
    fn variants(&self, variants: &[Value], defs: &Value) -> Option<Value> {
        let words: Option<Vec<&str>> =
            variants.iter().map(|variant| variant["const"].as_str()).collect();
        if let Some(words) = words {
            return Some(word(&words));
        }
        let closed: Option<Vec<Value>> =
            variants.iter().map(|variant| self.schema(variant, defs)).collect();
        Some(json!({"anyOf": closed?}))
    }

    /// The required keys in their order, then the others: strict modes want them all, and what may be left out has a
    /// value that says so.
    fn members(&self, schema: &Value, defs: &Value) -> Option<Value> {
        let properties = schema["properties"].as_object()?;
        let required = schema["required"].as_array().into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let others = properties.keys().map(String::as_str).filter(|key| !required.contains(key));
        let all = required.iter().copied().chain(others);
        let closed = all.filter_map(|key| Some((key, self.schema(&properties[key], defs)?)));
        Some(object(closed.collect()))
    }
}

/// An object with these keys and no others.
pub(super) fn object(members: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = members.iter().map(|(key, _)| *key).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        members.into_iter().map(|(key, member)| (key.to_owned(), member)).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Adds a key to an object.
pub(super) fn add(object: &mut Value, key: &str, member: Value) {
    object["properties"][key] = member;
    object
        .get_mut("required")
        .and_then(Value::as_array_mut)
        .into_iter()
        .for_each(|required| required.push(key.into()));
}

/// One of these words.
pub(super) fn word(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

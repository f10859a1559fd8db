//! JSON whose form the protocol leaves to the model.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// JSON as a model wrote it: kept, and read only where a type says how.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Freeform(Value);

impl Freeform {
    /// Something as JSON.
    pub fn of(something: &impl Serialize) -> Self {
        Self(serde_json::to_value(something).unwrap_or_default())
    }

    /// What it says, in a form of ours.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(&self.0)
    }

    /// The same with a field, where it is an object that lacks it.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut json = self.0.clone();
        if let Value::Object(fields) = &mut json {
            fields.entry(name).or_insert_with(|| value.into());
        }
        Self(json)
    }
}

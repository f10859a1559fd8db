//! One skill in the index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::metadata::{Controls, Diagnostic, Meta};
use crate::roots::{Root, Source};
use crate::scan::{Found, Link};

/// What is known of a skill without reading its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Where it comes from.
    pub source: Source,
    /// The skill's folder.
    pub path: PathBuf,
    /// What may be done with it.
    pub controls: Controls,
    /// Further facts.
    pub meta: Meta,
    /// Whether it may be used.
    pub trusted: bool,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
    /// Links out of the root on the way to it.
    pub links: Vec<Link>,
    /// The real folder of its root when the index was built.
    pub(crate) root: Arc<Path>,
}

impl Entry {
    /// A skill that is not trusted yet.
    pub(super) fn new(root: &Root, real: &Arc<Path>, found: Found) -> Self {
        let Found { folder, metadata, links, .. } = found;
        Self {
            name: metadata.name,
            description: metadata.description,
            source: root.source,
            path: root.join(&folder),
            controls: metadata.controls,
            meta: metadata.meta,
            trusted: false,
            diagnostics: metadata.diagnostics,
            links,
            root: Arc::clone(real),
        }
    }

    /// Source, name and version in one word: `project/pdf-form-filler@1.0.0`.
    pub fn id(&self) -> String {
        match &self.meta.version {
            Some(version) => format!("{}/{}@{version}", self.source, self.name),
            None => format!("{}/{}", self.source, self.name),
        }
    }

    /// Whether the model may be shown this skill, as far as the skill itself and trust decide.
    pub fn is_offered(&self) -> bool {
        self.trusted && !self.controls.disable_model_invocation
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        EntryJson {
            controls: &self.controls,
            description: &self.description,
            diagnostics: &self.diagnostics,
            id: self.id(),
            links: &self.links,
            meta: &self.meta,
            name: &self.name,
            path: self.path.to_string_lossy(),
            source: self.source,
            trusted: self.trusted,
        }
        .serialize(serializer)
    }
}

impl JsonSchema for Entry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        EntryJson::json_schema(generator)
    }
}

/// A skill in the index.
// The fields are in alphabetical order, here and in the types they hold: serialized without white
// space this is canonical JSON, which the index hash is made of.
#[derive(Serialize, JsonSchema)]
struct EntryJson<'a> {
    controls: &'a Controls,
    description: &'a str,
    diagnostics: &'a [Diagnostic],
    id: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    links: &'a [Link],
    meta: &'a Meta,
    name: &'a str,
    path: std::borrow::Cow<'a, str>,
    source: Source,
    trusted: bool,
}

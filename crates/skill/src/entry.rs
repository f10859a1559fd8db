//! One skill in the index.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basics::skill::{Diagnostic, Source};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::content_hash::ContentHash;
use crate::discover::{Found, Link};
use crate::metadata::{Controls, Meta};
use crate::roots::Root;

/// What stands before the name of a project's skill in rules.
const PROJECT: &str = "project:";

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
    /// Why it waits for trust, where it does.
    pub waiting: Option<Waiting>,
    /// What everything in it must amount to, where trust is bound to that.
    pub(crate) trusted_content: Option<ContentHash>,
    /// The real folder of its root when the index was built.
    pub(crate) root: Arc<Path>,
}

/// Why a skill of a project waits for trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The user never looked at it.
    New,
    /// It says something else about itself than when the user looked.
    Changed,
    /// An earlier version of this program trusted it, without looking at everything that it holds.
    Earlier,
}

impl Waiting {
    /// Why it waits, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::New => "you have not trusted it yet",
            Self::Changed => "it has changed since you trusted it",
            Self::Earlier => {
                "you trusted it with an earlier version, which did not check all files"
            }
        }
    }
}

/// What trust says of one skill.
pub(crate) enum Verdict {
    /// It may be used, as long as it holds what this stands for, where there is something.
    Trusted(Option<ContentHash>),
    Waits(Waiting),
}

impl Entry {
    /// A skill that is not trusted yet.
    pub(crate) fn new(root: &Root, real: &Arc<Path>, found: Found) -> Self {
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
            waiting: Some(Waiting::New),
            trusted_content: None,
            root: Arc::clone(real),
        }
    }

    /// The same skill as trust has it.
    pub(crate) fn judge(&mut self, verdict: Verdict) {
        (self.waiting, self.trusted_content) = match verdict {
            Verdict::Trusted(content) => (None, content),
            Verdict::Waits(waiting) => (Some(waiting), None),
        };
        self.trusted = self.waiting.is_none();
    }

    /// What rules call it: its name, with `project:` in front where a project brought it. What is allowed for a
    /// name of the user's own skills is not allowed for a stranger's.
    pub fn rule_name(&self) -> Cow<'_, str> {
        match (self.source, self.name.strip_prefix(PROJECT)) {
            (Source::Project, _) => format!("{PROJECT}{}", self.name).into(),
            // Not a project's skill, whatever it calls itself.
            (_, Some(rest)) => format!("project%3A{rest}").into(),
            (_, None) => self.name.as_str().into(),
        }
    }

    /// What rules call a file of it: what they call the skill, a slash and the path. A slash in the name is `%2F`
    /// there: `acme/*` is about the files of `acme`, and never about those of a skill `acme/deploy`.
    pub fn rule_path(&self, path: &str) -> String {
        let encode = |name: &str| name.replace('%', "%25").replace('/', "%2F");
        match (self.source, self.name.strip_prefix(PROJECT)) {
            (Source::Project, _) => format!("{PROJECT}{}/{path}", encode(&self.name)),
            (_, Some(rest)) => format!("project%3A{}/{path}", encode(rest)),
            (_, None) => format!("{}/{path}", encode(&self.name)),
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
    fn schema_name() -> Cow<'static, str> {
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
    path: Cow<'a, str>,
    source: Source,
    trusted: bool,
}

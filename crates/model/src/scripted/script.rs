//! The file of a scripted model, and what can be wrong with it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use agent::action::Action;
use agent::plan::PlanUpdate;
use basics::failure::{Exit, Explain};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use super::Play;
use crate::decision::{self, Problem};

/// What a scripted model replies, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// One for each call of the model; a call that failed and may be tried again is one, too.
    pub turns: Vec<Turn>,
    /// Turns of the child runs of skills with `run-mode: subagent`, by the skill's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subagents: BTreeMap<String, Vec<Turn>>,
    /// How the text is handed over.
    #[serde(default)]
    pub streaming: Streaming,
}

/// One reply: an action, or any text; and what goes wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Action>")]
    pub action: Option<Value>,
    /// How the plan changes; only with an action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlanUpdate>")]
    pub plan_update: Option<Value>,
    /// Whatever else is said; only with an action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Value>,
    /// The reply as it is, valid or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What goes wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// Something that goes wrong with a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// It comes late.
    Delay {
        /// How late.
        milliseconds: u64,
    },
    /// It breaks off: the call has failed, and the next turn is what the next try gets.
    CutStream {
        /// After how much.
        #[serde(default)]
        after_bytes: usize,
    },
    /// It lacks its last character, or is an open brace where there is nothing to damage.
    BadJson,
    /// The provider refuses. Where that may pass (408, 429, 5xx), the next turn is what the next try gets.
    HttpError {
        /// With this status.
        status: u16,
        /// And these words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Seconds that it wants to be left alone, as in `Retry-After`. Nobody really waits for a script.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
}

/// How a text is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Streaming {
    /// In pieces, or all at once.
    pub enabled: bool,
    /// Bytes of a piece, which may end inside a character.
    pub chunk_bytes: NonZeroUsize,
}

impl Default for Streaming {
    fn default() -> Self {
        Self { enabled: false, chunk_bytes: NonZeroUsize::MIN.saturating_add(15) }
    }
}

/// Why a script cannot be played.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ScriptError {
    /// It is not JSON.
    #[error("the script is not JSON: {reason}")]
    Syntax {
        /// Why, with line and column.
        reason: String,
    },
    /// It is JSON of another form.
    #[error("`{path}` in the script: {reason}")]
    Form {
        /// Where.
        path: String,
        /// What is wrong, with line and column where they are known.
        reason: String,
    },
    /// The action of a turn is none.
    #[error("`{path}` in the script is not a decision: {problem}")]
    Decision {
        /// Which turn.
        path: String,
        /// What is wrong.
        problem: Problem,
    },
    /// It cannot be known what a turn replies.
    #[error("`{path}` in the script {problem}")]
    Turn {
        /// Which turn.
        path: String,
        /// What is wrong.
        problem: &'static str,
    },
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let script = Self::read(&mut json)?;
        json.end().map_err(|error| ScriptError::Syntax { reason: error.to_string() })?;
        Ok(script)
    }

    /// Reads a script that is a part of something else.
    pub fn from_value(value: &Value) -> Result<Self, ScriptError> {
        Self::read(value)
    }

    fn read<'de>(
        deserializer: impl Deserializer<'de, Error = serde_json::Error>,
    ) -> Result<Self, ScriptError> {
        serde_path_to_error::deserialize(deserializer).map_err(|error| {
            let path = error.path().to_string();
            let (reason, is_data) = (error.inner().to_string(), error.inner().is_data());
            if is_data {
                ScriptError::Form { path, reason }
            } else {
                ScriptError::Syntax { reason }
            }
        })
    }
}

impl Play {
    pub(super) fn new(turn: &Turn, path: String) -> Result<Self, ScriptError> {
        let refused = |problem| Err(ScriptError::Turn { path: path.clone(), problem });
        let mut text = match (&turn.action, &turn.text, &turn.fault) {
            (Some(_), Some(_), _) => return refused("has both an `action` and a `text`"),
            (Some(_), None, _) => write_out(turn, &path)?,
            (None, ..) if turn.plan_update.is_some() || turn.diagnostics.is_some() => {
                return refused("has more than an `action`");
            }
            (None, Some(text), _) => text.clone(),
            (None, None, None | Some(Fault::Delay { .. })) => return refused("replies nothing"),
            (None, None, Some(_)) => "{}".to_owned(),
        };
        if turn.fault == Some(Fault::BadJson) {
            text.pop();
        }
        Ok(Self { text, fault: turn.fault.clone() })
    }
}

/// The text of a turn's decision, which must be right: a misspelt type would otherwise pass for a fault on purpose.
fn write_out(turn: &Turn, path: &str) -> Result<String, ScriptError> {
    let parts = [
        ("action", &turn.action),
        ("plan_update", &turn.plan_update),
        ("diagnostics", &turn.diagnostics),
    ];
    let parts = parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part.clone()?)));
    let object: Map<String, Value> = parts.collect();
    let understood = decision::from_object(object)
        .map_err(|problem| ScriptError::Decision { path: path.to_owned(), problem })?;
    match understood.plan_problem {
        Some(reason) => Err(ScriptError::Form { path: format!("{path}.plan_update"), reason }),
        None => Ok(decision::text_of(&understood.decision)),
    }
}

impl Explain for ScriptError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn code(&self) -> &'static str {
        "InvalidScript"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Syntax { .. } | Self::Form { .. } => {
                "write {\"turns\": [{\"action\": {…}} or {\"text\": \"…\"}, with a \"fault\" or not], \"streaming\": {\"enabled\": true, \"chunk_bytes\": 12}}".to_owned()
            }
            Self::Decision { problem, .. } => {
                format!("{}; use `text` for a reply that should be wrong", problem.hint())
            }
            Self::Turn { .. } => {
                "give it an `action` or a `text`; `http_error`, `bad_json` and `cut_stream` can do without"
                    .to_owned()
            }
        }
        .into()
    }
}

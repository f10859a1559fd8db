//! What one place says, a file or a variable, and what can be wrong with it.

use basics::failure::{Exit, Explain};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use state::{Cause, StateError};

use super::layers::{closest, known_keys, leaves};
use super::position::Position;
use super::rules::RuleSet;
use super::{Config, Origin, model};

/// What one place says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) origin: Origin,
    pub(super) settings: Value,
    text: String,
}

/// A project comes from strangers, and so does its file.
const LARGEST: u64 = 1_000_000;

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Something else is in the file's place.
    #[error("`{}` is not a regular file of at most {LARGEST} bytes", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
    },
    /// A link is in its place or on the way to it, or something that is no file.
    #[error(transparent)]
    Unsafe(StateError),
    /// A file is not JSON.
    #[error("`{}` is not valid JSON: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file is not text.
    #[error("`{}` is not UTF-8 in line {line}", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
    },
    /// There is no such setting.
    #[error("unknown setting `{key}` in {place}")]
    UnknownKey {
        /// Its name.
        key: String,
        /// Where it stands.
        place: Position,
        /// What may be meant.
        suggestion: Option<String>,
    },
    /// A setting has a value it cannot have.
    #[error("`{key}` in {place}: {reason}")]
    Value {
        /// Its name.
        key: String,
        /// Where it stands.
        place: Position,
        /// What is wrong.
        reason: String,
    },
}

impl Explain for ConfigError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unsafe(error) => error.exit(),
            _ => Exit::Usage,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Unsafe(error) => error.code(),
            _ => "InvalidConfiguration",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Unsafe(error) => Explain::hint(error),
            Self::Read { .. } => "check the file's permissions".into(),
            Self::Unfit { .. } => "remove it; `skillful config init` writes a new one".into(),
            Self::Encoding { .. } => "save it as UTF-8".into(),
            Self::Syntax { .. } => "fix the file; comments are allowed".into(),
            Self::UnknownKey { suggestion: Some(key), .. } => {
                format!("did you mean `{key}`?").into()
            }
            Self::UnknownKey { .. } | Self::Value { .. } => {
                "`skillful schema config` describes every setting".into()
            }
        }
    }
}

impl Said {
    /// What a file says; nothing where there is none, or nothing in it.
    pub(super) fn in_file(origin: &Origin) -> Result<Option<Self>, ConfigError> {
        let (Origin::Project(path) | Origin::User(path)) = origin else { return Ok(None) };
        let read = if matches!(origin, Origin::Project(_)) { read_state } else { read };
        let Some(text) = read(path)? else { return Ok(None) };
        let syntax = |reason: String| ConfigError::Syntax { path: path.to_owned(), reason };
        let mut settings = match jsonc_parser::parse_to_serde_value(&text, &Default::default()) {
            Ok(Value::Null) => return Ok(None),
            Ok(settings @ Value::Object(_)) => settings,
            Ok(_) => return Err(syntax("settings must be an object, as in `{}`".to_owned())),
            Err(error) => return Err(syntax(error.to_string())),
        };
        model::spell_out(&mut settings);
        Ok(Some(Self { origin: origin.clone(), settings, text }))
    }

    /// What a variable says about the setting `key`: JSON, or else text.
    pub(super) fn in_variable(key: &str, name: String, text: String) -> Self {
        let (value, text) = match serde_json::from_str(&text) {
            Ok(value) => (value, text),
            Err(_) => (Value::String(text), String::new()),
        };
        let nest =
            |value, part: &str| Value::Object([(part.to_owned(), value)].into_iter().collect());
        let mut settings = key.rsplit('.').fold(value, nest);
        model::spell_out(&mut settings);
        Self { origin: Origin::Environment(name), settings, text: format!("{{\"{key}\": {text}}}") }
    }

    /// The settings alone, if they can be.
    pub(super) fn check(&self) -> Result<Config, ConfigError> {
        let known = known_keys();
        let unknown = |key: String, names: &mut dyn Iterator<Item = &str>| {
            let suggestion = closest(&key, names);
            ConfigError::UnknownKey { place: self.place(&key), suggestion, key }
        };
        for (key, _) in leaves(&self.settings) {
            let is_known = |known: &String| *known == key || key.starts_with(&format!("{known}."));
            if !known.iter().any(is_known) {
                return Err(unknown(key, &mut known.iter().map(String::as_str)));
            }
        }
        // A section without settings has no leaves.
        let mut sections = known.iter().map(|key| key.split('.').next().unwrap_or(key));
        for (key, _) in self.settings.as_object().into_iter().flatten() {
            if !sections.clone().any(|section| section == key) {
                return Err(unknown(key.clone(), &mut sections));
            }
        }
        serde_path_to_error::deserialize(&self.settings).map_err(|error| {
            self.wrong(&error.path().to_string(), in_plain_words(&error.inner().to_string()))
        })
    }

    /// The rules, in their order.
    pub(super) fn rules(&self) -> Result<RuleSet, ConfigError> {
        if ["permissions", "profiles"].iter().all(|key| self.settings.get(key).is_none()) {
            return Ok(RuleSet::default());
        }
        // The settings have lost the order, but not what is wrong.
        serde_path_to_error::deserialize::<_, RuleSet>(&self.settings)
            .map_err(|error| self.wrong(&error.path().to_string(), error.inner().to_string()))?;
        jsonc_parser::parse_to_serde_value(&self.text, &Default::default())
            .map_err(|error| self.wrong("permissions", error.to_string()))
    }

    /// The error for a value that cannot be.
    pub(super) fn wrong(&self, key: &str, reason: String) -> ConfigError {
        ConfigError::Value { key: key.to_owned(), place: self.place(key), reason }
    }

    fn place(&self, key: &str) -> Position {
        Position::of(&self.origin, &self.text, key)
    }
}

fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let cannot_read = |source| ConfigError::Read { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= LARGEST => {}
        Ok(_) => return Err(ConfigError::Unfit { path: path.to_owned() }),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(cannot_read(error)),
    }
    let bytes = std::fs::read(path).map_err(cannot_read)?;
    decode(path, bytes).map(Some)
}

/// The same of a project's file: a link in its place would show what lies elsewhere.
fn read_state(path: &Path) -> Result<Option<String>, ConfigError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default();
    let bytes = state::Folder::open(folder).and_then(|folder| folder.read_shared(name, LARGEST));
    match bytes {
        Ok(bytes) => decode(path, bytes).map(Some),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(match error.cause {
            Cause::Io(source) => ConfigError::Read { path: path.to_owned(), source },
            Cause::NotAFolder => return Ok(None),
            _ => ConfigError::Unsafe(error),
        }),
    }
}

fn decode(path: &Path, bytes: Vec<u8>) -> Result<String, ConfigError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        ConfigError::Encoding { path: path.to_owned(), line }
    })
}

/// A user need not know how this program calls its numbers.
fn in_plain_words(reason: &str) -> String {
    ["usize", "u64", "u32"].iter().fold(reason.to_owned(), |reason, name| {
        reason.replace(&format!("expected {name}"), "expected a whole number, 0 or more")
    })
}

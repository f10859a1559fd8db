//! Settings from several places, the later over the earlier: project, user, environment.
//!
//! What a user says comes after what a cloned repository says. In addition a project's file may only
//! tighten what protects the user.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tools::permission::Rules;

use super::{Config, Origin, model, project};

/// Merged settings, and where each comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    pub(crate) config: Config,
    /// By dotted key; a key that is not here has its default.
    pub(crate) origins: BTreeMap<String, Origin>,
    /// Folders that the project's own file names; they are trusted no more than the project is.
    pub(crate) project_roots: Vec<PathBuf>,
    /// Folders that the user names.
    pub(crate) user_roots: Vec<PathBuf>,
    /// The user's rules.
    pub(crate) user_rules: RuleSet,
    /// The project's rules, which only tighten.
    pub(crate) project_rules: RuleSet,
    /// Tools that ask whatever the rules allow: everybody's wish counts.
    pub(crate) required_approval: Rules,
    /// What was ignored, and why.
    pub(crate) warnings: Vec<String>,
}

/// Rules of one file. Their order matters, so they are read straight from the text.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct RuleSet {
    pub(crate) permissions: Rules,
    pub(crate) profiles: BTreeMap<String, Rules>,
}

/// A project comes from strangers, and so does its file.
const LARGEST: u64 = 1_000_000;

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// Something else is in the file's place.
    #[error("`{}` is not a regular file of at most {LARGEST} bytes", path.display())]
    Unfit { path: PathBuf },
    /// A file is not JSON.
    #[error("`{}` is not valid JSON: {reason}", path.display())]
    Syntax { path: PathBuf, reason: String },
    /// There is no such setting.
    #[error("unknown setting `{key}` in {origin}")]
    UnknownKey { key: String, origin: Origin, suggestion: Option<String> },
    /// A setting has a value it cannot have.
    #[error("`{key}` in {origin}: {reason}")]
    Value { key: String, origin: Origin, reason: String },
}

impl ConfigError {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Read { .. } => "check the file's permissions".to_owned(),
            Self::Unfit { .. } => "remove it; `skillful config init` writes a new one".to_owned(),
            Self::Syntax { .. } => "correct the file; comments are allowed".to_owned(),
            Self::UnknownKey { suggestion: Some(key), .. } => format!("did you mean `{key}`?"),
            Self::UnknownKey { .. } | Self::Value { .. } => {
                "`skillful schema config` describes every setting".to_owned()
            }
        }
    }
}

impl Layers {
    /// Reads the file of the project in `folder`, the user's file and the environment.
    pub(crate) fn read(
        folder: &Path,
        home: Option<&Path>,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        let mut merged = Value::Object(Map::new());
        let project_file = folder.join(".agent/config.json");
        let user_file = home.map(|home| home.join(".agent/config.json"));
        // In the home directory both are the same file, and it is the user's.
        if user_file.as_ref() != Some(&project_file)
            && let Some((mut value, rules)) = read_file(&project_file)?
        {
            layers.project_rules = rules;
            let origin = |_: &str| Origin::Project(project_file.clone());
            model::spell_out(&mut value);
            // What is wrong is told, and not only ignored.
            check(&value, &origin)?;
            layers.warnings = project::restrict(&mut value);
            layers.project_roots = roots(&value, folder, home);
            layers.add(&mut merged, value, &origin)?;
        }
        if let Some(file) = user_file
            && let Some((value, rules)) = read_file(&file)?
        {
            layers.user_rules = rules;
            layers.user_roots = roots(&value, home.unwrap_or(folder), home);
            layers.add(&mut merged, value, &|_| Origin::User(file.clone()))?;
        }
        for (key, name, value) in variables(environment) {
            let mut nested = value;
            for part in key.rsplit('.') {
                nested = Value::Object(Map::from_iter([(part.to_owned(), nested)]));
            }
            layers.add(&mut merged, nested, &|_| Origin::Environment(name.clone()))?;
        }
        layers.config = serde_json::from_value(merged).unwrap_or_default();
        Ok(layers)
    }

    /// Checks a layer, then lays it over the others.
    fn add(
        &mut self,
        merged: &mut Value,
        mut layer: Value,
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<(), ConfigError> {
        model::spell_out(&mut layer);
        let config = check(&layer, origin)?;
        for (key, _) in leaves(&layer) {
            let from = match self.origins.remove(&key) {
                Some(other) if key == REQUIRED_APPROVAL => other.and(origin(&key)),
                _ => origin(&key),
            };
            self.origins.insert(key, from);
        }
        let asked = config.execution.require_approval_for;
        let asked = Rules::asking(asked.iter().map(String::as_str)).map_err(|error| {
            let key = REQUIRED_APPROVAL.to_owned();
            ConfigError::Value { origin: origin(&key), reason: error.to_string(), key }
        })?;
        self.required_approval.0.extend(asked.0);
        unite(merged, &mut layer);
        model::leave_server(merged, &layer);
        merge(merged, layer);
        Ok(())
    }
}

/// The settings of one layer alone, if they can be.
fn check(layer: &Value, origin: &dyn Fn(&str) -> Origin) -> Result<Config, ConfigError> {
    let known = known_keys();
    for (key, _) in leaves(layer) {
        let is_known = |known: &String| *known == key || key.starts_with(&format!("{known}."));
        if !known.iter().any(is_known) {
            let suggestion = closest(&key, known.iter().map(String::as_str));
            return Err(ConfigError::UnknownKey { origin: origin(&key), suggestion, key });
        }
    }
    serde_path_to_error::deserialize(layer).map_err(|error| {
        let key = error.path().to_string();
        let reason = in_plain_words(&error.inner().to_string());
        ConfigError::Value { origin: origin(&key), reason, key }
    })
}

/// A user need not know how this program calls its numbers.
fn in_plain_words(reason: &str) -> String {
    ["usize", "u64"].iter().fold(reason.to_owned(), |reason, name| {
        reason.replace(&format!("expected {name}"), "expected a whole number, 0 or more")
    })
}

fn read_file(path: &Path) -> Result<Option<(Value, RuleSet)>, ConfigError> {
    let cannot_read = |source| ConfigError::Read { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= LARGEST => {}
        Ok(_) => return Err(ConfigError::Unfit { path: path.to_owned() }),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(cannot_read(error)),
    }
    let text = std::fs::read_to_string(path).map_err(cannot_read)?;
    let syntax = |reason: String| ConfigError::Syntax { path: path.to_owned(), reason };
    match jsonc_parser::parse_to_serde_value(&text, &Default::default()) {
        Ok(Value::Null) => Ok(None),
        Ok(value @ Value::Object(_)) => {
            let rules = jsonc_parser::parse_to_serde_value(&text, &Default::default());
            Ok(Some((value, rules.map_err(|error| syntax(error.to_string()))?)))
        }
        Ok(_) => Err(syntax("settings are an object, as in `{}`".to_owned())),
        Err(error) => Err(syntax(error.to_string())),
    }
}

/// `skill_roots` as folders; relative ones start at `base`.
fn roots(value: &Value, base: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let listed = value.get("skill_roots").and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|path| expand(path, base, home))
        .collect()
}

/// `path` as an absolute one, with `~` for the home directory.
pub(crate) fn expand(path: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => base.join(path),
    }
}

/// `SKILLFUL_CATALOG_MAX_CHARS=4000` sets `catalog.max_chars`.
fn variables(environment: &[(OsString, OsString)]) -> Vec<(String, String, Value)> {
    let find = |name: &str| {
        let set =
            |(key, value): &&(OsString, OsString)| key == OsStr::new(name) && !value.is_empty();
        environment.iter().find(set).map(|(_, value)| value)
    };
    variable_names()
        .into_iter()
        .filter_map(|(key, name)| {
            let text = find(&name)?.to_string_lossy().into_owned();
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            Some((key, name, value))
        })
        .collect()
}

/// Settings that a variable can give, with its name. `model` itself comes first, so that others can add to it.
pub(crate) fn variable_names() -> Vec<(String, String)> {
    let name = |key: &str| format!("SKILLFUL_{}", key.replace('.', "_").to_uppercase());
    let keys = std::iter::once("model".to_owned()).chain(known_keys());
    // Folders come as a list of paths in SKILLFUL_ROOTS.
    keys.filter(|key| key != "skill_roots").map(|key| (key.clone(), name(&key))).collect()
}

/// Settings whose own keys the user chooses.
const OPEN: [&str; 6] = [
    "execution.interpreters",
    "model.headers",
    "model.params",
    "model.prices",
    "permissions",
    "profiles",
];

/// Every setting by its dotted key.
pub(crate) fn known_keys() -> Vec<String> {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let fixed = leaves(&defaults).into_iter().map(|(key, _)| key);
    fixed.chain(OPEN.map(str::to_owned)).collect()
}

/// Values that are not objects, by their dotted keys.
pub(crate) fn leaves(value: &Value) -> Vec<(String, &Value)> {
    let Value::Object(map) = value else { return vec![(String::new(), value)] };
    map.iter()
        .flat_map(|(key, value)| {
            leaves(value).into_iter().map(move |(rest, leaf)| {
                (if rest.is_empty() { key.clone() } else { format!("{key}.{rest}") }, leaf)
            })
        })
        .collect()
}

/// The one list that later places add to and do not replace: nobody can take back what another wants to be asked.
const REQUIRED_APPROVAL: &str = "execution.require_approval_for";

fn unite(below: &Value, above: &mut Value) {
    let pointer = "/execution/require_approval_for";
    let known = below.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Array(list)) = above.pointer_mut(pointer) else { return };
    list.retain(|tool| !known.contains(tool));
    list.splice(0..0, known);
}

fn merge(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                merge(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

/// The name most like `name`, if any is like it.
pub(crate) fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

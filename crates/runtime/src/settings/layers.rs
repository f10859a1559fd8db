//! Settings from several places, the later over the earlier: project, user, environment.
//!
//! What a user says comes after what a cloned repository says. In addition a project's file may only
//! tighten what protects the user.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use permission::{Mode, Rules};
use serde_json::{Map, Value};

use super::project::Objection;
use super::rules::{self, RuleSet};
use super::said::{ConfigError, Said};
use super::{Config, Origin, model, project};

/// Merged settings, and where each comes from.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// What counts, all layers taken together.
    pub config: Config,
    /// By dotted key; a key that is not here has its default.
    pub origins: BTreeMap<String, Origin>,
    /// Folders that the project's own file names; they are trusted no more than the project is.
    pub project_roots: Vec<PathBuf>,
    /// Folders that the user names.
    pub user_roots: Vec<PathBuf>,
    /// What the user says, in a file and in the environment, without rules and without the project's word.
    pub(super) own: Value,
    /// The user's rules.
    pub user_rules: RuleSet,
    /// Rules of the environment, which come after the user's.
    pub environment_rules: RuleSet,
    /// The project's rules, which only tighten.
    pub project_rules: RuleSet,
    /// Tools that ask whatever the rules allow: everybody's wish counts.
    pub required_approval: Rules,
    /// What was ignored, and why.
    pub warnings: Vec<String>,
    project_mode: Option<Mode>,
}

impl Layers {
    /// Reads the file of the project in `folder`, the user's file and the environment. `given` is read in place of the
    /// project's file.
    pub fn read(
        folder: &Path,
        given: Option<&Path>,
        home: Option<&Path>,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, ConfigError> {
        let mut layers = Self { own: Value::Object(Map::new()), ..Self::default() };
        let mut merged = Value::Object(Map::new());
        let project_file = given.map_or_else(|| folder.join(".agent/config.json"), Path::to_owned);
        let user_file = home.map(|home| home.join(".agent/config.json"));
        // In the home directory both are the same file, and it is the user's.
        let is_users = user_file.as_ref() == Some(&project_file);
        let project = Origin::Project(project_file);
        if !is_users && let Some(mut said) = Said::in_file(&project)? {
            // What is wrong is told, and not only ignored.
            said.check()?;
            let ignored = project::restrict(&mut said.settings);
            layers.warnings = ignored.iter().map(Objection::warning).collect();
            layers.project_roots = roots(&said.settings, folder, home);
            layers.leave_out_wide_roots(folder, home);
            layers.project_rules = said.rules()?;
            layers.project_mode = said
                .settings
                .get("mode")
                .and_then(|mode| serde_json::from_value(mode.clone()).ok());
            layers.add(&mut merged, said)?;
        }
        let mut own_rules = Vec::new();
        if let Some(file) = user_file
            && let Some(said) = Said::in_file(&Origin::User(file))?
        {
            layers.user_roots = roots(&said.settings, home.unwrap_or(folder), home);
            layers.user_rules = said.rules()?;
            own_rules.push((said.origin.clone(), layers.user_rules.clone()));
            lay_over(&mut layers.own, said.settings.clone());
            layers.add(&mut merged, said)?;
        }
        for said in variables(environment) {
            let rules = said.rules()?;
            layers.environment_rules.extend(rules.clone());
            own_rules.push((said.origin.clone(), rules));
            lay_over(&mut layers.own, said.settings.clone());
            layers.add(&mut merged, said)?;
        }
        layers.add_rules(&mut merged, &own_rules, &project);
        layers.config = serde_json::from_value(merged).unwrap_or_default();
        let own = layers.own.get("mode").and_then(|mode| serde_json::from_value(mode.clone()).ok());
        layers.config.mode = layers.mode_with(own.unwrap_or_default());
        Ok(layers)
    }

    /// The mode that counts where the user wants this one: a project may only make it stricter.
    pub fn mode_with(&self, own: Mode) -> Mode {
        self.project_mode.map_or(own, |project| own.stricter(project))
    }

    /// A stranger's file must not have the user's whole disk searched.
    fn leave_out_wide_roots(&mut self, folder: &Path, home: Option<&Path>) {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (folder, home) = (real(folder), home.map(real));
        let is_wide = |root: &mut PathBuf| {
            let root = real(root);
            let holds_home = home.as_ref().is_some_and(|home| home.starts_with(&root));
            holds_home || (folder.starts_with(&root) && folder != root)
        };
        for root in self.project_roots.extract_if(.., is_wide) {
            let what = format!("skill_roots: {}", Value::from(root.display().to_string()));
            let why = "it contains more than the project; use the skill folder itself".to_owned();
            self.warnings.push(Objection { what, why }.warning());
        }
    }

    /// Checks what a place says, then lays it over the others.
    fn add(&mut self, merged: &mut Value, mut said: Said) -> Result<(), ConfigError> {
        let config = said.check()?;
        let asked = config.execution.require_approval_for;
        let asked = Rules::asking(asked.iter().map(String::as_str))
            .map_err(|error| said.wrong(REQUIRED_APPROVAL, error.to_string()))?;
        self.required_approval.0.extend(asked.0);
        let Said { origin, settings: layer, .. } = &mut said;
        remove_rules(layer);
        let left = model::leave_server(merged, layer);
        let belongs = |key: &str, section: &str| {
            key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.origins.retain(|key, _| !left.iter().any(|section| belongs(key, section)));
        for (key, _) in leaves(layer) {
            let from = match self.origins.remove(&key) {
                Some(other) if key == REQUIRED_APPROVAL => other.and(origin.clone()),
                _ => origin.clone(),
            };
            self.origins.insert(key, from);
        }
        lay_over(merged, said.settings);
        Ok(())
    }

    /// Lays the rules of all places over each other as the engine does.
    fn add_rules(&mut self, merged: &mut Value, own: &[(Origin, RuleSet)], project: &Origin) {
        let others = [&self.user_rules, &self.environment_rules];
        let ignored = rules::restrict(&mut self.project_rules, &others);
        self.warnings.extend(ignored.iter().map(Objection::warning));
        let effective = rules::effective(own, (project, &self.project_rules));
        merged["permissions"] = Value::Object(effective.permissions);
        merged["profiles"] = Value::Object(effective.profiles);
        self.origins.extend(effective.origins);
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
pub fn expand(path: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => base.join(path),
    }
}

/// `SKILLFUL_CATALOG_MAX_CHARS=4000` sets `catalog.max_chars`.
fn variables(environment: &[(OsString, OsString)]) -> Vec<Said> {
    let find = |name: &str| {
        let set =
            |(key, value): &&(OsString, OsString)| key == OsStr::new(name) && !value.is_empty();
        environment.iter().find(set).map(|(_, value)| value)
    };
    let names = variable_names().into_iter();
    names
        .filter_map(|(key, name)| {
            let text = find(&name)?.to_string_lossy().into_owned();
            Some(Said::in_variable(&key, name, text))
        })
        .collect()
}

/// Settings that a variable can give, with its name. `model` itself comes first, so that others can add to it.
pub fn variable_names() -> Vec<(String, String)> {
    let keys = std::iter::once("model".to_owned()).chain(known_keys());
    // Folders come as a list of paths in SKILLFUL_ROOTS.
    keys.filter(|key| key != "skill_roots").map(|key| (key.clone(), variable_name(&key))).collect()
}

/// The variable that gives a setting.
pub(super) fn variable_name(key: &str) -> String {
    format!("SKILLFUL_{}", key.replace('.', "_").to_uppercase())
}

/// Settings whose own keys the user chooses.
const OPEN: [&str; 7] = [
    "execution.interpreters",
    "model.headers",
    "model.params",
    "model.prices",
    "permissions",
    "profiles",
    "registry.pin",
];

/// Every setting by its dotted key.
pub(super) fn known_keys() -> Vec<String> {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let fixed = leaves(&defaults).into_iter().map(|(key, _)| key);
    fixed.chain(OPEN.map(str::to_owned)).collect()
}

/// Values that are not objects, by their dotted keys.
pub fn leaves(value: &Value) -> Vec<(String, &Value)> {
    let Value::Object(map) = value else { return vec![(String::new(), value)] };
    map.iter()
        .flat_map(|(key, value)| {
            leaves(value).into_iter().map(move |(rest, leaf)| {
                (if rest.is_empty() { key.clone() } else { format!("{key}.{rest}") }, leaf)
            })
        })
        .collect()
}

/// Lays what a place says over what weaker ones say.
fn lay_over(below: &mut Value, mut above: Value) {
    remove_rules(&mut above);
    unite(below, &mut above);
    model::leave_server(below, &above);
    merge(below, above);
}

/// Rules are laid over each other otherwise, see `add_rules`.
fn remove_rules(settings: &mut Value) {
    if let Value::Object(settings) = settings {
        ["permissions", "profiles"].iter().for_each(|key| drop(settings.remove(*key)));
    }
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
pub fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

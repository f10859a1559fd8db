//! Settings: what can be set, and its defaults.
//!
//! The same types give the defaults, the JSON Schema, the list of known keys, and the environment
//! variables.

mod case;
mod evals;
mod layers;
mod model;
mod origin;
mod place;
mod project;
mod rules;
mod said;

#[cfg(test)]
mod tests;

use agent::budget::Budget;
use agent::setup::Patience;
use common::skill::{CatalogFormat, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::load::{Oversize, VerifyOnLoad};
use skill::metadata::Mode;

pub use case::objections;
pub use evals::EvalSettings;
pub use layers::{Layers, closest, expand, leaves, variable_names};
pub use model::{ModelSettings, Provider};
pub use origin::Origin;
pub use project::Objection;
pub use rules::RuleSet;
pub use said::ConfigError;

/// Settings of `.agent/config.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Further folders to search for skills, the strongest first.
    pub skill_roots: Vec<String>,
    /// How skills are found.
    pub registry: Registry,
    /// The list of skills a model is shown.
    pub catalog: CatalogSettings,
    /// What searching looks at.
    pub search: SearchSettings,
    /// What is refused or cut.
    pub security: Security,
    /// Whether a project's skills wait for the user's word.
    pub trust: TrustSettings,
    /// Who decides, and how it is reached; `"openai:NAME"` is short for its first two settings.
    pub model: ModelSettings,
    /// Whether bodies are shown from the start (`core`) or after selection (`metadata`).
    pub disclosure: Disclosure,
    /// How much a run may use.
    pub budget: Budget,
    /// How often something may go wrong in a run, and how much it may ask for at once.
    pub patience: Patience,
    /// How scripts run.
    pub execution: Execution,
    /// What the record of a run holds.
    pub audit: Audit,
    /// How packs are installed.
    pub install: Install,
    /// How evals are judged.
    pub eval: EvalSettings,
    /// What is allowed, asked or denied, by permission and pattern; the last match wins.
    pub permissions: serde_json::Map<String, serde_json::Value>,
    /// Named sets of permissions, chosen with `--profile`.
    pub profiles: serde_json::Map<String, serde_json::Value>,
}

/// When a model sees the bodies of skills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disclosure {
    /// Names and descriptions first, a body after selection.
    #[default]
    Metadata,
    /// All bodies from the start, as far as the budget reaches: for small sets.
    Core,
}

/// How scripts run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Execution {
    /// What happens where the kernel cannot contain a script.
    pub sandbox: Sandbox,
    /// Seconds a script may take.
    pub timeout_seconds: u64,
    /// Tools that ask before every use, whatever the rules allow; the lists of all places add up.
    pub require_approval_for: Vec<String>,
    /// Commands for further file extensions of scripts.
    pub interpreters: std::collections::BTreeMap<String, Vec<String>>,
    /// Arguments that a script may be called with.
    pub max_arguments: usize,
    /// Bytes of one argument.
    pub max_argument_bytes: usize,
    /// Hosts that network requests may reach.
    pub network_hosts: Vec<String>,
    /// Those of them that may have private, loopback or link-local addresses.
    pub private_hosts: Vec<String>,
}

impl Default for Execution {
    fn default() -> Self {
        let arguments = tools::script::ArgumentLimits::default();
        Self {
            sandbox: Sandbox::Required,
            timeout_seconds: tools::sandbox::Limits::default().time.as_secs(),
            require_approval_for: Vec::new(),
            interpreters: Default::default(),
            max_arguments: arguments.count,
            max_argument_bytes: arguments.bytes,
            network_hosts: Vec::new(),
            private_hosts: Vec::new(),
        }
    }
}

/// What happens where the kernel cannot contain a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// It does not run.
    #[default]
    Required,
    /// It runs contained as far as possible.
    BestEffort,
    /// It runs uncontained.
    Off,
}

/// What the record of a run holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// Further patterns (regular expressions) of secrets that are never written.
    pub redact: Vec<String>,
    /// Whether prompts and what the model wrote are recorded, not only their hash and size.
    pub store_prompts: bool,
}

/// How packs are installed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Install {
    /// Which packs must be signed: `never` any, `remote` ones, `always` all.
    pub require_signature: RequireSignature,
    /// What happens when a loaded file differs from what was installed: `warn`, `require` refuses it, `off`.
    pub verify_on_load: VerifyOnLoad,
    /// Files of a pack.
    pub max_entries: u64,
    /// Bytes of all files of a pack.
    pub max_bytes: u64,
    /// How many times larger a file may be than its compressed form.
    pub max_ratio: u64,
    /// Seconds that fetching a pack may take.
    pub timeout_seconds: u64,
}

impl Default for Install {
    fn default() -> Self {
        Self {
            require_signature: RequireSignature::Never,
            verify_on_load: VerifyOnLoad::default(),
            max_entries: 10_000,
            max_bytes: 100 << 20,
            max_ratio: 100,
            timeout_seconds: 300,
        }
    }
}

/// Which packs must be signed by a trusted key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequireSignature {
    /// None.
    #[default]
    Never,
    /// Those that come over the network.
    Remote,
    /// All.
    Always,
}

/// How skills are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Registry {
    /// The order of sources, the strongest first.
    pub precedence: Vec<Source>,
    /// Whether the folders of other clients are searched, too, such as `.claude` and `.codex`.
    pub compat: bool,
    /// Whether symbolic links are followed.
    pub follow_symlinks: bool,
    /// How deep grouping folders may nest.
    pub max_depth: usize,
    /// Folders looked at in one root.
    pub max_directories: usize,
    /// `strict`, or `lenient` to index skills with a flawed frontmatter, too.
    pub mode: Mode,
    /// Folders of skills that count before all others of their name, by name.
    pub pin: std::collections::BTreeMap<String, String>,
}

impl Default for Registry {
    fn default() -> Self {
        let scan = skill::scan::ScanOptions::default();
        Self {
            precedence: Source::ALL.to_vec(),
            compat: true,
            follow_symlinks: scan.follow_symlinks,
            max_depth: scan.depth,
            max_directories: scan.folders,
            mode: Mode::Strict,
            pin: Default::default(),
        }
    }
}

/// The list of skills a model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogSettings {
    /// How it is written: `lines`, `xml` or `json`.
    pub format: CatalogFormat,
    /// Characters it may take.
    pub max_chars: usize,
}

impl Default for CatalogSettings {
    fn default() -> Self {
        let limits = skill::offer::CatalogLimits::default();
        Self { format: limits.format, max_chars: limits.max_chars }
    }
}

/// What searching looks at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Whether the words of bodies count, too; `refresh`, `install` and `update` read them.
    pub bodies: bool,
}

/// What is refused or cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Security {
    /// Whether `<` or `>` in a name, description or `when_to_use` refuses the skill.
    pub block_angle_brackets_in_frontmatter: bool,
    /// Lines of a frontmatter.
    pub max_frontmatter_lines: usize,
    /// Characters of a frontmatter line.
    pub max_frontmatter_line_chars: usize,
    /// Nesting of frontmatter values.
    pub max_frontmatter_depth: usize,
    /// Lines of a body.
    pub max_skill_body_lines: usize,
    /// Characters of a body.
    pub max_skill_body_chars: usize,
    /// What happens to a longer body: `trim` or `reject`.
    pub oversize_skill_body: Oversize,
    /// Bytes of a file that is read as a resource.
    pub max_resource_file_bytes: u64,
    /// Characters of an excerpt.
    pub max_resource_excerpt_chars: usize,
    /// Files that the tools see although their names say that they hold secrets.
    pub visible_files: Vec<String>,
}

impl Default for Security {
    fn default() -> Self {
        let frontmatter = skill::frontmatter::Limits::default();
        let load = skill::load::Limits::default();
        Self {
            block_angle_brackets_in_frontmatter: true,
            max_frontmatter_lines: frontmatter.lines,
            max_frontmatter_line_chars: frontmatter.line_chars,
            max_frontmatter_depth: frontmatter.depth,
            max_skill_body_lines: load.body_lines,
            max_skill_body_chars: load.body_chars,
            oversize_skill_body: load.oversize,
            max_resource_file_bytes: load.file_bytes,
            max_resource_excerpt_chars: load.excerpt_chars,
            visible_files: Vec::new(),
        }
    }
}

/// Whether a project's skills wait for the user's word.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustSettings {
    /// `ask` hides a project's skills until `skillful trust project`; `all` is for CI.
    pub projects: ProjectTrust,
}

/// Which projects' skills may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProjectTrust {
    /// Those the user has trusted.
    #[default]
    Ask,
    /// All of them.
    All,
}

impl Config {
    /// How folders are searched for skills.
    pub fn scan_options(&self) -> skill::scan::ScanOptions {
        skill::scan::ScanOptions {
            read: self.read_options(),
            depth: self.registry.max_depth,
            folders: self.registry.max_directories,
            follow_symlinks: self.registry.follow_symlinks,
            ..Default::default()
        }
    }

    /// How frontmatter is read.
    pub fn read_options(&self) -> skill::metadata::ReadOptions {
        skill::metadata::ReadOptions {
            mode: self.registry.mode,
            block_angle_brackets: self.security.block_angle_brackets_in_frontmatter,
            limits: skill::frontmatter::Limits {
                lines: self.security.max_frontmatter_lines,
                line_chars: self.security.max_frontmatter_line_chars,
                depth: self.security.max_frontmatter_depth,
            },
        }
    }

    /// How much of a skill is handed over.
    pub fn load_limits(&self) -> skill::load::Limits {
        skill::load::Limits {
            body_lines: self.security.max_skill_body_lines,
            body_chars: self.security.max_skill_body_chars,
            oversize: self.security.oversize_skill_body,
            file_bytes: self.security.max_resource_file_bytes,
            excerpt_chars: self.security.max_resource_excerpt_chars,
            verify: self.install.verify_on_load,
        }
    }

    /// How the list of skills is written.
    pub fn catalog_limits(&self) -> skill::offer::CatalogLimits {
        skill::offer::CatalogLimits {
            format: self.catalog.format,
            max_chars: self.catalog.max_chars,
        }
    }

    /// What a script may be given.
    pub fn argument_limits(&self) -> tools::script::ArgumentLimits {
        tools::script::ArgumentLimits {
            count: self.execution.max_arguments,
            bytes: self.execution.max_argument_bytes,
        }
    }

    /// How scripts are contained.
    pub fn confinement(&self) -> tools::sandbox::Confinement {
        let mode = match self.execution.sandbox {
            Sandbox::Required => tools::sandbox::SandboxMode::Required,
            Sandbox::BestEffort => tools::sandbox::SandboxMode::BestEffort,
            Sandbox::Off => tools::sandbox::SandboxMode::Off,
        };
        let time = std::time::Duration::from_secs(self.execution.timeout_seconds);
        let limits = tools::sandbox::Limits { time, ..Default::default() };
        tools::sandbox::Confinement { limits, mode, ..Default::default() }
    }
}

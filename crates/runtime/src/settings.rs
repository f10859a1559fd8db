//! Settings: what can be set, and its defaults.
//!
//! The same types give the defaults, the JSON Schema, the list of known keys, and the environment
//! variables.

mod case;
mod evals;
mod layers;
mod model;
mod origin;
mod position;
mod project;
mod provider;
mod rules;
mod said;

#[cfg(test)]
mod tests;

use agent::budget::Budget;
use agent::changes::ApplyWhen;
use agent::setup::Patience;
use basics::skill::{CatalogFormat, Source};
use permission::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::load::{Oversize, VerifyOnLoad};
use skill::metadata::Mode as FrontmatterMode;

pub use case::objections;
pub use evals::EvalSettings;
pub use layers::{Layers, closest, expand, leaves, variable_names};
pub use model::ModelSettings;
pub use origin::Origin;
pub use project::Objection;
pub use provider::{Home, Provider};
pub use rules::RuleSet;
pub use said::ConfigError;

/// Settings of `.agent/config.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// More folders with skills; the first one wins.
    pub skill_roots: Vec<String>,
    /// How Skillful finds skills.
    pub registry: Registry,
    /// The list of skills that a model sees.
    pub catalog: CatalogSettings,
    /// How search works.
    pub search: SearchSettings,
    /// Limits for skills, and what is refused.
    pub security: Security,
    /// Whether you must trust a project's skills first.
    pub trust: TrustSettings,
    /// The model and its server; `"openai:NAME"` sets provider and name.
    pub model: ModelSettings,
    /// When a model sees the text of skills: after it chose one (`metadata`), or from the start (`core`).
    pub disclosure: Disclosure,
    /// How much is asked: `read-only`, `ask`, `contained` (scripts and commands run unasked while every wall stands) or `plan`.
    pub mode: Mode,
    /// What happens to the files that a run changed.
    pub changes: Changes,
    /// How much a run may use.
    pub budget: Budget,
    /// How many mistakes a run may make.
    pub patience: Patience,
    /// How scripts and commands run.
    pub execution: Execution,
    /// What the record of a run holds.
    pub audit: Audit,
    /// How packs are installed.
    pub install: Install,
    /// How evals are judged.
    pub eval: EvalSettings,
    /// What to allow, ask or deny, by permission and pattern; the last match wins.
    pub permissions: serde_json::Map<String, serde_json::Value>,
    /// Named sets of permissions, chosen with `--profile`.
    pub profiles: serde_json::Map<String, serde_json::Value>,
}

/// When a model sees the bodies of skills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disclosure {
    /// Names and descriptions first; the text of a skill after the model chose it.
    #[default]
    Metadata,
    /// The text of all skills from the start, up to half the context; for few skills.
    Core,
}

/// What happens to the files that a run changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Changes {
    /// When changes reach your files: after you saw them (`ask`), after each action (`auto`), or only with `skillful runs apply` (`keep`).
    pub apply: Apply,
}

/// When changes reach the user's files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Apply {
    /// You see them once, at the end.
    #[default]
    Ask,
    /// After each action, as far as no rule says otherwise.
    Auto,
    /// Only when you run `skillful runs apply`.
    Keep,
}

/// How scripts and commands run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Execution {
    /// What to do if the kernel cannot sandbox a script.
    pub sandbox: Sandbox,
    /// How many seconds a script or command may run.
    pub timeout_seconds: u64,
    /// Tools that always ask, even if a rule allows them; your list and the project's add up.
    pub require_approval_for: Vec<String>,
    /// Commands that run scripts, by file extension.
    pub interpreters: std::collections::BTreeMap<String, Vec<String>>,
    /// How many arguments a script may get.
    pub max_arguments: usize,
    /// How many bytes one argument may have.
    pub max_argument_bytes: usize,
    /// Hosts that the tool `network_request` may reach.
    pub network_hosts: Vec<String>,
    /// Allowed hosts that may have private, loopback or link-local addresses.
    pub private_hosts: Vec<String>,
    /// How many bytes of your folder may be copied for a run, where the kernel cannot put a layer over it.
    pub copy_bytes: u64,
    /// How many files a run may write.
    pub layer_files: u64,
    /// How many bytes a run may write.
    pub layer_bytes: u64,
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
            copy_bytes: 512 << 20,
            layer_files: 100_000,
            layer_bytes: 2 << 30,
        }
    }
}

/// What to do if the kernel cannot sandbox a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// The script does not run.
    #[default]
    Required,
    /// The script runs with the protection that is available.
    BestEffort,
    /// The script runs without a sandbox.
    Off,
}

/// What the record of a run holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// More patterns (regular expressions) of secrets to keep out of the record.
    pub redact: Vec<String>,
    /// Record the full prompts and replies, not only their hash and size.
    pub store_prompts: bool,
}

/// How packs are installed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Install {
    /// Which packs a trusted key must sign: none (`never`), those from the network (`remote`) or all (`always`).
    pub require_signature: RequireSignature,
    /// What to do if a file of an installed skill changed: warn (`warn`), refuse it (`require`) or not check (`off`).
    pub verify_on_load: VerifyOnLoad,
    /// How many files a pack may have.
    pub max_entries: u64,
    /// How many bytes all files of a pack may have.
    pub max_bytes: u64,
    /// How many times larger a file may be than its compressed form.
    pub max_ratio: u64,
    /// How many seconds a download may take.
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
    /// Packs from the network.
    Remote,
    /// All.
    Always,
}

/// How Skillful finds skills.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Registry {
    /// The order of sources; the first one wins.
    pub precedence: Vec<Source>,
    /// Also search the skill folders of other agents, such as `.claude` and `.codex`.
    pub compat: bool,
    /// Follow symbolic links.
    pub follow_symlinks: bool,
    /// How many levels of folders may be between a root and a skill.
    pub max_depth: usize,
    /// How many folders to search in one root.
    pub max_directories: usize,
    /// `strict`, or `lenient` to also accept skills with mistakes in the frontmatter.
    pub mode: FrontmatterMode,
    /// The skill folder to use for a name, if several skills have this name.
    pub pin: std::collections::BTreeMap<String, String>,
}

impl Default for Registry {
    fn default() -> Self {
        let scan = skill::discover::DiscoveryOptions::default();
        Self {
            precedence: Source::ALL.to_vec(),
            compat: true,
            follow_symlinks: scan.follow_symlinks,
            max_depth: scan.depth,
            max_directories: scan.folders,
            mode: FrontmatterMode::Strict,
            pin: Default::default(),
        }
    }
}

/// The list of skills that a model sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogSettings {
    /// The format of the list: `lines`, `xml` or `json`.
    pub format: CatalogFormat,
    /// How many characters the list may have.
    pub max_chars: usize,
}

impl Default for CatalogSettings {
    fn default() -> Self {
        let limits = skill::offer::CatalogLimits::default();
        Self { format: limits.format, max_chars: limits.max_chars }
    }
}

/// How search works.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Also search the text of skills; `refresh`, `install` and `update` read it.
    pub bodies: bool,
}

/// Limits for skills, and what is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Security {
    /// Refuse a skill with `<` or `>` in its name, description or `when_to_use`.
    pub block_angle_brackets_in_frontmatter: bool,
    /// How many lines a frontmatter may have.
    pub max_frontmatter_lines: usize,
    /// How many characters a line of the frontmatter may have.
    pub max_frontmatter_line_chars: usize,
    /// How many levels deep values in the frontmatter may be.
    pub max_frontmatter_depth: usize,
    /// How many lines the text of a skill may have.
    pub max_skill_body_lines: usize,
    /// How many characters the text of a skill may have.
    pub max_skill_body_chars: usize,
    /// What to do with a longer text: cut it (`trim`) or refuse the skill (`reject`).
    pub oversize_skill_body: Oversize,
    /// How many bytes a file of a skill may have.
    pub max_resource_file_bytes: u64,
    /// How many characters of a file a model gets at once.
    pub max_resource_excerpt_chars: usize,
    /// Files that tools may see although they look like secrets.
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

/// Whether you must trust a project's skills first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustSettings {
    /// `ask` hides a project's skills until you run `skillful trust project`; `all` trusts every project, for CI.
    pub projects: ProjectTrust,
}

/// Which projects' skills may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProjectTrust {
    /// Skills that you trusted.
    #[default]
    Ask,
    /// All skills.
    All,
}

impl Config {
    /// How folders are searched for skills.
    pub fn discovery_options(&self) -> skill::discover::DiscoveryOptions {
        skill::discover::DiscoveryOptions {
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

    /// When what a run changed is put to somebody.
    pub fn apply_when(&self) -> ApplyWhen {
        match self.changes.apply {
            Apply::Ask => ApplyWhen::End,
            Apply::Auto => ApplyWhen::EachAction,
            Apply::Keep => ApplyWhen::Never,
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
        let limits = tools::sandbox::Limits {
            time,
            disk: self.execution.layer_bytes,
            files: self.execution.layer_files,
            ..Default::default()
        };
        // Of the run's own: nothing leads out of it.
        let network = tools::sandbox::Network::Private;
        tools::sandbox::Confinement { limits, mode, network, ..Default::default() }
    }
}

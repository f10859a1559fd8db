//! Files that the tools pretend not to see, or never change, by the patterns of their names.

use permission::Pattern;

use super::spelling::{fold, originals};

/// Patterns for paths: one without a slash is about any single name on the way (a directory hides
/// what is in it), one with a slash about names in a row. However a file system lets a name be
/// spelled, it is the same name.
#[derive(Clone, Debug)]
pub struct PathPatterns {
    names: Vec<Pattern>,
    rows: Vec<Row>,
    /// What they are not about.
    exceptions: Option<Box<PathPatterns>>,
    copies: Copies,
}

/// What `key.pem.bak` is to a pattern for `key.pem`.
#[derive(Clone, Copy, Debug)]
enum Copies {
    /// Another file.
    Differ,
    /// The same: its content is.
    Count,
}

const SECRETS: &[&str] = &[
    ".env*",
    "*.env",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".authinfo*",
    ".boto",
    ".s3cfg",
    ".smbcredentials",
    ".password-store",
    ".*_history",
    "keyrings",
    "rclone.conf",
    ".dockercfg",
    ".dockerconfigjson",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.age",
    // Keys that sign packs and records.
    "*.sec",
    ".agent/keys",
    "credentials.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    // What it made, with the passwords in it.
    "*.tfstate",
    "service-account*.json",
    // A remote's address may have a password in it.
    ".git/config",
    ".git/config.worktree",
    ".git/**/config",
    ".git/**/config.worktree",
    ".hg/hgrc",
    ".docker/config.json",
    ".cargo/credentials*",
    ".m2/settings.xml",
    ".terraform.d/credentials.tfrc.json",
    "containers/auth.json",
    ".config/gcloud",
    ".config/gh",
];

/// What the last word of an environment file's name may be when there is nothing secret in it.
const TEMPLATES: &[&str] =
    &["defaults", "dist", "example", "examples", "sample", "schema", "template", "tmpl", "tpl"];

/// What would let an agent, this one or another, change its own rules, its skills or its record, or have
/// the user's next command run something.
pub(crate) const STATE: &[&str] = &[
    ".agent",
    ".agents",
    ".aider.conf.yml",
    ".amazonq",
    ".amp",
    ".augment",
    ".claude",
    ".cline",
    ".clinerules",
    ".codex",
    ".config/amp",
    ".config/crush",
    ".config/goose",
    ".config/opencode",
    ".continue",
    ".copilot",
    ".crush",
    ".crush.json",
    ".cursor",
    ".factory",
    ".gemini",
    ".github/skill",
    ".github/skills",
    ".goose",
    ".junie",
    ".kilocode",
    ".kiro",
    ".opencode",
    "crush.json",
    "opencode.json",
    "opencode.jsonc",
    ".qwen",
    ".roo",
    ".trae",
    ".windsurf",
    // These start programs, too.
    ".devcontainer",
    ".devcontainer.json",
    ".husky",
    ".idea/runConfigurations",
    ".mcp.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".zed/tasks.json",
    ".bzr",
    ".git",
    ".hg",
    ".jj",
    ".svn",
];

impl PathPatterns {
    /// The given patterns.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let (rows, names): (Vec<_>, Vec<_>) =
            patterns.into_iter().map(str::to_lowercase).partition(|pattern| pattern.contains('/'));
        Self {
            names: names.into_iter().map(Pattern::new).collect(),
            rows: rows.into_iter().map(Row::new).collect(),
            exceptions: None,
            copies: Copies::Differ,
        }
    }

    /// The same but for paths that these patterns match.
    #[must_use]
    pub fn except<'p>(self, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self { exceptions: Some(Box::new(Self::new(patterns))), ..self }
    }

    /// Files that usually hold secrets: environment files, keys, credentials, and copies of them.
    /// What `read_file` hides is hidden from scripts by the same patterns.
    pub fn secrets() -> Self {
        Self { copies: Copies::Count, ..Self::new(SECRETS.iter().copied()) }
    }

    /// What agents and version control keep for themselves: settings, skills, records, hooks.
    pub fn protected() -> Self {
        Self::new(STATE.iter().copied())
    }

    /// The same without Git's folder, of which only parts are dangerous.
    pub(crate) fn protected_but_git() -> Self {
        Self::new(STATE.iter().copied().filter(|name| *name != ".git"))
    }

    /// The pattern that a path or one of the directories it is in matches.
    pub fn matching(&self, path: &str) -> Option<&Pattern> {
        if self.excepts(path) {
            return None;
        }
        let path = fold(path);
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.filter_map(|end| self.matching_last(&path[..end])).next()
    }

    /// The pattern that the end of a path matches, when the directories it is in are known not to.
    pub(crate) fn matching_entry(&self, path: &str) -> Option<&Pattern> {
        if self.excepts(path) { None } else { self.matching_last(&fold(path)) }
    }

    fn excepts(&self, path: &str) -> bool {
        self.exceptions.as_ref().is_some_and(|exceptions| exceptions.matching(path).is_some())
    }

    fn matching_last(&self, path: &str) -> Option<&Pattern> {
        let originals = match self.copies {
            Copies::Count => originals(path),
            Copies::Differ => Vec::new(),
        };
        let spellings = || std::iter::once(path).chain(originals.iter().map(String::as_str));
        if matches!(self.copies, Copies::Count) && spellings().any(is_template) {
            return None;
        }
        spellings().find_map(|path| self.matching_exactly(path))
    }

    fn matching_exactly(&self, path: &str) -> Option<&Pattern> {
        let name = last_name(path);
        let named = self.names.iter().find(|pattern| pattern.matches(name));
        let in_a_row = || self.rows.iter().find(|row| row.matches(path)).map(|row| &row.pattern);
        named.or_else(in_a_row)
    }
}

/// A pattern for names in a row; `**` is any number of them.
#[derive(Clone, Debug)]
struct Row {
    pattern: Pattern,
    /// How many names it is about; none where that is open.
    length: Option<usize>,
}

impl Row {
    fn new(row: String) -> Self {
        let length = (!row.contains("**")).then(|| row.split('/').count());
        Self { pattern: Pattern::new(row), length }
    }

    /// Whether the last names of a path match.
    fn matches(&self, path: &str) -> bool {
        let mut starts = path.rmatch_indices('/').map(|(slash, _)| slash + 1).chain([0]);
        match self.length {
            Some(length) => {
                starts.nth(length - 1).is_some_and(|start| self.pattern.matches(&path[start..]))
            }
            None => starts.any(|start| self.pattern.matches(&path[start..])),
        }
    }
}

/// Whether a file shows which variables there are, and no value: `.env.example`, `sample.env`.
fn is_template(path: &str) -> bool {
    let name = last_name(path);
    let word = match name.strip_suffix(".env") {
        Some(kind) => kind.rsplit(['.', '-', '_']).next(),
        None if name.starts_with(".env") => name.rsplit(['.', '-', '_']).next(),
        None => None,
    };
    word.is_some_and(|word| TEMPLATES.contains(&word))
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;

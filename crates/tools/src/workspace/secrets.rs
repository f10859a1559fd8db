//! Files that the tools pretend not to see, or never change, by the patterns of their names.

use crate::permission::Pattern;

/// Patterns for paths: one without a slash is about any single name on the way (a directory hides
/// what is in it), one with a slash about names in a row. Case does not matter.
#[derive(Clone, Debug)]
pub struct PathPatterns {
    names: Vec<Pattern>,
    rows: Vec<(Pattern, usize)>,
    /// What they are not about.
    exceptions: Option<Box<PathPatterns>>,
}

const SECRETS: &[&str] = &[
    ".env*",
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
    "credentials.json",
    "service-account*.json",
    ".git/config",
    ".docker/config.json",
    ".cargo/credentials*",
    ".config/gcloud",
    ".config/gh",
];

/// What would let the agent change its own rules or cover its tracks.
const PROTECTED: &[&str] = &[".git", ".agent/config.json", ".agent/runs"];

impl PathPatterns {
    /// The given patterns.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let (rows, names): (Vec<_>, Vec<_>) =
            patterns.into_iter().map(str::to_lowercase).partition(|pattern| pattern.contains('/'));
        Self {
            names: names.into_iter().map(Pattern::new).collect(),
            rows: rows
                .into_iter()
                .map(|row| (Pattern::new(&*row), row.split('/').count()))
                .collect(),
            exceptions: None,
        }
    }

    /// The same but for paths that these patterns match.
    #[must_use]
    pub fn except<'p>(self, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self { exceptions: Some(Box::new(Self::new(patterns))), ..self }
    }

    /// Files that usually hold secrets: environment files, keys, credentials.
    pub fn secrets() -> Self {
        Self::new(SECRETS.iter().copied())
    }

    /// Git's own files, the project's configuration and the records of runs.
    pub fn protected() -> Self {
        Self::new(PROTECTED.iter().copied())
    }

    /// The pattern that a path or one of the directories it is in matches.
    pub fn matching(&self, path: &str) -> Option<&Pattern> {
        if self.excepts(path) {
            return None;
        }
        let path = path.to_lowercase();
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.filter_map(|end| self.matching_last(&path[..end])).next()
    }

    /// The pattern that the end of a path matches, when the directories it is in are known not to.
    pub(crate) fn matching_entry(&self, path: &str) -> Option<&Pattern> {
        if self.excepts(path) { None } else { self.matching_last(&path.to_lowercase()) }
    }

    fn excepts(&self, path: &str) -> bool {
        self.exceptions.as_ref().is_some_and(|exceptions| exceptions.matching(path).is_some())
    }

    fn matching_last(&self, path: &str) -> Option<&Pattern> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = self.names.iter().find(|pattern| pattern.matches(name));
        named.or_else(|| {
            let rows = self.rows.iter().filter(|(pattern, length)| {
                last_names(path, *length).is_some_and(|names| pattern.matches(names))
            });
            rows.map(|(pattern, _)| pattern).next()
        })
    }
}

/// The last names of a path, if it has as many.
fn last_names(path: &str, count: usize) -> Option<&str> {
    let mut starts = path.rmatch_indices('/').map(|(slash, _)| slash + 1).chain([0]);
    starts.nth(count - 1).map(|start| &path[start..])
}

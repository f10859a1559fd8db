//! Reading cases from JSON and YAML, with errors that point to the line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Explain};
use basics::sha256::Sha256;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use super::{Case, Located, standard};
use crate::folder::open_regular;

/// Bytes of the longest file of cases.
const LONGEST: u64 = 16 << 20;

/// Why a file holds no cases.
#[derive(Debug, Error)]
pub enum CaseError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is a pipe, a device or the like.
    #[error("`{}` is not a regular file", path.display())]
    NoFile {
        /// What was found.
        path: PathBuf,
    },
    /// It is a link to something outside of the folder that is looked through.
    #[error("`{}` leads outside `{}`", path.display(), folder.display())]
    LeadsOut {
        /// The link.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// A folder holds more than anyone writes.
    #[error("`{}` has more than {limit} files and folders", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
        /// How many are looked at.
        limit: usize,
    },
    /// It is longer than any file of cases.
    #[error("`{}` is longer than 16 MiB", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// It is not what a file of cases looks like.
    #[error("{}:{line}:{column}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// Two cases have the same name.
    #[error("{}: two cases are called `{id}`", path.display())]
    SameName {
        /// The file.
        path: PathBuf,
        /// The name.
        id: String,
    },
    /// A case says something that cannot be.
    #[error("{}: case `{id}`: {reason}", path.display())]
    Senseless {
        /// The file.
        path: PathBuf,
        /// The case.
        id: String,
        /// What is wrong.
        reason: String,
    },
}

impl Explain for CaseError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn code(&self) -> &'static str {
        "InvalidCase"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Unreadable { .. } => "check the path and its permissions",
            Self::NoFile { .. } | Self::LeadsOut { .. } => "replace it with the file itself",
            Self::TooMany { .. } => "give the folder that contains the cases",
            Self::TooLong { .. } => "split it into several files",
            Self::Invalid { .. } => "`skillful schema case` shows the fields of a case",
            Self::SameName { .. } => "give each case its own `id`",
            Self::Senseless { .. } => "fix the case, or remove it",
        }
        .into()
    }
}

/// Several cases in one file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Several {
    cases: Vec<Case>,
}

/// What a file of cases can be.
enum Shape {
    Standard,
    Queries,
    Several,
    List,
    One,
}

impl Shape {
    fn of(document: &Value) -> Self {
        match document {
            document if document.get("evals").is_some() => Self::Standard,
            document if standard::is_trigger_set(document) => Self::Queries,
            document if document.get("cases").is_some() => Self::Several,
            Value::Array(_) => Self::List,
            _ => Self::One,
        }
    }
}

/// Reads the cases of one file: ours, the open standard's `evals.json`, or a set of trigger queries.
pub fn read_file(path: &Path) -> Result<Vec<Located>, CaseError> {
    let unreadable = |source| CaseError::Unreadable { path: path.to_owned(), source };
    let file = open_regular(path).map_err(unreadable)?;
    let file = file.ok_or_else(|| CaseError::NoFile { path: path.to_owned() })?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST {
        return Err(CaseError::TooLong { path: path.to_owned() });
    }
    let text = String::from_utf8(bytes);
    read(
        path,
        &text.map_err(|error| unreadable(std::io::Error::new(ErrorKind::InvalidData, error)))?,
    )
}

/// Reads the cases of a file's text.
pub fn read(path: &Path, text: &str) -> Result<Vec<Located>, CaseError> {
    let parse = Parse { path, text };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let sha256 = Sha256::of(text.as_bytes()).to_string();
    // The document itself is gone before it is read for good: a large suite need not fit twice.
    let shape = Shape::of(&parse.whole()?);
    let cases = match shape {
        Shape::Standard => return Ok(standard::cases(path, &sha256, parse.whole()?)),
        Shape::Queries => return Ok(standard::trigger_set(path, &sha256, parse.whole()?)),
        Shape::Several => parse.whole::<Several>()?.cases,
        Shape::List => parse.whole()?,
        Shape::One => vec![parse.whole()?],
    };
    check(path, &cases)?;
    let suite = suite_of(path, cases.len());
    Ok(cases
        .into_iter()
        .map(|case| Located {
            case,
            suite: suite.clone(),
            file: path.to_owned(),
            sha256: sha256.clone(),
            folder: folder.clone(),
            brought: BTreeMap::new(),
            should_trigger: None,
        })
        .collect())
}

struct Parse<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Parse<'_> {
    fn whole<T: DeserializeOwned>(&self) -> Result<T, CaseError> {
        let is_yaml = self.path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        if is_yaml { self.yaml() } else { self.json() }
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, CaseError> {
        let mut deserializer = serde_json::Deserializer::from_str(self.text);
        let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let field = error.path().to_string();
            self.invalid_json(
                Some(&field).filter(|field| *field != "." && *field != "?"),
                error.inner(),
            )
        })?;
        deserializer.end().map_err(|error| self.invalid_json(None, &error))?;
        Ok(value)
    }

    fn invalid_json(&self, field: Option<&String>, error: &serde_json::Error) -> CaseError {
        let reason = error.to_string();
        // The place is said in front already.
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
        self.invalid(
            error.line(),
            error.column(),
            match field {
                Some(field) => format!("`{field}`: {reason}"),
                None => reason.to_owned(),
            },
        )
    }

    fn yaml<T: DeserializeOwned>(&self) -> Result<T, CaseError> {
        // What stands in many places is written there: a few lines could stand for millions.
        let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_aliases: 0 } };
        serde_saphyr::from_str_with_options(self.text, options).map_err(|error| {
            let place = error.location();
            let (line, column) =
                place.map_or((1, 1), |at| (at.line() as usize, at.column() as usize));
            let reason = error.without_snippet().to_string();
            let reason = reason
                .rsplit_once(" at line ")
                .map_or(reason.clone(), |(reason, _)| reason.to_owned());
            self.invalid(line, column, reason)
        })
    }

    fn invalid(&self, line: usize, column: usize, reason: String) -> CaseError {
        CaseError::Invalid { path: self.path.to_owned(), line, column, reason }
    }
}

/// What no type can say.
fn check(path: &Path, cases: &[Case]) -> Result<(), CaseError> {
    let mut seen = std::collections::HashSet::new();
    for case in cases {
        if !seen.insert(case.id.as_str()) {
            return Err(CaseError::SameName { path: path.to_owned(), id: case.id.clone() });
        }
        if let Err(reason) = sense(case) {
            return Err(CaseError::Senseless {
                path: path.to_owned(),
                id: case.id.clone(),
                reason,
            });
        }
    }
    Ok(())
}

/// Bytes of a compiled pattern.
const REGEX: usize = 1 << 18;

fn sense(case: &Case) -> Result<(), String> {
    if case.id.trim().is_empty() {
        return Err("its `id` is empty".to_owned());
    }
    if let Some(pattern) = &case.expect.output.regex {
        // Cases of strangers are read before anybody trusts them, and a large one takes its time.
        let regex = regex::RegexBuilder::new(pattern).size_limit(REGEX).build();
        regex.map_err(|error| format!("`regex` cannot be used: {error}"))?;
    }
    let schemas = case.expect.files.iter().filter_map(|file| file.json_schema.as_ref());
    for schema in schemas.chain(&case.expect.output.json_schema) {
        jsonschema::validator_for(schema)
            .map_err(|error| format!("`json_schema` cannot be used: {error}"))?;
    }
    if case.setup.no_questions && !case.setup.answers.is_empty() {
        return Err("with `no_questions`, nobody gives the `answers`".to_owned());
    }
    if let Some(script) = &case.mock {
        model::scripted::Scripted::new(script).map_err(|error| format!("`mock`: {error}"))?;
    }
    Ok(())
}

/// `case.json` is named after the folder that holds its folder; other files are suites themselves.
fn suite_of(path: &Path, cases: usize) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let above = |levels: usize| path.ancestors().nth(levels).and_then(name);
    match (stem.as_str(), cases) {
        ("case", 1) => above(2).unwrap_or(stem),
        _ => stem,
    }
}

//! What runs a script: the program its first line names, or else the one for its extension.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ScriptError;

/// The command for each extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interpreters(BTreeMap<String, Vec<String>>);

impl Default for Interpreters {
    fn default() -> Self {
        let table: [(&str, &[&str]); 9] = [
            ("py", &["python3"]),
            ("sh", &["sh"]),
            ("bash", &["bash"]),
            ("js", &["node"]),
            ("mjs", &["node"]),
            ("ts", &["node", "--experimental-strip-types"]),
            ("rb", &["ruby"]),
            ("pl", &["perl"]),
            ("lua", &["lua"]),
        ];
        let owned = |(extension, command): (&str, &[&str])| {
            (extension.to_owned(), command.iter().map(|word| (*word).to_owned()).collect())
        };
        Self(table.into_iter().map(owned).collect())
    }
}

impl Interpreters {
    /// Sets the command for an extension.
    #[must_use]
    pub fn with(mut self, extension: &str, command: Vec<String>) -> Self {
        self.0.insert(extension.into(), command);
        self
    }

    /// The interpreter and its options for a script.
    ///
    /// # Errors
    ///
    /// If neither the first line nor the extension names one.
    pub fn command(&self, path: &Path, content: &[u8]) -> Result<Vec<String>, ScriptError> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let command = first_line(content).or_else(|| self.0.get(extension).cloned());
        command
            .filter(|command| command.first().is_some_and(|program| !program.is_empty()))
            .ok_or_else(|| ScriptError::NoInterpreter { path: path.into() })
    }
}

/// The command in a first line that begins with `#!`.
fn first_line(content: &[u8]) -> Option<Vec<String>> {
    let line = content.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = str::from_utf8(line).ok()?.trim();
    let (program, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let words = || rest.split_whitespace().map(str::to_owned);
    if Path::new(program).file_name() == Some(OsStr::new("env")) {
        // `env` only looks a program up; its option to split words is what we do anyway.
        return Some(words().skip_while(|word| word == "-S").collect());
    }
    // As the kernel does it: whatever follows the program is one argument.
    let option = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    Some([program.to_owned()].into_iter().chain(option).collect())
}

/// Finds the interpreter of a command in the folders of `path`, and returns its options as well.
///
/// A first line's absolute path counts only by its last part: it names a place on its author's
/// machine.
pub(crate) fn locate(
    command: &[String],
    path: &[PathBuf],
) -> Result<(PathBuf, Vec<OsString>), ScriptError> {
    let (program, options) =
        command.split_first().map_or(("", &[][..]), |(name, rest)| (name, rest));
    let missing = || ScriptError::InterpreterNotFound { name: program.to_owned() };
    let absolute = Path::new(program);
    let name = absolute.file_name().ok_or_else(missing)?;
    let preferred = absolute.parent().filter(|folder| path.iter().any(|known| known == folder));
    let folders = preferred.into_iter().chain(path.iter().map(PathBuf::as_path));
    let found = folders.map(|folder| folder.join(name)).find(|file| is_executable(file));
    Ok((found.ok_or_else(missing)?, options.iter().map(OsString::from).collect()))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

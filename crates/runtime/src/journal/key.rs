//! The key that signs records: `keys/record` in the user's own folder of state.
//!
//! Invariant: a key is made once and never replaced. A file that is not a key is an error: a new key in its place would
//! turn every record into a stranger's.

use std::borrow::Cow;
use std::path::Path;

use basics::failure::Explain;
use state::{Access, Durability, Folder, StateError};

use super::owner::{KEY, RecordKey};

const FOLDER: &str = "keys";
const FILE: &str = "record";

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The disk does not do what it should, or something is in the way.
    #[error(transparent)]
    State(#[from] StateError),
    /// What is there is no key.
    #[error("`{0}` is not a key for records")]
    Malformed(String),
    /// The system has no random bytes.
    #[error("cannot create a key for records")]
    Random(#[source] std::io::Error),
}

/// The key in `agent`, the user's own folder of state; nothing if none was made yet.
pub fn read_key(agent: &Path) -> Result<Option<RecordKey>, KeyError> {
    match Folder::at(agent).and_then(|folder| folder.folder(FOLDER)) {
        Ok(folder) => read(&folder),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The same, made where there is none.
pub fn read_or_make_key(agent: &Path) -> Result<RecordKey, KeyError> {
    if let Some(key) = read_key(agent)? {
        return Ok(key);
    }
    // It may be a link: the home is the user's.
    let agent_folder = match Folder::at(agent) {
        Err(error) if error.is_missing() => Folder::create(agent)?,
        found => found?,
    };
    let folder = agent_folder.create_folder(FOLDER, Access::Private)?.private();
    let mut bytes = [0; KEY];
    getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(error.into()))?;
    let text = format!("{}\n", basics::sha256::hex(&bytes));
    match folder.put_new(FILE, text.as_bytes(), Durability::Sync) {
        Ok(()) => Ok(RecordKey::new(bytes)),
        // Another process was faster.
        Err(error) if error.is_taken() => {
            read_key(agent)?.ok_or_else(|| KeyError::Malformed(FILE.to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

fn read(folder: &Folder) -> Result<Option<RecordKey>, KeyError> {
    // Digits and a newline; one more byte shows that there is more.
    let text = match folder.read(FILE, 2 * KEY as u64 + 1) {
        Ok(text) => text,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let malformed = || KeyError::Malformed(folder.path().join(FILE).display().to_string());
    let digits = text.strip_suffix(b"\n").filter(|digits| digits.len() == 2 * KEY);
    let digits = digits.ok_or_else(malformed)?;
    let mut bytes = [0; KEY];
    for (byte, digits) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digits = std::str::from_utf8(digits).map_err(|_| malformed())?;
        *byte = u8::from_str_radix(digits, 16).map_err(|_| malformed())?;
    }
    Ok(Some(RecordKey::new(bytes)))
}

impl Explain for KeyError {
    fn code(&self) -> &'static str {
        "KeyError"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::State(error) => return error.hint(),
            Self::Malformed(_) => {
                "restore it from a backup, or move it away; with a new key, older runs count as not made here"
            }
            Self::Random(_) => "try again",
        }
        .into()
    }
}

#[cfg(test)]
mod tests;

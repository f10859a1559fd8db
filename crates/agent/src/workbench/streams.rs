//! What a script writes: all of it beside the record, a part of it for the model.
//!
//! Invariant: secrets are gone before anything reaches the disk, and before anything is cut.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tools::sandbox::{Exit, Output};
use tools::script::ScriptError;

use super::io_error;
use super::script::of_script;
use crate::journal::{Filtered, Journal, Passed, Redactor};
use crate::step::Refusal;

/// Characters of each stream that the model sees.
const SHOWN: usize = 12_000;
/// Bytes of each end of a stream that are looked at for that: characters have up to four.
const READ: u64 = 4 * SHOWN as u64;

/// Where both streams of a script go.
pub(super) struct Streams<'r> {
    folder: PathBuf,
    names: [String; 2],
    redactor: &'r Redactor,
}

/// One stream that has ended.
pub(super) struct Kept {
    /// Its file, relative to the run's folder; none if it was empty.
    pub(super) name: Option<String>,
    pub(super) sha256: String,
    bytes: u64,
    /// All of it, or its beginning and its end.
    pub(super) shown: String,
    pub(super) truncated: bool,
}

impl Kept {
    /// For the record.
    pub(super) fn facts(&self) -> Value {
        json!({"bytes": self.bytes, "ref": self.name, "sha256": self.sha256})
    }
}

impl<'r> Streams<'r> {
    pub(super) fn create(journal: &Journal, redactor: &'r Redactor) -> io::Result<Self> {
        let number = journal.next_sequence();
        let names =
            ["stdout", "stderr"].map(|stream| format!("observations/script-{number}.{stream}"));
        let folder = journal.folder().to_owned();
        for name in &names {
            File::create(folder.join(name))?;
        }
        Ok(Self { folder, names, redactor })
    }

    pub(super) fn collect(
        self,
        run: impl FnOnce(Output<'_>) -> Result<Exit, ScriptError>,
    ) -> Result<(Exit, [Kept; 2]), Refusal> {
        let [stdout, stderr] = &self.names;
        let open = |name: &str| -> io::Result<_> {
            let file = File::options().append(true).open(self.folder.join(name))?;
            Ok(Filtered::new(self.redactor, file))
        };
        let failed = |error: io::Error| io_error(&error);
        let mut filters = (open(stdout).map_err(failed)?, open(stderr).map_err(failed)?);
        let exit = run(Output { stdout: &mut filters.0, stderr: &mut filters.1 });
        // Also where it went wrong: what it wrote until then is kept.
        let passed = (filters.0.finish(), filters.1.finish());
        let exit = exit.map_err(|error| of_script(&error))?;
        let stdout = self.kept(stdout, passed.0.map_err(failed)?).map_err(failed)?;
        let stderr = self.kept(stderr, passed.1.map_err(failed)?).map_err(failed)?;
        Ok((exit, [stdout, stderr]))
    }

    fn kept(&self, name: &str, Passed { bytes, sha256 }: Passed) -> io::Result<Kept> {
        let path = self.folder.join(name);
        if bytes == 0 {
            fs::remove_file(path)?;
            return Ok(Kept { name: None, sha256, bytes, shown: String::new(), truncated: false });
        }
        let (shown, truncated) = shown(&path, bytes)?;
        Ok(Kept { name: Some(name.to_owned()), sha256, bytes, shown, truncated })
    }
}

/// All of a stream, or its beginning and its end; and whether something is left out.
fn shown(path: &Path, bytes: u64) -> io::Result<(String, bool)> {
    let mut file = File::open(path)?;
    file.sync_all()?;
    let head = visible(&mut file)?;
    if bytes <= READ && head.chars().count() <= SHOWN {
        return Ok((head, false));
    }
    file.seek(SeekFrom::Start(bytes.saturating_sub(READ)))?;
    let tail = visible(&mut file)?;
    let end = tail.char_indices().rev().nth(SHOWN / 4).map_or(tail.as_str(), |(at, _)| &tail[at..]);
    let beginning = skill::text::prefix(&head, SHOWN / 2);
    Ok((format!("{beginning}\n[… {bytes} bytes in all …]\n{end}"), true))
}

fn visible(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(READ).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(skill::text::strip_hidden(&text).0.into_owned())
}

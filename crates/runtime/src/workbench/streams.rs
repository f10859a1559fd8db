//! What a script writes: all of it beside the record, a part of it for the model.
//!
//! Invariant: secrets are gone before anything reaches the disk, and before anything is cut.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use agent::observation;
use agent::request::Refusal;
use basics::sha256::Sha256;
use state::Folder;
use tools::sandbox::{Exit, Output};
use tools::script::ScriptError;

use super::io_error;
use crate::journal::{Filtered, Journal, Passed, Redactor};

/// Characters of each stream that the model sees.
const SHOWN: usize = 12_000;
/// Bytes of each end of a stream that are looked at for that: characters have up to four.
const READ: u64 = 4 * SHOWN as u64;

/// Where both streams of a script go.
pub(super) struct Streams<'a> {
    run: &'a Folder,
    stdout: Stream,
    stderr: Stream,
    redactor: &'a Redactor,
}

/// Where one stream goes: a file that only this process has, whatever becomes of its name.
struct Stream {
    /// Relative to the run's folder.
    name: String,
    file: File,
}

/// One stream that has ended.
pub(super) struct Kept {
    /// Its file, relative to the run's folder; none if it was empty.
    pub(super) name: Option<String>,
    pub(super) sha256: Sha256,
    bytes: u64,
    /// All of it, or its beginning and its end.
    pub(super) shown: String,
    pub(super) truncated: bool,
}

impl Kept {
    /// For the record.
    pub(super) fn noted(&self) -> observation::Stream {
        let (name, sha256) = (self.name.clone(), self.sha256);
        observation::Stream { bytes: self.bytes, name, sha256 }
    }
}

impl<'a> Streams<'a> {
    pub(super) fn create(journal: &'a Journal, redactor: &'a Redactor) -> io::Result<Self> {
        let number = journal.next_sequence();
        let run = journal.state();
        let create = |stream: &str| -> io::Result<Stream> {
            let name = format!("observations/script-{number}.{stream}");
            let file = run.create_anew(&name)?;
            Ok(Stream { name, file })
        };
        Ok(Self { run, stdout: create("stdout")?, stderr: create("stderr")?, redactor })
    }

    pub(super) fn collect(
        self,
        show: &dyn Fn(&str),
        run: impl FnOnce(Output<'_>) -> Result<Exit, ScriptError>,
    ) -> Result<(Exit, [Kept; 2]), Refusal> {
        let failed = |error: io::Error| io_error(&error);
        let filter = |stream: &'_ Stream| -> io::Result<_> {
            Ok(Filtered::new(self.redactor, Told { file: stream.file.try_clone()?, show }))
        };
        let mut filters =
            (filter(&self.stdout).map_err(failed)?, filter(&self.stderr).map_err(failed)?);
        let exit = run(Output { stdout: &mut filters.0, stderr: &mut filters.1 });
        // Also where it went wrong: what it wrote until then is kept.
        let passed = (filters.0.finish(), filters.1.finish());
        let exit = exit?;
        let stdout = keep(self.run, self.stdout, passed.0.map_err(failed)?).map_err(failed)?;
        let stderr = keep(self.run, self.stderr, passed.1.map_err(failed)?).map_err(failed)?;
        Ok((exit, [stdout, stderr]))
    }
}

/// A file whose content is shown while it is written.
struct Told<'s> {
    file: File,
    show: &'s dyn Fn(&str),
}

impl Write for Told<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        (self.show)(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn keep(run: &Folder, stream: Stream, Passed { bytes, sha256 }: Passed) -> io::Result<Kept> {
    if bytes == 0 {
        run.remove_file(&stream.name)?;
        return Ok(Kept { name: None, sha256, bytes, shown: String::new(), truncated: false });
    }
    let (shown, truncated) = excerpt(stream.file, bytes)?;
    Ok(Kept { name: Some(stream.name), sha256, bytes, shown, truncated })
}

/// All of a stream, or its beginning and its end; and whether something is left out.
fn excerpt(mut file: File, bytes: u64) -> io::Result<(String, bool)> {
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    let head = visible(&mut file)?;
    if bytes <= READ && head.chars().count() <= SHOWN {
        return Ok((head, false));
    }
    file.seek(SeekFrom::Start(bytes.saturating_sub(READ)))?;
    let tail = visible(&mut file)?;
    let end = tail.char_indices().rev().nth(SHOWN / 4).map_or(tail.as_str(), |(at, _)| &tail[at..]);
    let beginning = basics::text::prefix(&head, SHOWN / 2);
    Ok((format!("{beginning}\n[… {bytes} bytes in all …]\n{end}"), true))
}

fn visible(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(READ).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(basics::text::strip_hidden(&text).0.into_owned())
}

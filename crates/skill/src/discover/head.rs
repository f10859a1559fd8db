//! Reading a file's frontmatter and nothing behind it.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;

use crate::discover::Problem;
use crate::frontmatter::{self, FrontmatterError, Limits, Split};
use crate::metadata::{Metadata, ReadOptions};

/// Most frontmatters are shorter than this, and hardly any body is.
const FIRST_BLOCK: usize = 1_024;

/// Reads blocks until the frontmatter is closed; answers with the number of bytes read as well.
pub(super) fn read(
    mut file: File,
    folder: &str,
    options: &ReadOptions,
) -> (u64, Result<Metadata, Problem>) {
    let mut bytes = Vec::with_capacity(FIRST_BLOCK);
    let result = read_until_closed(&mut file, &mut bytes, &options.limits)
        .and_then(|yaml| Ok(Metadata::read(&yaml, folder, options)?));
    (bytes.len() as u64, result)
}

fn read_until_closed(
    file: &mut File,
    bytes: &mut Vec<u8>,
    limits: &Limits,
) -> Result<String, Problem> {
    let mut block = FIRST_BLOCK;
    loop {
        let before = bytes.len();
        bytes.resize(before + block, 0);
        let read = read_once(file, &mut bytes[before..])?;
        bytes.truncate(before + read);
        let yaml = match frontmatter::split(bytes, limits)? {
            Split::Whole { yaml, .. } => yaml,
            Split::Unfinished if read > 0 => {
                // Doubling keeps the work linear when a frontmatter is long.
                block = bytes.len().max(FIRST_BLOCK);
                continue;
            }
            Split::Unfinished => frontmatter::split_whole(bytes, limits)?.0,
        };
        return match std::str::from_utf8(&bytes[yaml]) {
            Ok(yaml) => Ok(yaml.to_owned()),
            Err(_) => Err(FrontmatterError::NotUtf8.into()),
        };
    }
}

fn read_once(file: &mut File, block: &mut [u8]) -> Result<usize, Problem> {
    loop {
        match file.read(block) {
            Ok(read) => return Ok(read),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Problem::Unreadable { reason: error.kind().to_string() }),
        }
    }
}

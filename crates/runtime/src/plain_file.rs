//! Files that the user names.

use std::io::Read;
use std::path::Path;

/// A file that the user names. A project can have put anything in its place, so it must be one, and no more is read
/// than it says to have: what the kernel makes up says nothing, and may have no end.
pub fn read_plain(path: &Path) -> std::io::Result<String> {
    const LARGEST: u64 = 64 << 20;
    let found = path.metadata()?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(std::io::Error::other("it is not a file of at most 64 MB"));
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(found.len()).read_to_string(&mut text)?;
    Ok(text)
}

//! The `expected/` folder of a case: files as they must be after the run.

use std::path::{Path, PathBuf};

use super::Located;
use crate::folder::{Folder, FolderError, Quota};

/// A file as it must be after the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedContent {
    /// Where, below the workspace.
    pub path: PathBuf,
    /// What it holds, byte by byte.
    pub bytes: Vec<u8>,
}

impl Located {
    /// What the case's `expected/` folder holds, in the order of the paths; nothing where it has none.
    pub fn expected_contents(&self) -> Result<Vec<ExpectedContent>, FolderError> {
        let expected = Path::new("expected");
        let folder = match self.has_folder() && self.folder.join(expected).is_dir() {
            true => Folder::open(&self.folder)?,
            false => return Ok(Vec::new()),
        };
        let mut quota = Quota::default();
        let mut found = Vec::new();
        for file in folder.files(expected, &mut quota)? {
            let path = file.strip_prefix(expected).unwrap_or(&file).to_owned();
            if path.file_name().is_some_and(|name| name != ".gitkeep") {
                let bytes = folder.read(&file, quota.bytes)?;
                quota.bytes -= bytes.len() as u64;
                found.push(ExpectedContent { path, bytes });
            }
        }
        Ok(found)
    }
}

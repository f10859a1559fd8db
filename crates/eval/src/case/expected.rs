//! The `expected/` folder of a case: files as they must be after the run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Located;

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
    pub fn expected_contents(&self) -> io::Result<Vec<ExpectedContent>> {
        let folder = self.folder.join("expected");
        let mut found = Vec::new();
        if self.has_folder() && folder.is_dir() {
            collect(&folder, Path::new(""), &mut found)?;
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

fn collect(folder: &Path, below: &Path, found: &mut Vec<ExpectedContent>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (from, path) = (entry.path(), below.join(entry.file_name()));
        if from.is_dir() {
            collect(&from, &path, found)?;
        } else if entry.file_name() != ".gitkeep" {
            found.push(ExpectedContent { path, bytes: fs::read(from)? });
        }
    }
    Ok(())
}

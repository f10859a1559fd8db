//! The files that a run left behind: in its layer over the workspace, until they are applied.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use runtime::changes::Layered;
use tools::changes::{ChangeSet, ChangesError, LayerPath, Rules};

use crate::case::Place;
use crate::folder::Folder;
use crate::judge::Files;

/// Bytes of a file that is judged.
const LONGEST: u64 = 64 << 20;

/// The files that a run left behind.
#[derive(Debug)]
pub struct Left {
    workspace: PathBuf,
    /// Folders that scripts of earlier versions wrote to.
    older: Vec<PathBuf>,
    layer: Option<(Layered, ChangeSet)>,
}

impl Left {
    /// What the run in the folder `run` left in its workspace.
    pub fn open(workspace: &Path, run: &Path) -> Result<Self, ChangesError> {
        let layered = match run.is_dir() {
            true => Layered::open(&state::Folder::open(run)?, workspace, Rules::default())?,
            false => None,
        };
        let older = match &layered {
            None => vec![run.join("sandbox"), run.join("artifacts")],
            Some(_) => Vec::new(),
        };
        let layer = layered.map(|mut layered| layered.collect().map(|set| (layered, set)));
        Ok(Self { workspace: workspace.to_owned(), older, layer: layer.transpose()? })
    }

    fn in_layer(&self, path: &Path) -> Found {
        let Some((layered, set)) = &self.layer else { return Found::Elsewhere };
        let Ok(path) = LayerPath::new(path.as_os_str().as_bytes()) else { return Found::Elsewhere };
        match set.get(&path) {
            Some(change) if change.after.is_some() => {
                let mut bytes = Vec::new();
                let file = layered.open_file(&path).ok();
                let read =
                    file.and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes).ok());
                Found::Content(read.filter(|length| *length as u64 <= LONGEST).map(|_| bytes))
            }
            Some(_) => Found::Content(None),
            None => {
                let mut gone = set.changes.iter().filter(|change| change.after.is_none());
                match gone.any(|change| path.is_within(&change.path)) {
                    true => Found::Content(None),
                    false => Found::Elsewhere,
                }
            }
        }
    }
}

/// What the layer says about a file.
enum Found {
    /// It has it, or hides it.
    Content(Option<Vec<u8>>),
    /// It says nothing.
    Elsewhere,
}

impl Files for Left {
    fn read(&self, path: &Path, place: Place) -> Option<Vec<u8>> {
        let read = |folder: &PathBuf| Folder::open(folder).ok()?.read(path, LONGEST).ok();
        match (place, self.in_layer(path)) {
            (Place::Layer, Found::Content(content)) => content,
            (Place::Layer, Found::Elsewhere) => {
                std::iter::once(&self.workspace).chain(&self.older).find_map(read)
            }
            (Place::Workspace, _) => read(&self.workspace),
        }
    }
}

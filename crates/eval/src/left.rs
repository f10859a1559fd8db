//! The files that a run left behind: in its layer over the workspace, until they are applied.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use runtime::changes::Layered;
use tools::changes::{ChangeSet, ChangesError, LayerPath, Rules};

use crate::folder::Folder;
use crate::judge::Files;

/// Bytes of a file that is judged.
const LONGEST: u64 = 64 << 20;

/// Where the files of a run are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// As the workspace would have them if everything was applied.
    InLayer,
    /// As the workspace has them.
    InWorkspace,
}

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
    pub fn open(workspace: &Path, run: &Path, judged: Judged) -> Result<Self, ChangesError> {
        let layered = match judged {
            Judged::InLayer if run.is_dir() => {
                Layered::open(&state::Folder::open(run)?, workspace, Rules::default())?
            }
            _ => None,
        };
        let older = match (judged, &layered) {
            (Judged::InLayer, None) => vec![run.join("sandbox"), run.join("artifacts")],
            _ => Vec::new(),
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
                let read = file.and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes).ok());
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
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        if let Found::Content(content) = self.in_layer(path) {
            return content;
        }
        let mut places = std::iter::once(&self.workspace).chain(&self.older);
        places.find_map(|place| Folder::open(place).ok()?.read(path, LONGEST).ok())
    }
}

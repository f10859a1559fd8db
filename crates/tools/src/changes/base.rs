//! What the workspace held where a run changed something, from when the run first touched it.
//!
//! A file that is not that any more was changed by somebody else. Invariants: what was noted once is not noted again
//! before it is applied; what may have changed while it was noted counts as uncertain.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use basics::sha256::Sha256;
use serde::{Deserialize, Serialize};
use state::{Access, Durability, Folder};

use super::error::{ChangesError, Doing};
use super::hash::{Job, before, hash_all, side_by_side};
use super::layer::Layer;
use super::node::{Kind, Node, Stamp};
use super::path::{LayerPath, LinkTarget};
use super::rules::{LayerLimits, Rules};
use super::tree::Tree;
use super::walk::{Touched, Trees, walk};

/// The file of a run's folder.
const FILE: &str = "layer-base";
/// What the file begins with.
const HEADER: &[u8] = b"skillful layer base 1\n";
/// A base beyond this is none.
const LARGEST: u64 = 1 << 30;
/// The folder with texts as they were, for merging.
const TEXTS: &str = "layer-texts";
/// How large a text may be that is kept, and all of them together.
const TEXT: u64 = 1 << 20;
const ALL_TEXTS: u64 = 64 << 20;

/// What the workspace held where a run changed something.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Base {
    entries: BTreeMap<LayerPath, Noted>,
    /// How many bytes of text are kept.
    kept: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Noted {
    was: Option<Was>,
    is_certain: bool,
    /// What the file system says about the private copy, while nobody has changed that.
    copied: Option<Stamp>,
}

/// Something as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Was {
    stamp: Stamp,
    /// What is in it, as soon as somebody wanted to know.
    content: Option<Content>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Content {
    Hash(Sha256),
    Target(LinkTarget),
}

impl Was {
    fn node(&self) -> Option<Node> {
        let mode = self.stamp.permissions();
        match (self.stamp.kind, &self.content) {
            (Kind::Folder, _) => Some(Node::Folder { mode }),
            (Kind::File, Some(Content::Hash(sha256))) => {
                Some(Node::File { size: self.stamp.size, mode, sha256: *sha256 })
            }
            (Kind::Link, Some(Content::Target(target))) => {
                Some(Node::Link { target: target.clone() })
            }
            _ => None,
        }
    }
}

/// What the base says about a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// The run never touched it before.
    Nothing,
    /// Somebody changed it during the action that touched it.
    Uncertain,
    /// Nothing was there.
    Absent,
    /// This was there; the content may not be known.
    Was(Option<Node>, Stamp),
}

impl Base {
    /// Notes everything in a private copy that was just made; `since` is when the copying began.
    pub fn of_copy(copy: &Path, workspace: &Path, since: SystemTime) -> Result<Self, ChangesError> {
        let layer = Layer::Copy { copy };
        let trees = Trees::open(&layer, workspace)?;
        let no_limits = LayerLimits { files: u64::MAX, bytes: u64::MAX };
        let mut base = Self::default();
        for touched in walk(&layer, &trees, &Self::default(), &no_limits)?.touched {
            let mut noted = Noted::new(&touched, since);
            noted.copied = touched.after;
            base.entries.insert(touched.path, noted);
        }
        Ok(base)
    }

    /// Notes what is new in the layer after an action that began at `since`; texts are kept in the run's folder.
    pub fn note(
        &mut self,
        layer: &Layer<'_>,
        workspace: &Path,
        since: SystemTime,
        (rules, run): (&Rules, &Folder),
    ) -> Result<(), ChangesError> {
        let trees = Trees::open(layer, workspace)?;
        let walked = walk(layer, &trees, self, &rules.limits)?;
        let mut wanted = Vec::new();
        for touched in walked.touched {
            if !self.entries.contains_key(&touched.path) {
                self.entries.insert(touched.path.clone(), Noted::new(&touched, since));
            }
            let is_open = |was: &Was| was.content.is_none() && Some(was.stamp) == touched.before;
            let noted = self.entries.get(&touched.path).and_then(|noted| noted.was.as_ref());
            if noted.is_some_and(is_open) && touched.before.is_some_and(has_content) {
                wanted.push(touched);
            }
        }
        self.fill(&trees.workspace, &wanted, (rules, run))
    }

    /// Reads what was there.
    fn fill(
        &mut self,
        workspace: &Tree,
        wanted: &[Touched],
        (rules, run): (&Rules, &Folder),
    ) -> Result<(), ChangesError> {
        let mut room = ALL_TEXTS.saturating_sub(self.kept);
        let mut is_kept = |touched: &Touched| {
            let (Some(before), Some(after)) = (touched.before, touched.after) else { return false };
            let fits = before.size <= TEXT.min(room);
            let is_kept = fits && before.kind == Kind::File && after.kind == Kind::File;
            let is_kept = is_kept && !rules.is_hidden(&touched.path);
            room -= if is_kept { before.size } else { 0 };
            is_kept
        };
        let (texts, others): (Vec<&Touched>, Vec<&Touched>) =
            wanted.iter().partition(|touched| is_kept(touched));
        if !texts.is_empty() {
            let folder = run.create_folder(TEXTS, Access::Private)?;
            let done = side_by_side(&texts, |touched, _| keep(workspace, &touched.path, &folder));
            for (touched, done) in texts.iter().zip(done) {
                let (content, kept) = done.doing("read", workspace.full(&touched.path))?;
                self.kept += kept;
                self.know(workspace, touched, content)?;
            }
        }
        let is_file =
            |touched: &&&Touched| touched.before.is_some_and(|before| before.kind == Kind::File);
        let files: Vec<&Touched> = others.iter().filter(is_file).copied().collect();
        let jobs: Vec<Job<'_>> = files
            .iter()
            .filter_map(|file| Some(Job { tree: workspace, path: &file.path, stamp: file.before? }))
            .collect();
        for (touched, hash) in files.iter().zip(hash_all(&jobs)) {
            let hash = optional(hash).doing("read", workspace.full(&touched.path))?;
            self.know(workspace, touched, hash.map(Content::Hash))?;
        }
        for touched in others.iter().filter(|touched| !is_file(touched)) {
            let target = optional(workspace.link(&touched.path));
            let target = target.doing("read", workspace.full(&touched.path))?;
            self.know(workspace, touched, target.map(Content::Target))?;
        }
        Ok(())
    }

    /// Writes down what was read, if nobody changed it meanwhile.
    fn know(
        &mut self,
        workspace: &Tree,
        touched: &Touched,
        content: Option<Content>,
    ) -> Result<(), ChangesError> {
        let now = workspace.stamp(&touched.path).doing("read", workspace.full(&touched.path))?;
        let Some(noted) = self.entries.get_mut(&touched.path) else { return Ok(()) };
        match (&mut noted.was, content) {
            (Some(was), Some(content)) if now == Some(was.stamp) => was.content = Some(content),
            _ => noted.is_certain = false,
        }
        Ok(())
    }

    /// Notes paths anew, after this program itself has changed them.
    pub fn settle<'p>(
        &mut self,
        workspace: &Path,
        paths: impl IntoIterator<Item = &'p LayerPath>,
    ) -> Result<(), ChangesError> {
        let tree = Tree::open(workspace)?;
        let mut files = Vec::new();
        for path in paths {
            // Where a folder on the way is a link now, nothing is there any more.
            let stamp = optional(tree.stamp(path)).doing("read", tree.full(path))?.flatten();
            let copied = self.entries.get(path).and_then(|noted| noted.copied);
            let content = match stamp {
                Some(Stamp { kind: Kind::Link, .. }) => {
                    let target = optional(tree.link(path)).doing("read", tree.full(path))?;
                    target.map(Content::Target)
                }
                _ => None,
            };
            let was = stamp.map(|stamp| Was { stamp, content });
            self.entries.insert(path.clone(), Noted { was, is_certain: true, copied });
            if let Some(stamp) = stamp.filter(|stamp| stamp.kind == Kind::File) {
                files.push((path, stamp));
            }
        }
        let job = |(path, stamp): &(&'p LayerPath, Stamp)| Job { tree: &tree, path, stamp: *stamp };
        let jobs: Vec<Job<'_>> = files.iter().map(job).collect();
        for ((path, _), hash) in files.iter().zip(hash_all(&jobs)) {
            let hash = optional(hash).doing("read", tree.full(path))?;
            if let Some(Noted { was: Some(was), .. }) = self.entries.get_mut(*path) {
                was.content = hash.map(Content::Hash);
            }
        }
        Ok(())
    }

    /// Reads the base of a run; an empty one where there is none.
    pub fn load(run: &Folder) -> Result<Self, ChangesError> {
        let bytes = match run.read(FILE, LARGEST) {
            Err(error) if error.is_missing() => return Ok(Self::default()),
            read => read?,
        };
        let damaged =
            |reason: String| ChangesError::Damaged { path: run.path().join(FILE), reason };
        let body = bytes.strip_prefix(HEADER);
        let body = body.ok_or_else(|| damaged("it does not begin as it should".to_owned()))?;
        postcard::from_bytes(body).map_err(|error| damaged(error.to_string()))
    }

    /// Keeps the base in the run's folder.
    pub fn save(&self, run: &Folder) -> Result<(), ChangesError> {
        let bytes = postcard::to_extend(self, HEADER.to_vec()).map_err(|error| {
            ChangesError::Damaged { path: run.path().join(FILE), reason: error.to_string() }
        })?;
        Ok(run.replace(FILE, &bytes, Durability::NoSync)?)
    }

    /// A text as it was, if it was kept.
    pub fn text(&self, run: &Folder, sha256: &Sha256) -> Option<Vec<u8>> {
        let bytes = run.read(format!("{TEXTS}/{sha256}"), TEXT).ok()?;
        (Sha256::of(&bytes) == *sha256).then_some(bytes)
    }

    pub(super) fn known(&self, path: &LayerPath) -> Known {
        match self.entries.get(path) {
            None => Known::Nothing,
            Some(Noted { is_certain: false, .. }) => Known::Uncertain,
            Some(Noted { was: None, .. }) => Known::Absent,
            Some(Noted { was: Some(was), .. }) => Known::Was(was.node(), was.stamp),
        }
    }

    /// Whether something in a private copy is what was copied.
    pub(super) fn is_copy(&self, path: &LayerPath, now: &Stamp) -> bool {
        let copied = self.entries.get(path).and_then(|noted| noted.copied);
        copied.is_some_and(|copied| match now.kind {
            Kind::Folder => copied.kind == Kind::Folder && copied.mode == now.mode,
            _ => copied == *now,
        })
    }

    /// Everything that was copied, in order.
    pub(super) fn copies(&self) -> impl Iterator<Item = &LayerPath> {
        self.entries.iter().filter(|(_, noted)| noted.copied.is_some()).map(|(path, _)| path)
    }
}

impl Noted {
    fn new(touched: &Touched, since: SystemTime) -> Self {
        let is_old = |stamp: &Stamp| stamp.kind == Kind::Folder || stamp.changed < before(since);
        Self {
            was: touched.before.map(|stamp| Was { stamp, content: None }),
            is_certain: touched.before.as_ref().is_none_or(is_old),
            copied: None,
        }
    }
}

fn has_content(stamp: Stamp) -> bool {
    matches!(stamp.kind, Kind::File | Kind::Link)
}

/// Hashes a file and keeps it if it is a text. Answers how many bytes were kept.
fn keep(workspace: &Tree, path: &LayerPath, texts: &Folder) -> io::Result<(Option<Content>, u64)> {
    let Some(bytes) = optional(workspace.read(path, TEXT))?.flatten() else { return Ok((None, 0)) };
    let hash = Sha256::of(&bytes);
    let mut kept = 0;
    if super::diff::is_text(&bytes) {
        let write = texts.replace_among_many(hash.to_string(), &bytes, Durability::NoSync);
        // Without it, there is no merge, and that is all.
        kept = write.map_or(0, |()| bytes.len() as u64);
    }
    Ok((Some(Content::Hash(hash)), kept))
}

/// Nothing where it is gone or has become something else.
fn optional<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if super::tree::is_missing(&error) || super::tree::is_link(&error) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Err(error) => Err(error),
    }
}

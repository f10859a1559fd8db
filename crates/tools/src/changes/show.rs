//! Changes as people and programs see them: a line for each, one for each ignored folder, and the difference of texts.
//!
//! Invariants: what is shown is what would be applied, by its hash. Hidden files are not shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{Change, ChangeSet};
use super::diff::{is_text, unified};
use super::error::{ChangesError, Doing};
use super::ignored::Ignored;
use super::layer::Layer;
use super::node::{Kind, Node};
use super::path::LayerPath;
use super::rules::Rules;
use super::tree::{Tree, is_link, is_missing};
use super::walk::Trees;

/// How large a text may be whose difference is shown.
const SHOWN: u64 = 1 << 20;

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is another one, or of another kind.
    Changed,
    /// It is gone.
    Deleted,
}

/// One change in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeLine {
    /// Where.
    pub path: LayerPath,
    /// What happened.
    pub change: ChangeKind,
    /// Of what kind it is, or was.
    pub kind: Kind,
    /// Who may use it, in octal digits; a link has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How many bytes the file has, or had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The hash of the file that was there.
    pub sha256_before: Option<Sha256>,
    /// The hash of the file that would be there.
    pub sha256_after: Option<Sha256>,
    /// The deleted file that had the same content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<LayerPath>,
}

/// All changes in an ignored folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Folded {
    /// The folder.
    pub folded: LayerPath,
    /// How many files and links in it changed.
    pub files: u64,
    /// How many bytes those have that are not deleted.
    pub bytes: u64,
    /// How many are new.
    pub added: u64,
    /// How many are others.
    pub changed: u64,
    /// How many are gone.
    pub deleted: u64,
}

/// One line of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Line {
    /// One change.
    Change(ChangeLine),
    /// Those of an ignored folder.
    Folded(Folded),
}

/// What differs in one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diff {
    /// Lines, in the form of `diff -u` without a header.
    Text(String),
    /// It is not a text.
    Binary,
    /// It is too large to be compared.
    TooLarge,
    /// It may hold secrets.
    Hidden,
    /// Only the mode, or a folder.
    Nothing,
}

impl Change {
    /// What happened.
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ => ChangeKind::Changed,
        }
    }

    fn line(&self, renamed_from: Option<LayerPath>) -> ChangeLine {
        let node = self.after.as_ref().or(self.before.as_ref());
        ChangeLine {
            path: self.path.clone(),
            change: self.kind(),
            kind: node.map_or(Kind::Other, Node::kind),
            mode: node.and_then(Node::mode).map(|mode| format!("{mode:04o}")),
            size: node.and_then(Node::size),
            sha256_before: self.before.as_ref().and_then(Node::sha256),
            sha256_after: self.after.as_ref().and_then(Node::sha256),
            renamed_from,
        }
    }
}

/// The changes in lines, in order; those of ignored folders are folded.
pub fn summary(set: &ChangeSet, workspace: &Path) -> Result<Vec<Line>, ChangesError> {
    let workspace = Tree::open(workspace)?;
    let mut ignored = Ignored::new(&workspace);
    let mut renames = Renames::among(set);
    let mut lines: Vec<Line> = Vec::new();
    for change in &set.changes {
        let Some(folder) = ignored.fold(change) else {
            lines.push(Line::Change(change.line(renames.origin(change))));
            continue;
        };
        match lines.last_mut() {
            Some(Line::Folded(folded)) if folded.folded == folder => folded.count(change),
            _ => {
                let mut folded =
                    Folded { folded: folder, files: 0, bytes: 0, added: 0, changed: 0, deleted: 0 };
                folded.count(change);
                lines.push(Line::Folded(folded));
            }
        }
    }
    Ok(lines)
}

impl Folded {
    fn count(&mut self, change: &Change) {
        let is_folder = |node: &Option<Node>| node.as_ref().is_none_or(Node::is_folder);
        if is_folder(&change.before) && is_folder(&change.after) {
            return;
        }
        self.files += 1;
        self.bytes += change.after.as_ref().and_then(Node::size).unwrap_or(0);
        *match change.kind() {
            ChangeKind::Added => &mut self.added,
            ChangeKind::Changed => &mut self.changed,
            ChangeKind::Deleted => &mut self.deleted,
        } += 1;
    }
}

impl fmt::Display for Folded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = match self.bytes {
            bytes @ 0..1_000 => format!("{bytes} bytes"),
            bytes @ 1_000..1_000_000 => format!("{} kB", bytes / 1_000),
            bytes => format!("{} MB", bytes / 1_000_000),
        };
        let counts = [(self.added, "added"), (self.changed, "changed"), (self.deleted, "deleted")];
        let some = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = some.map(|(count, word)| format!("{count} {word}")).collect();
        let files = if self.files == 1 { "file" } else { "files" };
        let Self { folded, files: count, .. } = self;
        write!(formatter, "{folded}/ {count} {files}, {size} ({})", counts.join(", "))
    }
}

/// Deleted files by their content.
struct Renames<'a>(HashMap<Sha256, Vec<&'a LayerPath>>);

impl<'a> Renames<'a> {
    fn among(set: &'a ChangeSet) -> Self {
        let mut deleted: HashMap<Sha256, Vec<&LayerPath>> = HashMap::new();
        for change in set.changes.iter().filter(|change| change.after.is_none()) {
            if let Some(Node::File { size: 1.., sha256, .. }) = &change.before {
                deleted.entry(*sha256).or_default().push(&change.path);
            }
        }
        Self(deleted)
    }

    /// The file that was moved here; each is moved once, and one of the same name counts first.
    fn origin(&mut self, change: &Change) -> Option<LayerPath> {
        if change.before.is_some() {
            return None;
        }
        let candidates = self.0.get_mut(&change.after.as_ref()?.sha256()?)?;
        let same = candidates.iter().position(|path| path.name() == change.path.name());
        let at = same.unwrap_or(0);
        (at < candidates.len()).then(|| candidates.remove(at).clone())
    }
}

/// What differs in one path, as it was collected.
pub fn diff(
    change: &Change,
    (layer, workspace): (&Layer<'_>, &Path),
    rules: &Rules,
) -> Result<Diff, ChangesError> {
    if rules.is_hidden(&change.path) {
        return Ok(Diff::Hidden);
    }
    let trees = Trees::open(layer, workspace)?;
    let sides = [(&trees.workspace, &change.before), (&trees.layer, &change.after)];
    if sides.iter().any(|(_, node)| node.as_ref().and_then(Node::size) > Some(SHOWN)) {
        return Ok(Diff::TooLarge);
    }
    let [before, after] = sides.map(|(tree, node)| content(tree, &change.path, node.as_ref()));
    let (before, after) = (before?, after?);
    if before == after {
        return Ok(Diff::Nothing);
    }
    if !is_text(&before) || !is_text(&after) {
        return Ok(Diff::Binary);
    }
    Ok(match String::from_utf8_lossy(&unified(&before, &after)) {
        Cow::Borrowed(text) => Diff::Text(text.to_owned()),
        Cow::Owned(text) => Diff::Text(text),
    })
}

/// What is in a file, or where a link leads to: what was collected, or an error.
pub(super) fn content(
    tree: &Tree,
    path: &LayerPath,
    node: Option<&Node>,
) -> Result<Vec<u8>, ChangesError> {
    let changed = || ChangesError::Changed { path: path.clone() };
    match node {
        None | Some(Node::Folder { .. }) => Ok(Vec::new()),
        Some(Node::Link { target }) => Ok(target.as_bytes().to_vec()),
        Some(Node::File { size, sha256, .. }) => {
            let read = match tree.read(path, *size) {
                Err(error) if is_missing(&error) || is_link(&error) => return Err(changed()),
                read => read.doing("read", tree.full(path))?,
            };
            read.filter(|bytes| Sha256::of(bytes) == *sha256).ok_or_else(changed)
        }
    }
}

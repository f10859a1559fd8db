//! A set of changes as a patch that `git apply` takes.
//!
//! Invariant: what a patch cannot hold is named at its beginning. That is folders, modes that Git does not know, very
//! large files, and files that are hidden.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

use super::change::{Change, ChangeSet};
use super::diff::{is_text, unified};
use super::error::{ChangesError, Doing};
use super::layer::Layer;
use super::node::Node;
use super::path::LayerPath;
use super::rules::Rules;
use super::show::content;
use super::walk::Trees;

/// How large a file may be.
const LARGEST: u64 = 64 << 20;
/// How Git writes binary content.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// Writes a patch of all changes.
pub fn patch(
    set: &ChangeSet,
    (layer, workspace): (&Layer<'_>, &Path),
    rules: &Rules,
    out: &mut impl Write,
) -> Result<(), ChangesError> {
    let trees = Trees::open(layer, workspace)?;
    let left_out = |change: &&Change| reason(change, rules).is_some();
    let mut write = |bytes: &[u8]| out.write_all(bytes).doing("write", "the patch");
    for change in set.changes.iter().filter(left_out) {
        let reason = reason(change, rules).unwrap_or_default();
        write(format!("# Not in this patch: {} ({reason})\n", change.path).as_bytes())?;
    }
    for change in set.changes.iter().filter(|change| !left_out(change)) {
        let before = plain(&change.before);
        let after = plain(&change.after);
        let old = content(&trees.workspace, &change.path, before)?;
        let new = content(&trees.layer, &change.path, after)?;
        let is_link = |node: Option<&Node>| matches!(node, Some(Node::Link { .. }));
        // Git takes a file for another thing than a link: one goes, the other one comes.
        if before.is_some() && after.is_some() && is_link(before) != is_link(after) {
            write(&section(&change.path, (before, &old), (None, &[])))?;
            write(&section(&change.path, (None, &[]), (after, &new)))?;
        } else {
            write(&section(&change.path, (before, &old), (after, &new)))?;
        }
    }
    Ok(())
}

/// What Git knows: files and links.
fn plain(node: &Option<Node>) -> Option<&Node> {
    node.as_ref().filter(|node| !node.is_folder())
}

/// Why a change cannot be in a patch.
fn reason(change: &Change, rules: &Rules) -> Option<&'static str> {
    let (before, after) = (plain(&change.before), plain(&change.after));
    let size = |node: Option<&Node>| node.and_then(Node::size).unwrap_or(0);
    let is_same =
        |one: &Node, two: &Node| one.sha256() == two.sha256() && git_mode(one) == git_mode(two);
    match (before, after) {
        (None, None) => match change.after {
            // It comes with the first file in it, and goes with the last.
            Some(_) if change.before.is_some() => Some("the mode of a folder"),
            Some(_) => Some("a folder"),
            None => Some("the end of a folder"),
        },
        _ if size(before).max(size(after)) > LARGEST => Some("it is too large"),
        (Some(_), _) if rules.is_hidden(&change.path) => Some("it may hold secrets"),
        (Some(one @ Node::File { .. }), Some(two @ Node::File { .. })) if is_same(one, two) => {
            Some("a mode that Git does not know")
        }
        _ => None,
    }
}

fn git_mode(node: &Node) -> &'static str {
    match node {
        Node::Link { .. } => "120000",
        node if node.mode().is_some_and(|mode| mode & 0o100 != 0) => "100755",
        _ => "100644",
    }
}

/// The part of a patch for one file.
fn section(
    path: &LayerPath,
    (before, old): (Option<&Node>, &[u8]),
    (after, new): (Option<&Node>, &[u8]),
) -> Vec<u8> {
    let mut text = b"diff --git ".to_vec();
    text.extend(quoted(b"a/", path));
    text.push(b' ');
    text.extend(quoted(b"b/", path));
    text.push(b'\n');
    let mut modes = String::new();
    match (before.map(git_mode), after.map(git_mode)) {
        (None, Some(mode)) => modes = format!("new file mode {mode}\n"),
        (Some(mode), None) => modes = format!("deleted file mode {mode}\n"),
        (Some(old), Some(new)) if old != new => {
            modes = format!("old mode {old}\nnew mode {new}\n");
        }
        _ => {}
    }
    text.extend(modes.as_bytes());
    if old == new && before.is_some() && after.is_some() {
        return text;
    }
    let name = |node: Option<&Node>, content| match node {
        Some(_) => blob(content),
        None => NOTHING.to_owned(),
    };
    let same_mode = modes.is_empty().then(|| after.map(git_mode)).flatten();
    let mode = same_mode.map(|mode| format!(" {mode}")).unwrap_or_default();
    text.extend(format!("index {}..{}{mode}\n", name(before, old), name(after, new)).as_bytes());
    if old == new {
        return text;
    }
    if is_text(old) && is_text(new) {
        text.extend(header(b"--- ", b"a/", before.map(|_| path)));
        text.extend(header(b"+++ ", b"b/", after.map(|_| path)));
        text.extend(unified(old, new));
    } else {
        text.extend(b"GIT binary patch\n");
        text.extend(literal(new));
    }
    text
}

fn header(sign: &[u8], side: &[u8], path: Option<&LayerPath>) -> Vec<u8> {
    let name = path.map_or_else(|| b"/dev/null".to_vec(), |path| quoted(side, path));
    // A name with a space ends at a tab.
    let end: &[u8] = if name.contains(&b' ') && name[0] != b'"' { b"\t\n" } else { b"\n" };
    [sign, &name, end].concat()
}

/// A name as Git writes it: in quotes where it has odd bytes.
fn quoted(side: &[u8], path: &LayerPath) -> Vec<u8> {
    let is_odd = |byte: &u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\');
    let bytes = path.as_bytes();
    if !bytes.iter().any(is_odd) {
        return [side, bytes].concat();
    }
    let mut text = [b"\"", side].concat();
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            odd if is_odd(odd) => text.extend(format!("\\{odd:03o}").as_bytes()),
            plain => text.push(*plain),
        }
    }
    text.push(b'"');
    text
}

/// The name that Git gives content.
fn blob(content: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", content.len()));
    hasher.update(content);
    basics::sha256::hex(&hasher.finalize())
}

/// Binary content as Git writes it.
fn literal(content: &[u8]) -> Vec<u8> {
    let mut text = format!("literal {}\n", content.len()).into_bytes();
    for line in deflated(content).chunks(52) {
        let count = line.len() as u8;
        text.push(if count <= 26 { b'A' + count - 1 } else { b'a' + count - 27 });
        for group in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..group.len()].copy_from_slice(group);
            let mut rest = u32::from_be_bytes(bytes);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(rest % 85) as usize];
                rest /= 85;
            }
            text.extend(digits);
        }
        text.push(b'\n');
    }
    text.push(b'\n');
    text
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let written: io::Result<Vec<u8>> = encoder.write_all(content).and_then(|()| encoder.finish());
    // Memory does not fail to be written to.
    written.unwrap_or_default()
}

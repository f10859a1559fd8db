//! Where links lead, found out from what a skill holds: nothing here looks at the disk.

use std::collections::VecDeque;

use super::{Gap, Item, Kind, item_at};

/// Links in a row that the kernel follows.
const HOPS: usize = 40;

/// Folders of the system itself: whoever can change what is there needs no skill to do harm, and every
/// interpreter comes from there.
const SYSTEM: [&str; 7] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Where a path ends, whether something is there or not.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// In the skill, by this path.
    Inside(Vec<u8>),
    /// In a folder of the system.
    System,
    /// Anywhere else.
    Outside,
}

impl End {
    pub(super) fn inside(self) -> Option<Vec<u8>> {
        match self {
            Self::Inside(path) => Some(path),
            Self::System | Self::Outside => None,
        }
    }
}

/// The first link that leads out of the skill.
pub(super) fn leading_out(items: &[Item]) -> Option<Gap> {
    let leads_out = |item: &&Item| match &item.kind {
        Kind::Link { target } => {
            let folder = item.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            resolve(items, &item.path[..folder], target) == End::Outside
        }
        Kind::File { .. } | Kind::Folder => false,
    };
    let link = items.iter().find(leads_out)?;
    Some(Gap::LeadsOut { path: String::from_utf8_lossy(&link.path).into_owned() })
}

/// Where `path` ends when it is looked up from `folder`.
pub(super) fn resolve(items: &[Item], folder: &[u8], path: &[u8]) -> End {
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect()
    };
    let mut stack = parts(folder);
    stack.retain(|part| !part.is_empty());
    if path.starts_with(b"/") {
        return absolute(path);
    }
    let mut rest = VecDeque::from(parts(path));
    let mut hops = 0;
    while let Some(part) = rest.pop_front() {
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                if stack.pop().is_none() {
                    return End::Outside;
                }
                continue;
            }
            _ => stack.push(part),
        }
        let Some(Kind::Link { target }) = item_at(items, &stack.join(&b'/')) else { continue };
        hops += 1;
        if hops > HOPS {
            // The kernel does not follow it, and neither does anybody else.
            break;
        }
        if target.starts_with(b"/") {
            return absolute(target);
        }
        stack.pop();
        parts(target).into_iter().rev().for_each(|part| rest.push_front(part));
    }
    End::Inside(stack.join(&b'/'))
}

fn absolute(path: &[u8]) -> End {
    let mut parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    let is_system = |part: &[u8]| SYSTEM.iter().any(|folder| folder.as_bytes() == part);
    if parts.next().is_some_and(is_system) && parts.all(|part| part != b"..") {
        End::System
    } else {
        End::Outside
    }
}

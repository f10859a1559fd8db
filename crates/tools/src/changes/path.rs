//! Paths in a workspace, and other names that may hold any bytes.
//!
//! Invariants: a path has at least one part, and no part is empty, `.` or `..`; so it names something beneath its root.
//! The written form is a text that a terminal can show, and it gives back the same bytes.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

use basics::text::is_hidden;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path in the workspace: relative, plain names only, any bytes in them.
///
/// Odd bytes are written as `\xNN` or `\u{NNNN}`, a backslash as `\\`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LayerPath(Box<[u8]>);

/// What a link points to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LinkTarget(Box<[u8]>);

/// A text that is no path in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a path in the workspace")]
pub struct InvalidPath(String);

impl LayerPath {
    /// Takes the bytes of a path.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, InvalidPath> {
        let bytes = bytes.into();
        let is_name = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
        match !bytes.contains(&0) && bytes.split(|byte| *byte == b'/').all(is_name) {
            true => Ok(Self(bytes.into())),
            false => Err(InvalidPath(escaped(&bytes))),
        }
    }

    /// A name in a folder, or at the top where there is none. Only for names that a folder lists.
    pub(super) fn inside(folder: Option<&Self>, name: &[u8]) -> Self {
        match folder {
            None => Self(name.into()),
            Some(folder) => Self([&folder.0, &b"/"[..], name].concat().into()),
        }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same as a path of the system.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The folder that it is in; none at the top.
    pub fn parent(&self) -> Option<Self> {
        self.slash().map(|slash| Self(self.0[..slash].into()))
    }

    /// Its last part.
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(&self.0[self.slash().map_or(0, |slash| slash + 1)..])
    }

    /// Whether it is this folder or lies in it.
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&*folder.0).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    }

    /// The folders that it is in, the nearest one first.
    pub fn folders(&self) -> impl Iterator<Item = Self> + '_ {
        let slashes = (0..self.0.len()).rev().filter(|at| self.0[*at] == b'/');
        slashes.map(|slash| Self(self.0[..slash].into()))
    }

    fn slash(&self) -> Option<usize> {
        memchr::memrchr(b'/', &self.0)
    }
}

/// What is in a folder comes right after it.
impl Ord for LayerPath {
    fn cmp(&self, other: &Self) -> Ordering {
        let shared = self.0.iter().zip(&*other.0).position(|(one, two)| one != two);
        let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
        match shared {
            Some(at) => rank(self.0[at]).cmp(&rank(other.0[at])),
            None => self.0.len().cmp(&other.0.len()),
        }
    }
}

impl PartialOrd for LayerPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl LinkTarget {
    /// Takes what a link points to.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into().into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Bytes as a text from which they can be had again.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            // Writing to a text does not fail.
            let _ = match character {
                '\\' => text.write_str("\\\\"),
                '\n' | '\t' => write!(text, "\\x{:02x}", u32::from(character)),
                hidden if is_hidden(hidden) && hidden.is_ascii() => {
                    write!(text, "\\x{:02x}", u32::from(hidden))
                }
                hidden if is_hidden(hidden) => write!(text, "\\u{{{:x}}}", u32::from(hidden)),
                plain => text.write_char(plain),
            };
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// The bytes that such a text stands for.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('\\') {
            bytes.push(b'\\');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("u{") {
            let (digits, after) = after.split_once('}')?;
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = after;
        } else {
            let digits = rest.strip_prefix('x')?.get(..2)?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[3..];
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

impl FromStr for LayerPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        unescaped(text).ok_or_else(|| InvalidPath(text.to_owned())).and_then(Self::new)
    }
}

macro_rules! written {
    ($type:ident, $read:expr) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&escaped(&self.0))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, formatter)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.collect_str(self),
                    false => serializer.serialize_bytes(&self.0),
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let bytes = match deserializer.is_human_readable() {
                    true => {
                        let text = String::deserialize(deserializer)?;
                        unescaped(&text).ok_or_else(|| D::Error::custom("a wrong escape"))?
                    }
                    false => Vec::<u8>::deserialize(deserializer)?,
                };
                $read(bytes).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string"})
            }
        }
    };
}

written!(LayerPath, LayerPath::new);
written!(LinkTarget, |bytes: Vec<u8>| Ok::<_, InvalidPath>(LinkTarget::new(bytes)));

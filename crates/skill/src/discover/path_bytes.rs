//! Paths in the cache as bytes: on Unix they need not be UTF-8. For people they are text.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return serializer.serialize_str(&path.to_string_lossy());
    }
    serializer.serialize_bytes(path.as_os_str().as_bytes())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    borrowed(deserializer).map(Cow::into_owned)
}

/// A path that stays where it was read from.
pub(super) fn borrowed<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'de, Path>, D::Error> {
    struct Bytes;
    impl<'de> Visitor<'de> for Bytes {
        type Value = Cow<'de, Path>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a path's bytes")
        }

        fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
            Ok(Path::new(OsStr::from_bytes(bytes)).into())
        }
    }
    deserializer.deserialize_bytes(Bytes)
}

//! Paths in the cache as bytes: on Unix they need not be UTF-8.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(path.as_os_str().as_bytes())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = PathBuf;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a path's bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PathBuf, E> {
            Ok(OsString::from_vec(bytes.to_vec()).into())
        }
    }
    deserializer.deserialize_bytes(Bytes)
}

//! What an Agent Skill is on disk: parse, check, index, search, disclose on demand.

pub mod builtin;
pub mod cache;
pub mod chunks;
#[cfg(test)]
mod corpus;
pub mod frontmatter;
pub mod index;
pub mod inner_path;
pub mod load;
pub mod lock;
mod markdown;
pub mod metadata;
pub mod offer;
pub mod roots;
pub mod scan;
pub mod search;
pub mod sections;
pub mod standard;
pub mod text;
pub mod trust;
pub mod value;
pub mod watch;
#[cfg(test)]
mod world;

/// Bytes as lowercase hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

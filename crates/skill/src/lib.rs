//! What an Agent Skill is on disk: parse, check, index, search, disclose on demand.

pub mod builtin;
pub mod cache;
pub mod chunks;
mod content_hash;
#[cfg(test)]
mod corpus;
pub mod discover;
mod entry;
pub mod frontmatter;
pub mod index;
pub mod load;
pub mod lock;
mod markdown;
pub mod metadata;
pub mod offer;
mod platform;
pub mod roots;
pub mod search;
pub mod sections;
pub mod standard;
pub mod trust;
pub mod value;
pub mod watch;
#[cfg(test)]
mod world;

//! Packs of Agent Skills: made, checked, signed, installed all or nothing.

pub mod accept;
pub mod archive;
pub mod check;
pub mod diff;
pub mod disk;
pub mod install;
pub mod make;
pub mod manifest;
pub mod material;
pub mod name;
pub mod policy;
pub mod refusal;
pub mod scan;
pub mod signature;
pub mod source;
mod spool;
pub mod version;

//! Packs of Agent Skills: made, checked, signed, installed all or nothing.

pub mod accept;
pub mod archive;
pub mod check;
mod compare;
pub mod diff;
pub mod disk;
pub mod install;
pub mod make;
pub mod manifest;
pub mod material;
pub mod name;
mod platform;
pub mod policy;
pub mod refusal;
pub mod scan;
pub mod signature;
pub mod source;
mod spool;
pub mod version;

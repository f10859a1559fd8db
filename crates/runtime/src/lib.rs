//! Runs on this machine: the driver that carries them out, their record, and what they act with.

pub mod driver;
pub mod journal;
pub mod skill_tool;
pub mod workbench;

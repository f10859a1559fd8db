//! Runs on this machine: the driver that carries them out, their record, and what they act with.

pub mod changes;
pub mod conversation;
pub mod driver;
mod here;
pub mod journal;
pub mod models;
pub mod open;
pub mod plain_file;
pub mod runner;
pub mod settings;
pub mod skill_tool;
pub mod spelling;
pub mod workbench;

//! The real program in worlds of its own: what users see of every command, and what strangers cannot make of it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed step fails the test, and a skipped one says so"
)]

mod agent;
mod archives;
mod at_hand;
mod chat;
mod config;
mod doctor;
mod eval;
mod export;
mod foreign_records;
mod foreign_state;
mod forge;
mod inspect;
mod library;
mod list;
mod live;
mod mcp;
/// The server that the tests of `model` ask.
#[expect(dead_code, reason = "they need more of it")]
mod model_server;
mod models;
mod new;
mod offline;
mod packs;
#[cfg(any(portable, not(target_os = "linux")))]
mod portable;
mod questions;
mod readme;
mod run;
mod scan;
mod schemas;
mod search;
mod skill_usage;
mod slow;
mod surroundings;
mod terminal;
mod trust;
mod turns;
mod updates;
mod usage;
mod validate;
mod world;
mod zip;

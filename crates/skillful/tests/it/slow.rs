//! Worlds of strangers by the hundred, and much of everything.
//!
//! `./check --fast` leaves out what is in here.

mod foreign_evals;
mod hostile;
mod hostile_packs;
mod hostile_state;
mod housekeeping;
mod killed;
mod packs;
mod real_tasks;
mod scan;
mod sources;
mod suites;

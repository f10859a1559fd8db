//! Runs that are cut off at every event, line and byte or killed at any instant, and records with any bit flipped.
//!
//! `./check --fast` leaves out what is in here.

mod flips;
mod kill;
mod resume;

//! Changes that are stopped at every operation, by an error, a crash or a kill.
//!
//! `./check --fast` leaves out what is in here.

mod crash;
mod kill;

//! Attempts and work by the hundred, with four kernels each, as root and as an ordinary user.
//!
//! `./check --fast` leaves out what is in here.

mod escape;
mod layer;
mod output;
mod useful_work;

//! What only Linux has, and its twin for every other Unix.
//!
//! Invariant: nothing else in this crate is for Linux alone. A build with `--cfg portable` takes the twin
//! on Linux, too.

#[cfg(all(target_os = "linux", not(portable)))]
mod linux;
#[cfg(not(all(target_os = "linux", not(portable))))]
mod portable;

#[cfg(all(target_os = "linux", not(portable)))]
pub(crate) use linux::{exchange, sync_file_system, write_soon};
#[cfg(not(all(target_os = "linux", not(portable))))]
pub(crate) use portable::{exchange, sync_file_system, write_soon};

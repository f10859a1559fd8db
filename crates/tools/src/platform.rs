//! What only Linux has, and its twin for every other Unix.
//!
//! Invariant: nothing else in this crate is for Linux alone. A build with `--cfg portable` takes the twin
//! on Linux, too.

#[cfg(all(target_os = "linux", not(portable)))]
mod linux;
#[cfg(not(all(target_os = "linux", not(portable))))]
mod portable;

#[cfg(all(target_os = "linux", not(portable)))]
pub(crate) use linux::{
    PASSING, clone_content, files, link_unnamed, open_in_one_call, open_unnamed, sandbox,
};
#[cfg(not(all(target_os = "linux", not(portable))))]
pub(crate) use portable::{
    PASSING, clone_content, files, link_unnamed, open_in_one_call, open_unnamed, sandbox,
};

//! A person's terminal: what is drawn at its bottom, and what they type there.
//!
//! `keys` reads bytes, `editor` is the line that is typed, `panel` lays out what is drawn, `stage` is the one that writes.
//! Invariant: only `stage` and `device` touch the terminal; everything else is values.

mod device;
pub(crate) mod editor;
pub(crate) mod keys;
pub(crate) mod panel;
mod reader;
pub(crate) mod stage;

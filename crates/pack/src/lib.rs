//! Packs of Agent Skills: made, checked, signed, installed all or nothing.

pub mod scan;

//! What an agent may do, and how it is contained.

pub mod sandbox;
pub mod script;

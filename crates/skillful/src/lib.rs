//! The complete runtime for Agent Skills, as a library.
//!
//! A skill is a folder with a `SKILL.md` that teaches an agent how to do a job. This crate gathers the
//! parts for people who build agents: [`skill`] finds skills, shows a model their names and
//! descriptions, and hands the rest over on demand.

pub use skill;

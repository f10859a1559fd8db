//! Does a skill trigger, does a run behave, does the skill help?
//!
//! A [`case`] is judged from the record of a run alone: [`judge`] holds pure functions, one module a
//! dimension. The [`runner`] is the one part that starts anything: a process of its own for each case. What a project's
//! cases bring along is put on a [`shelf`] first, so that what was looked at is what runs.

pub mod benchmark;
pub mod case;
pub mod fingerprint;
pub mod folder;
pub mod grade;
pub mod judge;
pub mod left;
pub mod record;
pub mod regressions;
pub mod report;
pub mod runner;
#[cfg(test)]
mod sample;
pub mod shelf;
pub mod suite;
pub mod trace;

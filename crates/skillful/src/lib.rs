//! The complete runtime for Agent Skills, as a library.
//!
//! A skill is a folder with a `SKILL.md` that teaches an agent how to do a job. This crate gathers the
//! parts for people who build agents; take one, or all of them:
//!
//! - [`skill`] finds skills, shows a model their names and descriptions, and hands the rest over on demand.
//! - [`permission`] decides what may be done, and what a person is asked.
//! - [`tools`] does it: tools, and scripts in a sandbox.
//! - [`agent`] is one run as a state machine that does nothing by itself; [`runtime`] carries it out and keeps its
//!   record, and has skills as tools for any other loop.
//! - [`common`] is what all of them share.
//! - [`state`] reaches the files that these keep, never through a link.
//! - [`model`] reads what language models say.
//! - [`serve`] offers skills to other agents over MCP.
//! - [`eval`] measures whether a skill helps, [`pack`] looks through skills that others made.
//!
//! The traits to implement are few: [`agent::model::Model`], and in [`runtime::driver`] `Approver`, `Listener`, `Clock`, and
//! `Toolbox` for those who bring their own tools. The examples show each.
//!
//! ```
//! use skillful::skill::index::{Index, IndexOptions};
//! use skillful::skill::offer::CatalogLimits;
//! use skillful::common::skill::Source;
//! use skillful::skill::roots::Surroundings;
//!
//! let surroundings = Surroundings {
//!     explicit: Vec::new(),
//!     working_directory: "/".into(),
//!     home: None,
//!     project_folders: Vec::new(),
//!     precedence: Source::ALL.to_vec(),
//!     compatibility_folders: true,
//! };
//! let index = Index::build(&surroundings.roots(), &IndexOptions::default());
//! let offer = index.offer(|_| true);
//! assert!(offer.catalog(CatalogLimits::default(), "").text.contains("name=csv-report"));
//! ```

pub use agent;
pub use common;
pub use eval;
pub use model;
pub use pack;
pub use permission;
pub use runtime;
pub use serve;
pub use skill;
pub use state;
pub use tools;

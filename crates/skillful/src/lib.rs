//! The complete runtime for Agent Skills, as a library.
//!
//! A skill is a folder with a `SKILL.md` that teaches an agent how to do a job. This crate gathers the
//! parts for people who build agents; take one, or all of them:
//!
//! - [`skill`] finds skills, shows a model their names and descriptions, and hands the rest over on demand.
//! - [`tools`] decides what may be done, asks for approval, and runs tools and scripts in a sandbox.
//! - [`agent`] is the loop itself, with its record; [`agent::skill_tool`] is skills as tools for any other
//!   loop.
//! - [`state`] reaches the files that these keep, never through a link.
//! - [`model`] reads what language models say.
//! - [`serve`] offers skills to other agents over MCP.
//! - [`eval`] measures whether a skill helps, [`pack`] looks through skills that others made.
//!
//! The traits to implement are few, all in [`agent::driver`]: `Model`, `Approver`, `Listener`, `Clock`, and
//! `Toolbox` for those who bring their own tools. The examples show each.
//!
//! ```
//! use skillful::skill::index::{Index, IndexOptions};
//! use skillful::skill::offer::CatalogLimits;
//! use skillful::skill::roots::{Source, Surroundings};
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
pub use eval;
pub use model;
pub use pack;
pub use serve;
pub use skill;
pub use state;
pub use tools;

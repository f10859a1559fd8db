//! Finds the skills of a folder and prints the list that a model would choose from.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use skillful::basics::skill::Source;
use skillful::skill::index::{Index, IndexOptions};
use skillful::skill::offer::CatalogLimits;
use skillful::skill::roots::Surroundings;

pub(crate) fn main() -> std::io::Result<()> {
    let surroundings = Surroundings {
        explicit: Vec::new(),
        working_directory: std::env::current_dir()?,
        home: None,
        project_folders: Vec::new(),
        precedence: Source::ALL.to_vec(),
        compatibility_folders: true,
    };
    // Only names and descriptions are read. The skills of a project are left out until it is trusted.
    let index = Index::build(&surroundings.roots(), &IndexOptions::default());
    let offer = index.offer(|_| true);
    println!("{}", offer.catalog(CatalogLimits::default(), "summarise a table").text);
    for ignored in &index.report.ignored {
        println!("{} is left out: {}", ignored.path, ignored.message);
    }
    Ok(())
}

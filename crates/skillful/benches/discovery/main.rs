//! How fast skills are found: `cargo bench -p skillful --bench discovery`
//!
//! One run makes 100, 1,000 and 10,000 skills (or takes those of the last run) and measures, in turns,
//! a floor that only reads the beginning of every file, this program without and with its cache, and
//! ripgrep where there is one. Each figure is a whole process, from its start to its end.

#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(clippy::print_stdout, reason = "a table is what it makes")]

mod floor;
mod measure;
mod random;
mod skills;
mod table;

use std::error::Error;
use std::path::{Path, PathBuf};

use measure::{Contender, Place};

/// Skills, and how often everything is measured.
const SIZES: [(usize, usize); 3] = [(100, 31), (1_000, 21), (10_000, 25)];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--floor", root] => floor::run(Path::new(root)),
        ["--peak", program, ref rest @ ..] => measure::print_peak(program, rest)?,
        _ => compare()?,
    }
    Ok(())
}

fn compare() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("discovery");
    table::print_head();
    for (count, rounds) in SIZES {
        let home = folder.join(count.to_string());
        let root = skills::prepare(&home, count)?;
        let place = Place::new(home, folder.join("cache"));
        let contenders = Contender::all(&place, &root)?;
        let samples = measure::in_turns(&place, &contenders, rounds)?;
        table::print_rows(count, &contenders, &samples);
    }
    table::print_foot();
    Ok(())
}

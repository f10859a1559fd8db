//! What a person is shown and asked before skills are installed.

use pack::check::{CheckError, Pack, PackedSkill};
use pack::policy::{Concern, concerns, scan, scan_concerns};
use pack::refusal::{Flaw, Refusal};
use pack::scan::Scanner;

use crate::failure::{Exit, Failure};
use crate::installing::ask;
use crate::output::{Output, count};

/// What needs a person's word.
pub(crate) fn concerns_of(pack: &Pack, chosen: &[&PackedSkill]) -> Result<Vec<Concern>, Failure> {
    let scanner = Scanner::new();
    let mut found = Vec::new();
    for skill in chosen {
        let report = scan(&scanner, pack, skill).map_err(CheckError::from)?;
        found.extend(concerns(skill).into_iter().chain(scan_concerns(skill, &report)));
    }
    Ok(found)
}

/// Goes on only where there is nothing to ask, or the word is `given`.
pub(crate) fn approve(
    found: &[Concern],
    skills: usize,
    given: bool,
    output: &Output,
) -> Result<(), Failure> {
    found.iter().for_each(|concern| output.warn(&format!("{} {}", concern.skill, concern.text)));
    if given || found.is_empty() {
        return Ok(());
    }
    match ask(&format!("Install {}?", count(skills, "skill"))) {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::new(Exit::Approval, "Declined", "nothing was installed")
            .hint("nothing was changed")),
        None => {
            let all: Vec<String> = found.iter().map(|concern| concern.text.clone()).collect();
            let entry = found.first().map(|concern| concern.skill.clone());
            let message = format!("it needs your approval: it {}", all.join("; it "));
            Err(Refusal { flaw: Flaw::Unsafe, entry, message }.into())
        }
    }
}

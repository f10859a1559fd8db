//! What a person is shown and asked before skills are installed.

use pack::accept::{Agreement, Concerns};
use pack::refusal::{Flaw, Refusal};

use crate::failure::{Exit, Failure};
use crate::installing::ask;
use crate::output::{Output, count};

/// Goes on only where there is nothing to ask, a person agrees, or they did beforehand.
pub(crate) fn approve(
    concerns: Concerns,
    skills: usize,
    is_agreed: bool,
    output: &Output,
) -> Result<Agreement, Failure> {
    let found = &concerns.found;
    found.iter().for_each(|concern| output.warn(&format!("{} {}", concern.skill, concern.text)));
    if is_agreed || found.is_empty() {
        return Ok(concerns.agree());
    }
    match ask(&format!("Install {}?", count(skills, "skill"))) {
        Some(true) => Ok(concerns.agree()),
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

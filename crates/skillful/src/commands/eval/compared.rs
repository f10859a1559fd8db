//! The skill that `--with-without` is about: a comparison with a skill that no case can have says nothing.

use std::path::Path;

use basics::skill::Source;
use eval::case::Located;
use skill::index::Index;
use skill::roots::Root;

use crate::failure::Failure;
use crate::session::Session;

/// Whether the skill is known here, or a case brings it along.
pub(super) fn check(session: &Session, name: &str, cases: &[Located]) -> Result<(), Failure> {
    let here = &session.surroundings.working_directory;
    let brings = |located: &Located| {
        let own = |skill| is_called(&located.resolve(skill, here), name);
        located.case.setup.preinstall_skills.iter().any(|skill| own(skill))
    };
    if cases.iter().any(brings) {
        return Ok(());
    }
    let mut roots = session.roots();
    for located in cases {
        for root in &located.case.setup.skill_roots {
            let path = located.resolve(root, here);
            if !roots.iter().any(|known| known.path == path) {
                roots.push(Root { source: Source::Explicit, path, priority: roots.len() });
            }
        }
    }
    let index = Index::build(&roots, &session.index_options()?);
    session.find(&index, name).map(|_| ())
}

/// A folder has the skill's name; what is in a pack shows when it is installed.
fn is_called(skill: &Path, name: &str) -> bool {
    skill.is_file() || skill.file_name().is_some_and(|folder| folder == name)
}

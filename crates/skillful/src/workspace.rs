//! The workspace as tools see it here: what the user made visible, and what no tool changes.

use std::io;

use common::skill::Source;
use skill::index::Index;
use tools::workspace::Workspace;

use crate::session::Session;

/// Opens the working directory for tools. What decides over runs is closed to them, wherever it is: the state of
/// agents in the project and in the home, the folders of skills, and the cache.
pub(crate) fn open(session: &Session) -> io::Result<Workspace> {
    let surroundings = &session.surroundings;
    let mut workspace = Workspace::open(&surroundings.working_directory)?;
    let visible = session.layers.config.security.visible_files.iter().map(String::as_str);
    workspace.secrets = workspace.secrets.except(visible);
    workspace.protect_state(surroundings.project());
    surroundings.home.iter().for_each(|home| workspace.protect_state(home));
    session.cache_folder().into_iter().for_each(|cache| workspace.protect(cache));
    for root in surroundings.roots().iter().filter(|root| root.source != Source::Builtin) {
        workspace.protect_skills(&root.path);
    }
    Ok(workspace)
}

/// The same for a run that could use these skills: their folders may be outside of the roots, behind a link.
pub(crate) fn open_with(session: &Session, index: &Index) -> io::Result<Workspace> {
    let mut workspace = open(session)?;
    let skills = index.skills.iter().filter(|entry| entry.source != Source::Builtin);
    skills.for_each(|entry| workspace.protect(&entry.path));
    Ok(workspace)
}

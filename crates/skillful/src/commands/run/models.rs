//! Which model decides.

use std::path::Path;

use agent::driver::Model;
use agent::run::Run;
use model::offline::Offline;
use model::scripted::{Script, ScriptError, Scripted};
use skill::offer::Offer;

use crate::failure::{Exit, Failure};
use crate::session::Session;

/// The model that will decide: the command line's, the configuration's, or the offline planner.
pub(super) fn name(session: &Session, chosen: Option<&str>) -> String {
    chosen.or(session.layers.config.model.as_deref()).unwrap_or("offline").to_owned()
}

pub(super) fn open(
    session: &Session,
    offer: &Offer<'_>,
    run: &Run,
    chosen: Option<&str>,
) -> Result<Box<dyn Model>, Failure> {
    let name = name(session, chosen);
    match name.split_once(':') {
        None if name == "offline" => Ok(Box::new(offline(offer, run))),
        Some(("scripted", file)) => scripted(&session.surroundings.working_directory.join(file)),
        _ => Err(Failure::new(Exit::Usage, "UnknownModel", format!("there is no model `{name}`"))
            .hint("use `offline` or `scripted:FILE`")),
    }
}

fn offline(offer: &Offer<'_>, run: &Run) -> Offline {
    Offline::new(offer.search(run.request(), 5))
}

fn scripted(file: &Path) -> Result<Box<dyn Model>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::new(
            Exit::Usage,
            "InvalidScript",
            format!("cannot read `{}`: {error}", file.display()),
        )
        .hint("name a JSON file with `turns`, as in scripted:turns.json")
    })?;
    let invalid = |error: ScriptError| {
        Failure::from_error(Exit::Usage, "InvalidScript", &error).hint(error.hint())
    };
    let script = Script::parse(&text).map_err(invalid)?;
    Ok(Box::new(Scripted::new(&script).map_err(invalid)?))
}

//! What cases say about settings and approvals, and what of the user's settings they see.

use std::ffi::OsString;
use std::path::Path;
use std::time::UNIX_EPOCH;

use eval::case::Located;
use permission::Pattern;
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Failure};
use crate::session::Session;
use runtime::settings::{Objection, objections};

/// What reaches beyond the workspace and home that a case has for itself.
const BEYOND: [&str; 3] = ["network_request", "network", "install"];

/// Refuses cases that would loosen anything, before any of them runs.
pub(super) fn check(cases: &[Located]) -> Result<(), Failure> {
    for located in cases {
        let setup = &located.case.setup;
        let loose = objections(&setup.config).into_iter().next();
        if let Some(Objection { what, why }) = loose.or_else(|| reaching(&setup.approve)) {
            let message = format!("the case `{}` may not set `{what}`: {why}", located.name());
            let file = located.file.display();
            return Err(Failure::new(Exit::Refused, "CaseTooLoose", message)
                .hint(format!("a case can only make settings stricter; remove this from {file}")));
        }
    }
    Ok(())
}

/// An approval of what reaches beyond the case.
fn reaching(approvals: &[String]) -> Option<Objection> {
    let reaches = |approval: &&String| {
        let tool = Pattern::new(approval.split(':').next().unwrap_or_default());
        BEYOND.iter().any(|name| tool.matches(name))
    };
    approvals.iter().find(reaches).map(|approval| Objection {
        what: format!("approve: {approval}"),
        why: "it reaches outside the case's own workspace".to_owned(),
    })
}

/// Variables and settings that cases see; those of the user's model only where it decides.
pub(super) fn handed_on(
    session: &Session,
    with_model: bool,
) -> (Vec<(OsString, OsString)>, Map<String, Value>) {
    let binding = session.layers.binding();
    let (mut environment, mut settings) = (Vec::new(), binding.settings);
    if with_model {
        let (model, headers) = binding.config.model.handed_on();
        environment.extend(session.environment_of_models());
        environment.extend(headers);
        settings.insert("model".to_owned(), model);
    }
    environment.extend(binding.rules.map(|rules| ("SKILLFUL_PERMISSIONS".into(), rules.into())));
    (environment, settings)
}

/// Which program runs the cases, and by which rules. One that was built anew may have the old version.
pub(super) fn program_id(session: &Session, program: &Path) -> std::io::Result<String> {
    let file = std::fs::metadata(program)?;
    let built = file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let rules = session.layers.binding().rules;
    let known = (env!("CARGO_PKG_VERSION"), file.len(), built.as_nanos().to_string(), rules);
    Ok(json!(known).to_string())
}

//! Asking the person behind a client.
//!
//! Clients of the older revisions are asked while the call waits. Clients of the stateless revision are
//! handed the question, and call again with the answer; it counts only for the question it was given to.
//! Where one call asks twice, the state that goes to and fro says what was answered before.
//!
//! Invariant: a question offers what is kept, and nothing that outlives the session.

use std::collections::BTreeMap;

use axum::http::request::Parts;
use basics::sha256::Sha256;
use permission::{ApprovalRequest, Permission};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};

use crate::session::{Person, Question, Said};

/// The name of the question among those of a call.
const QUESTION: &str = "approval";
const SCOPES: [&str; 2] = ["once", "session"];
/// Questions that one call may ask, one after the other.
const ROUNDS: usize = 4;

/// Lines of a difference that a question shows.
const DIFF_LINES: usize = 200;

/// How the person behind a call can be asked.
#[derive(Clone)]
pub(super) enum Asking {
    /// Not at all.
    Not,
    /// While the call waits.
    Meanwhile(Peer<RoleServer>),
    /// By a call that brings the answer.
    ByRetry(Retry),
}

/// What a call brings that was asked before.
#[derive(Clone)]
pub(super) struct Retry {
    reach: Reach,
    /// Hashes of questions that were answered with yes.
    agreed: Vec<String>,
    /// The answer to the last question, by its hash.
    said: Option<(String, Said)>,
}

/// How long a yes can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// For the request that brings it.
    Request,
    /// Until the session ends.
    Session,
}

/// Whether a request has no session around it, as those of the stateless revision over HTTP.
pub(super) fn stands_alone(context: &RequestContext<RoleServer>) -> bool {
    is_stateless(context) && context.extensions.get::<Parts>().is_some()
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let stateless = ProtocolVersion::V_2026_07_28;
    context.protocol_version().is_some_and(|version| version.as_str() >= stateless.as_str())
}

impl Asking {
    pub(super) fn new(
        context: &RequestContext<RoleServer>,
        responses: Option<InputResponses>,
        state: Option<String>,
    ) -> Self {
        let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
        match elicitation {
            // A client that only opens web pages cannot show a question.
            Some(can) if can.form.is_none() && can.url.is_some() => Self::Not,
            None => Self::Not,
            Some(_) if is_stateless(context) => {
                let reach = if stands_alone(context) { Reach::Request } else { Reach::Session };
                let response = responses.and_then(|mut all| all.remove(QUESTION));
                Self::ByRetry(Retry::new(reach, response, state.as_deref()))
            }
            Some(_) => Self::Meanwhile(context.peer.clone()),
        }
    }

    /// The question for a client that asks and calls again; nothing for others.
    pub(super) fn handed(&self, question: &Question) -> Option<InputRequiredResult> {
        let Self::ByRetry(retry) = self else { return None };
        let request = InputRequest::Elicitation(ElicitRequest::new(form(question, retry.reach)));
        Some(InputRequiredResult::new(
            Some(BTreeMap::from([(QUESTION.to_owned(), request)])),
            Some(retry.state(question)),
        ))
    }
}

impl Retry {
    fn new(reach: Reach, response: Option<Value>, state: Option<&str>) -> Self {
        let mut agreed: Vec<String> =
            state.into_iter().flat_map(|state| state.split('.')).map(str::to_owned).collect();
        let asked = agreed.pop().filter(|_| agreed.len() < ROUNDS);
        let said = asked.and_then(|asked| Some((asked, read(response?, reach))));
        Self { reach, agreed: if said.is_some() { agreed } else { Vec::new() }, said }
    }

    fn answer(self, question: &Question) -> Option<Said> {
        let asked = hash(question);
        match self.said {
            Some((answered, said)) if answered == asked => Some(said),
            _ => self.agreed.contains(&asked).then_some(Said::Once),
        }
    }

    /// What the client brings along with the answer to the next question.
    fn state(&self, question: &Question) -> String {
        let last = self.said.iter().filter(|(_, said)| !matches!(said, Said::No(_) | Said::Later));
        let before = self.agreed.iter().chain(last.map(|(asked, _)| asked));
        before.cloned().chain([hash(question)]).collect::<Vec<_>>().join(".")
    }
}

impl Person for Asking {
    async fn ask(self, question: &Question) -> Option<Said> {
        match self {
            Self::Not => None,
            Self::Meanwhile(peer) => {
                // The changes of each call are looked at.
                let reach = match question.request.tool {
                    Permission::ApplyChanges => Reach::Request,
                    _ => Reach::Session,
                };
                let asked = peer.create_elicitation(form(question, reach)).await;
                Some(asked.map_or_else(
                    |_| Said::No(Some("the question was not answered".to_owned())),
                    |result| understand(&result, reach),
                ))
            }
            // Whoever calls again would run it again.
            Self::ByRetry(_) if question.request.tool == Permission::ApplyChanges => None,
            Self::ByRetry(retry) => retry.answer(question),
        }
    }
}

/// What is asked, whichever run asks it, and about which content of the skill.
fn hash(Question { request, content }: &Question) -> String {
    let asked = json!([request.tool, request.params, request.effect, content]);
    Sha256::of(asked.to_string()).to_string()
}

fn form(Question { request, .. }: &Question, reach: Reach) -> ElicitRequestParams {
    let line = basics::text::for_terminal;
    let (tool, effect) = (request.tool, line(&request.effect));
    let mut message = format!("Allow this? {tool} ({:?} risk)\n{effect}", request.risk);
    let facts = match tool {
        Permission::ApplyChanges => changed_files(request),
        _ => request.facts(),
    };
    for (label, value) in facts {
        message += &format!("\n{label} {}", line(&value));
    }
    let mut schema = ElicitationSchema::builder();
    if reach == Reach::Session {
        let scope = EnumSchema::builder(SCOPES.map(str::to_owned).to_vec())
            .description("once, or until this session ends")
            .build();
        schema = schema.optional_enum_schema("scope", scope);
    }
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema
            .build()
            .unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new())),
    }
}

/// The files that would change, and how.
fn changed_files(request: &ApprovalRequest) -> Vec<(&'static str, String)> {
    let files = request.params["files"].as_array().into_iter().flatten();
    let mut facts: Vec<_> =
        files.filter_map(Value::as_str).map(|file| ("file", file.to_owned())).collect();
    let diff = request.params["diff"].as_str().unwrap_or_default();
    facts.extend(diff.lines().take(DIFF_LINES).map(|line| ("", line.to_owned())));
    facts
}

fn read(said: Value, reach: Reach) -> Said {
    match serde_json::from_value(said) {
        Ok(result) => understand(&result, reach),
        Err(_) => Said::No(Some("the answer was not understood".to_owned())),
    }
}

/// A yes to more than was offered is a yes to this once.
fn understand(result: &ElicitResult, reach: Reach) -> Said {
    let scope = result.content.as_ref().and_then(|content| content["scope"].as_str());
    match (&result.action, scope) {
        (ElicitationAction::Accept, Some("session")) if reach == Reach::Session => Said::Session,
        (ElicitationAction::Accept, _) => Said::Once,
        _ => Said::No(None),
    }
}

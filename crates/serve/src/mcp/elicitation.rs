//! Asking the person behind a client.
//!
//! Clients of the older revisions are asked while the call waits. Clients of the stateless revision are
//! handed the question, and call again with the answer; it counts only for the question it was given to.

use std::collections::BTreeMap;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tools::permission::{Answer, ApprovalRequest};

use crate::session::Person;
use crate::skill_uri::hexadecimal;

/// The name of the question among those of a call.
const QUESTION: &str = "approval";
const SCOPES: [&str; 3] = ["once", "session", "always"];

/// How the person behind a call can be asked.
#[derive(Clone)]
pub(super) enum Asking {
    /// Not at all.
    Not,
    /// While the call waits.
    Meanwhile(Peer<RoleServer>),
    /// By a call that brings the answer, to the question with this hash.
    ByRetry(Option<(String, Answer)>),
}

impl Asking {
    pub(super) fn new(
        context: &RequestContext<RoleServer>,
        responses: Option<InputResponses>,
        state: Option<String>,
    ) -> Self {
        let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
        let stateless = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        match elicitation {
            // A client that only opens web pages cannot show a question.
            Some(can) if can.form.is_none() && can.url.is_some() => Self::Not,
            None => Self::Not,
            Some(_) if stateless => {
                let response = responses.and_then(|mut all| all.remove(QUESTION));
                Self::ByRetry(response.and_then(|said| Some((state?, answer(said)))))
            }
            Some(_) => Self::Meanwhile(context.peer.clone()),
        }
    }

    /// Whether the client asks and calls again.
    pub(super) fn by_retry(&self) -> bool {
        matches!(self, Self::ByRetry(_))
    }
}

impl Person for Asking {
    async fn ask(self, question: &ApprovalRequest) -> Option<Answer> {
        match self {
            Self::Not => None,
            Self::Meanwhile(peer) => {
                let asked = peer.create_elicitation(form(question)).await;
                Some(asked.map_or_else(
                    |_| Answer::Reject {
                        message: Some("the question was not answered".to_owned()),
                    },
                    understood,
                ))
            }
            Self::ByRetry(said) => {
                let (state, answer) = said?;
                (state == state_of(question)).then_some(answer)
            }
        }
    }
}

/// The question for a client that asks and calls again.
pub(super) fn input_required(question: &ApprovalRequest) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
    InputRequiredResult::new(
        Some(BTreeMap::from([(QUESTION.to_owned(), request)])),
        Some(state_of(question)),
    )
}

/// What is asked, whichever run asks it.
fn state_of(question: &ApprovalRequest) -> String {
    let asked = json!([question.tool, question.params, question.effect]);
    hexadecimal(&Sha256::digest(asked.to_string().as_bytes()))
}

fn form(question: &ApprovalRequest) -> ElicitRequestParams {
    let line = skill::text::for_terminal;
    let (tool, effect) = (line(&question.tool), line(&question.effect));
    let mut message = format!("Allow this? {tool} ({:?} risk)\n{effect}", question.risk);
    for (label, value) in question.facts() {
        message += &format!("\n{label} {}", line(&value));
    }
    let scope = EnumSchema::builder(SCOPES.map(str::to_owned).to_vec())
        .description("once, for this session, or whenever it is asked again")
        .build();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::builder()
            .optional_enum_schema("scope", scope)
            .build()
            .unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new())),
    }
}

fn answer(said: Value) -> Answer {
    match serde_json::from_value(said) {
        Ok(result) => understood(result),
        Err(_) => Answer::Reject { message: Some("the answer was not understood".to_owned()) },
    }
}

fn understood(result: ElicitResult) -> Answer {
    let scope = result.content.as_ref().and_then(|content| content["scope"].as_str());
    match (result.action, scope) {
        (ElicitationAction::Accept, Some("always")) => Answer::Always,
        (ElicitationAction::Accept, Some("session")) => Answer::Run,
        (ElicitationAction::Accept, _) => Answer::Once,
        _ => Answer::Reject { message: None },
    }
}

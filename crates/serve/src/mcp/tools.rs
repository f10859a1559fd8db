//! The tools: `skill` and its companions.

use std::borrow::Cow;
use std::sync::Arc;

use agent::action::Action;
use agent::observation::Observation;
use agent::request::Refusal;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use runtime::skill_tool::{self, Definition};
use serde_json::Value;

use super::Connection;
use super::elicitation::{Asking, stands_alone};
use crate::session::{Outcome, Question, Wanted};

impl Connection {
    pub(super) fn tools(&self) -> ListToolsResult {
        let snapshot = self.shelf.current();
        let (_, tools) = self.shelf.tools(&snapshot);
        ListToolsResult::with_all_items(tools.iter().map(tool).collect())
    }

    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || {
            let name = basics::text::for_terminal(basics::text::prefix(&request.name, 100));
            ErrorData::invalid_params(format!("there is no tool `{name}`"), None)
        };
        let snapshot = self.shelf.current();
        let offered = self.shelf.tools(&snapshot).1.iter().any(|tool| tool.name == request.name);
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let action = skill_tool::action(&request.name, arguments).filter(|_| offered);
        let action = match action.ok_or_else(unknown)? {
            Ok(action) => action,
            Err(refusal) => return Ok(to_result(&Observation::failed(&refusal)).into()),
        };
        let asking = Asking::new(context, request.input_responses, request.request_state);
        if let Some(first) = selection_before(&action, context) {
            match self.act(first, &asking, context).await? {
                Outcome::Done(observation, _) if observation.code.is_none() => {}
                other => return Ok(answered(other, &asking)),
            }
        }
        Ok(answered(self.act(action, &asking, context).await?, &asking))
    }

    async fn act(
        &self,
        action: Action,
        asking: &Asking,
        context: &RequestContext<RoleServer>,
    ) -> Result<Outcome, ErrorData> {
        let wanted = Wanted { action, invoked: None, verbatim: false };
        self.carry_out(wanted, asking, context).await
    }

    /// Does it in the client's session, unless the client gives up.
    pub(super) async fn carry_out(
        &self,
        wanted: Wanted,
        asking: &Asking,
        context: &RequestContext<RoleServer>,
    ) -> Result<Outcome, ErrorData> {
        let client = context.client_info().map_or_else(
            || "an unnamed client".to_owned(),
            |client| format!("{} {}", client.name, client.version),
        );
        let client = basics::text::for_terminal(basics::text::prefix(&client, 200)).into_owned();
        tokio::select! {
            outcome = self.session.call(wanted, &client, asking.clone()) => {
                outcome.map_err(|error| ErrorData::internal_error(error.to_string(), None))
            }
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the request was cancelled", None))
            }
        }
    }
}

/// A request of its own has no conversation before it, so a script's skill is selected first.
fn selection_before(action: &Action, context: &RequestContext<RoleServer>) -> Option<Action> {
    match action {
        Action::RunScript { skill, .. } if stands_alone(context) => {
            let reason = "its script is to run".to_owned();
            Some(Action::SelectSkills { skills: vec![skill.clone()], reason })
        }
        _ => None,
    }
}

fn answered(outcome: Outcome, asking: &Asking) -> CallToolResponse {
    match outcome {
        Outcome::Done(observation, _) => to_result(&observation).into(),
        Outcome::Asks(question) => match asking.handed(&question) {
            Some(handed) => handed.into(),
            None => to_result(&Observation::failed(&unanswered(&question))).into(),
        },
    }
}

fn tool(definition: &Definition) -> Tool {
    let Value::Object(schema) = definition.input_schema.clone() else { return Tool::default() };
    let mut tool = Tool::default();
    tool.name = Cow::Borrowed(definition.name);
    tool.title = Some(definition.title.to_owned());
    tool.description = Some(definition.description.clone().into());
    tool.input_schema = Arc::new(schema);
    tool.annotations =
        Some(ToolAnnotations::new().read_only(definition.read_only).open_world(false));
    tool
}

fn to_result(observation: &Observation) -> CallToolResult {
    let content = vec![ContentBlock::text(observation.text.clone())];
    match observation.code {
        None => CallToolResult::success(content),
        Some(_) => CallToolResult::error(content),
    }
}

pub(super) fn unanswered(Question { request, .. }: &Question) -> Refusal {
    Refusal::new(
        "ApprovalRequired",
        format!("`{}` needs an approval and this client cannot be asked for one", request.tool),
        format!("tell the user; to allow it, start the server with: {}", request.replay),
    )
}

//! Skills that a person can choose, as prompts.

use agent::action::{Action, SkillRef};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    Prompt, PromptArgument, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use skill::index::Entry;

use super::elicitation::Asking;
use super::tools::unanswered;
use super::{Connection, page};
use crate::session::{Outcome, Wanted};

/// Prompts on one page.
const PAGE: usize = 200;
/// What the person wants done with the skill.
const REQUEST: &str = "request";

impl Connection {
    pub(super) fn prompts(&self, cursor: Option<String>) -> Result<ListPromptsResult, ErrorData> {
        let snapshot = self.shelf.current();
        let (entries, next_cursor) = page(self.shelf.invocable(&snapshot), cursor, PAGE)?;
        let prompts = entries.into_iter().map(prompt).collect();
        Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(prompts) })
    }

    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let snapshot = self.shelf.current();
        let invocable = self.shelf.invocable(&snapshot);
        let entry = invocable.into_iter().find(|entry| entry.name == request.name);
        let entry = entry.ok_or_else(|| {
            let name = basics::text::for_terminal(basics::text::prefix(&request.name, 100));
            ErrorData::invalid_params(format!("there is no prompt `{name}`"), None)
        })?;
        let skill = SkillRef { name: entry.name.clone(), source: Some(entry.source) };
        let asking = Asking::new(context, request.input_responses, request.request_state);
        let reason = "chosen by the user".to_owned();
        let wanted = Wanted {
            action: Action::SelectSkills { skills: vec![skill.clone()], reason },
            invoked: Some(skill),
            verbatim: false,
        };
        let observation = match self.carry_out(wanted, &asking, context).await? {
            Outcome::Done(observation, _) => *observation,
            Outcome::Asks(question) => {
                if let Some(handed) = asking.handed(&question) {
                    return Ok(handed.into());
                }
                let refusal = unanswered(&question);
                return Err(ErrorData::invalid_request(refusal.message, Some(refusal.hint.into())));
            }
        };
        if observation.code.is_some() {
            return Err(ErrorData::invalid_request(observation.text, None));
        }
        let wish =
            request.arguments.as_ref().and_then(|arguments| arguments.get(REQUEST)?.as_str());
        let text = match wish {
            Some(wish) => format!("{}\n\nUse this skill for: {wish}", observation.text),
            None => observation.text,
        };
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        let result = GetPromptResult::new(messages).with_description(entry.description.clone());
        Ok(result.into())
    }
}

fn prompt(entry: &Entry) -> Prompt {
    let request = PromptArgument::new(REQUEST)
        .with_description("What is to be done with the skill")
        .with_required(false);
    Prompt::new(entry.name.clone(), Some(entry.description.clone()), Some(vec![request]))
}

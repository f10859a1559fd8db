//! Skills' files as resources.

use agent::action::{Action, SkillRef};
use agent::observation::Observation;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use skill::index::Entry;
use skill::load::{Files, SkillFile};

use super::elicitation::Asking;
use super::tools::unanswered;
use super::{Connection, page};
use crate::session::{Outcome, Wanted};
use crate::shelf::Shelf;
use crate::skill_uri::SkillUri;

/// Skills whose files stand on one page.
const PAGE: usize = 100;

/// What clients can fill in to name a file.
pub(super) const TEMPLATE: &str = "skill://{name}/{+path}";

pub(super) fn listed(
    shelf: &Shelf,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let snapshot = shelf.current();
    let offer = shelf.offer(&snapshot);
    let (entries, next_cursor) = page(offer.skills().collect(), cursor, PAGE)?;
    let resources = entries.into_iter().flat_map(|entry| {
        files(entry).into_iter().map(|file| resource(entry, &file)).collect::<Vec<_>>()
    });
    let resources = resources.collect();
    Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) })
}

impl Connection {
    pub(super) async fn resource(
        &self,
        request: ReadResourceRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some((SkillUri { skill, .. }, path)) =
            SkillUri::read(&uri).and_then(|read| Some((read.clone(), read.path?)))
        else {
            return Err(unknown(&uri));
        };
        let asking = Asking::new(context, request.input_responses, request.request_state);
        let skill = SkillRef::from_name(skill);
        let wanted = Wanted {
            action: Action::LoadResource { skill, relative_path: path, section_hint: None },
            invoked: None,
            verbatim: true,
        };
        match self.carry_out(wanted, &asking, context).await? {
            Outcome::Done(_, Some(bytes)) => {
                Ok(ReadResourceResult::new(vec![contents(uri, bytes)]).into())
            }
            Outcome::Done(observation, None) => Err(refused(&uri, &observation)),
            Outcome::Asks(question) => match asking.handed(&question) {
                Some(handed) => Ok(handed.into()),
                None => {
                    let refusal = unanswered(&question);
                    Err(ErrorData::invalid_request(refusal.message, Some(refusal.hint.into())))
                }
            },
        }
    }
}

/// What is served is what was listed: a file, not a link to somewhere else.
pub(super) fn files(entry: &Entry) -> Vec<SkillFile> {
    Files::open(entry).map(|files| files.list()).unwrap_or_default()
}

pub(super) fn resource(entry: &Entry, file: &SkillFile) -> Resource {
    let uri = SkillUri::of(&entry.name, &file.path).to_string();
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let resource = match file.path.as_str() {
        "SKILL.md" => {
            Resource::new(uri, entry.name.clone()).with_description(entry.description.clone())
        }
        _ => Resource::new(uri, name),
    };
    resource.with_mime_type(mime_type(&file.path)).with_size(file.size)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "skill-file")
        .with_title("A file of a skill")
        .with_description("One file of a skill, by the skill's name and the file's path");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The same for what is not there and for what must not be seen.
pub(super) fn unknown(uri: &str) -> ErrorData {
    let uri = basics::text::for_terminal(basics::text::prefix(uri, 300));
    ErrorData::invalid_params(format!("nothing is served at `{uri}`"), None)
}

fn refused(uri: &str, observation: &Observation) -> ErrorData {
    match observation.code.as_deref() {
        Some("ApprovalDenied" | "ToolNotAllowed" | "FileTooLarge") => {
            ErrorData::invalid_request(observation.text.clone(), None)
        }
        Some("IOError") => ErrorData::internal_error(observation.text.clone(), None),
        _ => unknown(uri),
    }
}

fn contents(uri: String, bytes: Vec<u8>) -> ResourceContents {
    let mime_type = SkillUri::read(&uri).and_then(|uri| Some(mime_type(&uri.path?).to_owned()));
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            ResourceContents::TextResourceContents { uri, mime_type, text, meta: None }
        }
        Ok(text) => blob(uri, mime_type, text.as_bytes()),
        Err(error) => blob(uri, mime_type, error.as_bytes()),
    }
}

fn blob(uri: String, mime_type: Option<String>, bytes: &[u8]) -> ResourceContents {
    let blob = STANDARD.encode(bytes);
    ResourceContents::BlobResourceContents { uri, mime_type, blob, meta: None }
}

/// By the name alone; a guess, as everywhere.
pub(super) fn mime_type(path: &str) -> &'static str {
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    match extension.map_or("", |(_, extension)| extension) {
        "md" | "markdown" => "text/markdown",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "py" => "text/x-python",
        "sh" | "bash" => "application/x-sh",
        "js" | "mjs" => "text/javascript",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "txt" | "" | "toml" | "xml" | "rs" | "ts" | "rb" | "pl" => "text/plain",
        _ => "application/octet-stream",
    }
}

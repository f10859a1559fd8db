//! Suggestions while a person fills in the address of a file.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::resources::{self, TEMPLATE};
use crate::shelf::Shelf;

pub(super) fn completed(shelf: &Shelf, request: &CompleteRequestParams) -> CompleteResult {
    let snapshot = shelf.current();
    let offer = shelf.offer(&snapshot);
    let begun = request.argument.value.as_str();
    let chosen = request.context.as_ref().and_then(|context| context.arguments.as_ref());
    let mut values: Vec<String> = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Resource(template), "name") if template.uri == TEMPLATE => {
            offer.skills().map(|entry| entry.name.clone()).collect()
        }
        (Reference::Resource(template), "path") if template.uri == TEMPLATE => {
            let entry = chosen.and_then(|chosen| offer.get(chosen.get("name")?, None));
            entry.map(resources::files).into_iter().flatten().map(|file| file.path).collect()
        }
        _ => Vec::new(),
    };
    values.retain(|value| value.starts_with(begun));
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_pagination(values, total, has_more);
    CompleteResult::new(completion.unwrap_or_default())
}

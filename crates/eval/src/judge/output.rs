//! Is the answer what was expected?

use serde_json::Value;

use super::{Checks, Dimension};
use crate::case::{Case, Format};
use crate::trace::Trace;

pub(super) fn judge(case: &Case, trace: &Trace<'_>, checks: &mut Checks) {
    let ending = trace.events.last().map(|event| event.seq);
    let mut check = |result| checks.add(Dimension::Output, result, ending);
    let stopped = trace.stop_reason();
    match &case.expect.stop_reason {
        Some(wanted) if wanted == stopped => check(Ok(format!("stopped with `{stopped}`"))),
        Some(wanted) => check(Err(format!("stopped with `{stopped}`, not with `{wanted}`"))),
        None => {}
    }
    let output = &case.expect.output;
    let answer = trace.answer().unwrap_or_default();
    for text in &output.contains_all {
        check(match answer.contains(text) {
            true => Ok(format!("the answer contains {text:?}")),
            false => Err(format!("the answer lacks {text:?}")),
        });
    }
    if !output.contains_any.is_empty() {
        check(match output.contains_any.iter().find(|text| answer.contains(*text)) {
            Some(text) => Ok(format!("the answer contains {text:?}")),
            None => Err(format!("the answer contains none of {:?}", output.contains_any)),
        });
    }
    for text in &output.not_contains {
        check(match answer.contains(text) {
            false => Ok(format!("the answer does not contain {text:?}")),
            true => Err(format!("the answer contains {text:?}")),
        });
    }
    if let Some(pattern) = &output.regex {
        check(match regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(answer)) {
            true => Ok(format!("`{pattern}` matches the answer")),
            false => Err(format!("`{pattern}` does not match the answer")),
        });
    }
    if let Some(format) = output.format {
        check(formatted(format, answer));
    }
    if let Some(schema) = &output.json_schema {
        check(fits(schema, answer.as_bytes()).map(|()| "the answer fits its schema".to_owned()));
    }
}

fn formatted(format: Format, answer: &str) -> Result<String, String> {
    match format {
        Format::Text => Ok("the answer is text".to_owned()),
        Format::Markdown if answer.trim().is_empty() => Err("the answer is empty".to_owned()),
        Format::Markdown => Ok("the answer is Markdown".to_owned()),
        Format::Json => match serde_json::from_str::<Value>(answer) {
            Ok(_) => Ok("the answer is JSON".to_owned()),
            Err(error) => Err(format!("the answer is not JSON: {error}")),
        },
    }
}

/// Whether `bytes` are JSON that `schema` allows.
pub(super) fn fits(schema: &Value, bytes: &[u8]) -> Result<(), String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| format!("the schema cannot be used: {error}"))?;
    validator
        .validate(&value)
        .map_err(|error| format!("does not fit its schema at `{}`: {error}", error.instance_path()))
}

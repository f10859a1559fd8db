//! What a server means by an answer that is an error.

use std::time::Duration;

use serde_json::Value;

use crate::excerpt::excerpt;
use crate::failure::CallError;

/// The status of an answer, and what matters of its headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// Where it leads.
    pub location: Option<String>,
    /// `Retry-After`, as it stands there.
    pub retry_after: Option<String>,
}

/// What an answer that is not a success means.
pub fn refused(head: &Head, body: &[u8], now: jiff::Timestamp) -> CallError {
    let text = String::from_utf8_lossy(body);
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let message = parsed.as_ref().and_then(message_of).unwrap_or_else(|| excerpt(&text));
    let code = parsed.as_ref().map(|value| kind(&value["error"])).unwrap_or_default();
    let wait = head.retry_after.as_deref().and_then(|text| retry_after(text, now));
    if let 300..400 = head.status {
        let location = head.location.as_deref().map_or_else(|| "nowhere".to_owned(), excerpt);
        return CallError::Redirected { status: head.status, location };
    }
    classify(head.status, &code, message, wait)
}

/// What an error means that comes in the middle of an answer.
pub(crate) fn reported(error: &Value) -> CallError {
    let message = message_of(error).unwrap_or_else(|| excerpt(&error.to_string()));
    let code = kind(error);
    let status = match code.as_str() {
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        "overloaded_error" => 529,
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        "invalid_request_error" => 400,
        _ => match &error["code"] {
            Value::Number(number) => number.as_u64().and_then(|it| u16::try_from(it).ok()),
            _ => None,
        }
        .unwrap_or(500),
    };
    classify(status, &code, message, None)
}

fn classify(status: u16, code: &str, message: String, wait: Option<Duration>) -> CallError {
    let lower = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match status {
        401 => CallError::Unauthorized { status, message },
        403 => CallError::Forbidden { status, message },
        402 => CallError::QuotaExceeded { status, message },
        404 if says(&["model"]) => CallError::NotFound { message },
        404 => CallError::WrongAddress { message },
        429 if code == "insufficient_quota" => CallError::QuotaExceeded { status, message },
        429 => CallError::RateLimited { status, message, wait },
        _ if code == "context_length_exceeded" || code == "exceed_context_size_error" => {
            CallError::ContextTooLong { status, message }
        }
        // A limit of the reply that is too high is another matter.
        400 | 413
            if !says(&["max_tokens", "max_completion_tokens"])
                && says(&["context length", "context window", "context size", "too long"]) =>
        {
            CallError::ContextTooLong { status, message }
        }
        // Some say so when they do not understand what was asked for.
        500 if says(&["tools", "grammar", "schema", "response_format", "jinja"]) => {
            CallError::Refused { status, message }
        }
        408 | 500..600 if status != 501 => CallError::Server { status, message, wait },
        _ => CallError::Refused { status, message },
    }
}

/// What is said about an error, wherever a server puts it.
fn message_of(value: &Value) -> Option<String> {
    let places = [&value["error"]["message"], &value["message"], &value["error"], &value["detail"]];
    let text = places.into_iter().find_map(|place| match place {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(_) => Some(place.to_string()),
        _ => None,
    });
    text.map(|text| excerpt(&text))
}

/// The name that a server gives an error.
fn kind(error: &Value) -> String {
    let name = error["code"].as_str().or(error["type"].as_str());
    name.unwrap_or_default().to_owned()
}

/// Seconds, or a date.
fn retry_after(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let date = jiff::fmt::rfc2822::parse(&text.replace("GMT", "+0000")).ok()?;
    let left = date.timestamp().duration_since(now);
    Some(Duration::try_from(left).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests;

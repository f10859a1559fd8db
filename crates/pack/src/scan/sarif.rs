//! A report as SARIF 2.1.0, which code hosts and editors show beside the code.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use super::{Finding, RULES, Report, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Reports as one SARIF document, with how much was looked at and how much was not; each comes with the path its files are relative to.
pub fn sarif<'a>(version: &str, reports: impl IntoIterator<Item = (&'a str, &'a Report)>) -> Value {
    let reports: Vec<(&str, &Report)> = reports.into_iter().collect();
    let results: Vec<Value> = reports
        .iter()
        .flat_map(|(folder, report)| report.findings.iter().map(|finding| result(folder, finding)))
        .collect();
    let skipped: Vec<Value> = reports
        .iter()
        .flat_map(|(folder, report)| {
            report.not_looked_at.iter().map(|skipped| {
                json!({
                    "level": "note",
                    "message": {"text": format!("not scanned: {}", skipped.reason)},
                    "locations": [{"physicalLocation": {
                        "artifactLocation": {"uri": uri(folder, &skipped.file)},
                    }}],
                })
            })
        })
        .collect();
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.explanation},
                "help": {"text": rule.hint},
                "defaultConfiguration": {"level": level(rule.worst())},
                "properties": {"security-severity": score(rule.worst())},
            })
        })
        .collect();
    let sum =
        |part: fn(&Report) -> u64| reports.iter().map(|(_, report)| part(report)).sum::<u64>();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "skillful", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": skipped,
            }],
            "results": results,
            "properties": {
                "looked_at": {
                    "files": sum(|report| report.looked_at.files as u64),
                    "bytes": sum(|report| report.looked_at.bytes),
                },
                "not_looked_at": sum(|report| {
                    (report.not_looked_at.len() + report.more_not_looked_at) as u64
                }),
                "omitted": sum(|report| report.omitted as u64),
            },
        }],
    })
}

fn result(folder: &str, finding: &Finding) -> Value {
    let rule = RULES.iter().position(|rule| rule.id == finding.rule);
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": level(finding.severity),
        "message": {"text": format!("{}. {}.", finding.explanation, finding.hint)},
        "properties": {"severity": finding.severity, "excerpt": finding.excerpt},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(folder, &finding.file)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }}],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info | Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

/// The number by which code hosts sort.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "0.0",
        Severity::Low => "3.0",
        Severity::Medium => "5.5",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    }
}

/// A path as a URI: relative where the folder is.
fn uri(folder: &str, file: &str) -> String {
    use std::fmt::Write;
    let path = if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    path.bytes().fold(scheme.to_owned(), |mut uri, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => write!(uri, "%{other:02X}").expect("writing to a string"),
        }
        uri
    })
}

//! Records as anybody can make them who has no key: other events, and a chain that fits.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Changes the events of a record and makes its chain anew.
pub(crate) fn forge(folder: &Path, change: impl FnOnce(&mut Vec<Value>)) {
    let text = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    let mut events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    change(&mut events);
    let (mut lines, mut seals, mut previous) = (String::new(), String::new(), String::new());
    for (event, seq) in events.iter_mut().zip(1..) {
        event["seq"] = json!(seq);
        event["prev"] = json!(previous);
        let line = event.to_string();
        previous = hash(line.as_bytes());
        lines += &format!("{line}\n");
        seals += &format!("{previous}\n");
    }
    fs::write(folder.join("events.jsonl"), lines).unwrap();
    fs::write(folder.join("events.seal"), seals).unwrap();
    for name in ["run.json", "final.md", "state.json"] {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// The first event of a kind.
pub(crate) fn of<'e>(events: &'e mut [Value], kind: &str) -> &'e mut Value {
    let found = events.iter_mut().find(|event| event["type"] == kind);
    found.unwrap_or_else(|| panic!("there is no `{kind}`"))
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

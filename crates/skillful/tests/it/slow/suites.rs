//! The suites of this repository.

use serde_json::Value;

use crate::eval::{authors, suites};

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn every_suite_of_this_repository_passes() {
    let Some(suites) = suites() else { return };
    let world = authors();
    let seen = world.run(&format!("skillful eval run -q {}", suites.display()));
    assert!(!seen.contains('✗') && !seen.contains("[exit"), "{seen}");
    let report = world.json(&format!("skillful eval run --json {}", suites.display()));
    let results = report["results"].as_array().unwrap();
    let failed: Vec<&Value> = results.iter().filter(|result| result["passed"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(report["summary"]["cases"].as_u64().unwrap() >= 80);
    for dimension in
        ["trigger", "sequence", "disclosure", "security", "budget", "output", "files", "streaming"]
    {
        assert_eq!(report["summary"]["dimensions"][dimension], 1.0, "{dimension}");
    }
}

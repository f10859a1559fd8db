//! Replies of a model: no panic, a short problem, and a decision that is read back from its own text.
#![no_main]

use agent::action::Decision;
use libfuzzer_sys::fuzz_target;
use model::decision;

fuzz_target!(|text: &str| {
    match decision::parse(text) {
        Ok(decided) => {
            let written = serde_json::to_string(&decided).expect("a decision is JSON");
            // Against the plain reader, since a float may lose its last bit in either.
            let plain: Decision = serde_json::from_str(&written).expect("a decision");
            assert_eq!(decision::parse(&written), Ok(plain));
        }
        Err(problem) => assert!(problem.for_model().len() < 2_000, "{problem}"),
    }
});

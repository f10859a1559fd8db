//! Replies of a model: no panic, a short problem, a decision that is read back from its own text, and by the end all of
//! its answer was shown.
#![no_main]

use agent::action::{Action, Decision};
use fuzz::split;
use libfuzzer_sys::fuzz_target;
use model::decision;
use model::early::{Early, Shown};

fn shown<'a>(pieces: impl Iterator<Item = &'a [u8]>, decided: Option<&Decision>) -> String {
    let (mut early, mut answer) = (Early::new(), String::new());
    let mut show = |shown: Shown<'_>| {
        if let Shown::Answer(text) = shown {
            answer.push_str(text);
        }
    };
    pieces.for_each(|piece| early.push(piece, &mut show));
    if let Some(decided) = decided {
        early.finish(decided, &mut show);
    }
    answer
}

fuzz_target!(|data: &[u8]| {
    let (text, pieces) = split(data);
    let Ok(text) = std::str::from_utf8(text) else { return };
    match decision::parse(text) {
        Ok(understood) => {
            let decided = understood.decision;
            let written = serde_json::to_string(&decided).expect("a decision is JSON");
            // Against the plain reader, since a float may lose its last bit in either.
            let plain: Decision = serde_json::from_str(&written).expect("a decision");
            let again = decision::parse(&written).map(|understood| understood.decision);
            assert_eq!(again, Ok(plain));
            let answer = shown(pieces, Some(&decided));
            if let Action::FinalAnswer { content } = decided.action {
                assert_eq!(answer, content);
            }
        }
        Err(problem) => {
            assert!(problem.for_model().len() < 2_000, "{problem}");
            shown(pieces, None);
        }
    }
});

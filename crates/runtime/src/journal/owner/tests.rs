#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends there")]

use std::path::Path;

use super::*;

fn owner(byte: u8, workspace: &str) -> Owner {
    Owner::new(RecordKey::new([byte; KEY]), Path::new(workspace))
}

#[test]
fn a_signature_holds_for_one_commit_of_one_run_in_one_workspace_with_one_key() {
    let own = owner(1, "/project");
    let signature = own.sign(Origin::Here, "run", 3, "a b c");
    assert!(own.signed(&signature, "run", 3, "a b c"));
    assert!(!own.signed(&signature, "other", 3, "a b c"));
    assert!(!own.signed(&signature, "run", 4, "a b c"));
    assert!(!own.signed(&signature, "run", 3, "a b d"));
    assert!(!owner(2, "/project").signed(&signature, "run", 3, "a b c"));
    assert!(!owner(1, "/elsewhere").signed(&signature, "run", 3, "a b c"));
    let adopted = Signature { origin: Origin::Adopted, ..signature };
    assert!(!own.signed(&adopted, "run", 3, "a b c"), "one word cannot be taken for the other");
}

#[test]
fn a_signature_is_read_as_it_was_written() {
    for origin in [Origin::Here, Origin::Adopted] {
        let signature = owner(1, "/").sign(origin, "run", 1, "a");
        let written = signature.to_string();
        assert_eq!(Signature::parse(written.as_bytes()), Some(signature));
        for length in 0..=written.len() {
            assert!(Signature::is_begun(&written.as_bytes()[..length]), "{length}");
        }
        assert!(!Signature::is_begun(format!("{written}0").as_bytes()));
    }
    for word in ["", "made:", "made:00", "maid:", "elsewhere:", &format!("made:{}", "G".repeat(64))]
    {
        assert_eq!(Signature::parse(word.as_bytes()), None, "{word}");
    }
}

#[test]
fn a_key_is_not_shown() {
    assert_eq!(format!("{:?}", RecordKey::new([7; KEY])), "RecordKey(…)");
}

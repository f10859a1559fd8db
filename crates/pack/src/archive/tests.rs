use std::io::{Seek, Write};

use basics::sha256::Sha256;
use proptest::prelude::*;
use skill::metadata::ReadOptions;
use skill::trust::TrustStore;

use super::write::Writer;
use super::*;
use crate::check::{CheckError, Rules, check};
use crate::manifest::{FileRecord, Manifest, ManifestSkill};
use crate::material::{Material, Mode};

const SKILL: &str = "---\nname: a\ndescription: A.\nversion: 1.0.0\n---\nBody.\n";

fn record(path: &str, content: &str, mode: Mode) -> FileRecord {
    FileRecord {
        path: path.to_owned(),
        sha256: Sha256::of(content.as_bytes()).to_string(),
        size: content.len() as u64,
        mode,
    }
}

/// A pack as this program writes it.
fn pack() -> Vec<u8> {
    let skills = vec![ManifestSkill {
        name: "a".to_owned(),
        version: Some("1.0.0".to_owned()),
        dir: "a".to_owned(),
    }];
    let files = vec![
        record("a/SKILL.md", SKILL, Mode::Plain),
        record("a/scripts/x", "exit 0\n", Mode::Executable),
    ];
    let mut writer = Writer::new(Vec::new());
    writer.add("a/SKILL.md", Mode::Plain, SKILL.as_bytes()).unwrap();
    writer.add("a/scripts/x", Mode::Executable, b"exit 0\n").unwrap();
    writer.add(MANIFEST, Mode::Plain, &Manifest::new(skills, files).to_bytes()).unwrap();
    writer.finish().unwrap()
}

fn checked(bytes: &[u8]) -> Result<(), CheckError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    let material = Material::zip(file, Limits::default())?;
    let rules =
        Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
    check(material, None, &rules, None, &|_| ()).map(|_| ())
}

#[test]
fn no_byte_of_a_pack_can_be_changed_unseen() {
    let bytes = pack();
    checked(&bytes).unwrap();
    for at in 0..bytes.len() {
        for change in [1, 0x20, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let error = checked(&changed).expect_err(&format!("byte {at} ^ {change}"));
            assert!(matches!(error, CheckError::Refused(_)), "{error}");
        }
        assert!(checked(&bytes[..at]).is_err(), "cut at {at}");
    }
}

proptest! {
    #[test]
    fn nothing_that_is_not_a_zip_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(checked(&bytes).is_err());
    }

    #[test]
    fn a_pack_with_anything_in_it_does_not_panic(at in 0..900_usize, bytes in proptest::collection::vec(any::<u8>(), 1..30)) {
        let mut changed = pack();
        let at = at % changed.len();
        let end = (at + bytes.len()).min(changed.len());
        changed.splice(at..end, bytes);
        let _ = checked(&changed);
    }
}

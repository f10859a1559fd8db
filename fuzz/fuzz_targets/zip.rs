//! Zip files: no panic, and what is accepted has safe names and content within the limits.
#![no_main]

use std::io::{Seek, Write};

use libfuzzer_sys::fuzz_target;
use pack::material::{Limits, Material};

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).and_then(|()| file.rewind()).expect("room for it");
    let limits = Limits { entries: 20, bytes: 10_000, ratio: 100 };
    let Ok(material) = Material::zip(file, limits) else { return };
    for entry in material.entries() {
        let path = entry.path.as_str();
        assert!(!path.starts_with('/') && !path.split('/').any(|part| matches!(part, "" | "." | "..")));
        let mut content = Vec::new();
        if material.copy(entry, &mut content).is_ok() {
            assert_eq!(content.len() as u64, entry.size);
        }
    }
});

//! Manifests: no panic, and what is accepted is written and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pack::manifest::Manifest;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::parse(bytes) {
        assert_eq!(Manifest::parse(&manifest.to_bytes()).as_ref(), Ok(&manifest));
    }
});

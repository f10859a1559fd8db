//! Frontmatters: no panic, the same answer however the file is read in blocks, the fast path true to
//! the full parser, and what is accepted within the rules.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skill::frontmatter::{Limits, Split, both_parsers, split};
use skill::metadata::{Metadata, Mode, ReadOptions};

fn read(yaml: &str) {
    let strict = ReadOptions::default();
    let lenient = ReadOptions { mode: Mode::Lenient, ..strict };
    let read = Metadata::read(yaml, "folder", &strict);
    if let Ok(metadata) = &read {
        assert!(!metadata.name.is_empty() && !metadata.description.is_empty());
        let shown = [&metadata.name, &metadata.description];
        assert!(shown.iter().all(|text| !basics::text::has_hidden(text)));
        assert!(shown.iter().all(|text| !text.contains(['<', '>'])));
        assert!(
            Metadata::read(yaml, "folder", &lenient).is_ok(),
            "lenient accepts what strict does"
        );
    }
    let (fast, full) = both_parsers(yaml, &Limits::default());
    if let Some(fields) = fast {
        assert_eq!(Ok(fields), full);
    }
}

fuzz_target!(|file: &[u8]| {
    let limits = Limits { lines: 20, line_chars: 40, depth: 8 };
    let whole = split(file, &limits);
    for end in 0..file.len().min(200) {
        let part = split(&file[..end], &limits);
        assert!(part == Ok(Split::Unfinished) || part == whole);
    }
    if let Ok(Split::Whole { yaml, body }) = whole {
        assert!(yaml.end < body && body <= file.len());
        if let Ok(yaml) = std::str::from_utf8(&file[yaml]) {
            read(yaml);
        }
    }
    if let Ok(yaml) = std::str::from_utf8(file) {
        read(yaml);
    }
});

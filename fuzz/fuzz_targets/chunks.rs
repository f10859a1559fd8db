//! Bodies with chunks: no panic, nothing twice, nothing lost, and a core that has no chunk left.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skill::chunks::parse;

fn letters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

fuzz_target!(|body: &str| {
    let parts = parse(body);
    let contents = parts.chunks.iter().map(|chunk| letters(&chunk.content)).sum::<usize>();
    let kept = letters(&parts.core) + contents;
    let tags = parts.chunks.len() * letters("<chunk id=\"x\"></chunk>");
    assert!(kept + tags <= letters(body), "what is not a tag is in the core or in one chunk");
    if parts.chunks.is_empty() {
        assert_eq!(parts.core, body);
    }
    for (at, chunk) in parts.chunks.iter().enumerate() {
        assert!(!chunk.id.is_empty() && !chunk.id.contains('\n'));
        assert!(!chunk.description.contains('\n'));
        assert!(parts.chunks[..at].iter().all(|other| other.id != chunk.id));
        assert!(body.contains(chunk.content.as_str()));
    }
});

//! Sections of Markdown: a section lies in the text, begins with a heading and ends before one of its
//! level or above; a trimmed text keeps its budget.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skill::sections::{find, headings, outline, trimmed};

fuzz_target!(|input: (&str, &str, u8, u8)| {
    let (text, hint, lines, chars) = input;
    let all = headings(text);
    assert_eq!(outline(text).lines().count(), all.len());
    if let Some(range) = find(text, hint) {
        let section = all.iter().find(|heading| heading.start == range.start).expect("a heading");
        let inner = all.iter().filter(|it| it.start > range.start && it.start < range.end);
        assert!(inner.into_iter().all(|heading| heading.level > section.level));
        let next = all.iter().find(|heading| heading.start == range.end);
        assert!(range.end == text.len() || next.is_some_and(|next| next.level <= section.level));
    }
    let left = trimmed(text, lines.into(), chars.into());
    assert!(left.lines().count() <= lines.into() && left.chars().count() <= chars.into());
});

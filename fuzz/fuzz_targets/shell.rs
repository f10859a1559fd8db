//! Shell lines: no panic, every command has a program, what is remembered for always matches what it was made from, and a
//! command that is found alone is found again behind another one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shell::{LONGEST, read};

fuzz_target!(|line: &str| {
    let found = read(line);
    assert!(line.len() <= LONGEST || !found.is_clear());
    for command in &found.commands {
        assert!(!command.words.is_empty());
        let text = command.text();
        assert!(!command.shadows().contains(&text));
        if let Some(pattern) = command.always() {
            let start = pattern.trim_end_matches('*').trim_end();
            assert!(text.starts_with(start), "{pattern} is not about {text}");
        }
    }
    for unclear in &found.unclear {
        assert!(!unclear.to_string().is_empty());
    }
    let behind = read(&format!("true; {line}"));
    if found.is_clear() && behind.is_clear() {
        assert!(behind.commands.len() > found.commands.len());
    }
});

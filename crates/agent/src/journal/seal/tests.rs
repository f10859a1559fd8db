use super::*;

/// How many hashes there are, how many are committed, and whether all of it is well formed.
fn check(text: &str) -> (usize, usize, bool) {
    let text = text.replace('H', &"0a".repeat(32)).replace('h', &"0a".repeat(10));
    let seals = Seals::parse(text.as_bytes());
    (seals.hashes.len(), seals.committed, !seals.malformed)
}

#[test]
fn a_commit_is_a_line_of_hashes() {
    assert_eq!(check(""), (0, 0, true));
    assert_eq!(check("H\n"), (1, 1, true));
    assert_eq!(check("H H H\nH\n"), (4, 4, true));
}

#[test]
fn a_line_without_its_end_is_a_commit_under_way() {
    assert_eq!(check("H\nH H"), (3, 1, true));
    assert_eq!(check("H\nH H "), (3, 1, true));
    assert_eq!(check("H\nH h"), (2, 1, true));
    assert_eq!(check("h"), (0, 0, true));
    assert_eq!(check("H\n\0\0\0"), (1, 1, true));
}

#[test]
fn anything_else_was_not_written_here() {
    for text in
        ["\n", "H\n\n", "\nH\n", "h\n", "H h\n", "H  H\n", " H\n", "HH\n", "x\n", "H\nx", "H\n-H"]
    {
        assert!(!check(text).2, "{text:?}");
    }
}

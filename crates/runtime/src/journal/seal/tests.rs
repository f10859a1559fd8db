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

#[test]
fn a_signature_ends_a_commit() {
    let mac = "0a".repeat(32);
    let signed = |text: &str| check(&text.replace('S', &format!("made:{mac}")));
    assert_eq!(signed("H S\n"), (1, 1, true));
    assert_eq!(signed("H H S\nH S\n"), (3, 3, true));
    assert_eq!(signed("H S\nH H S"), (3, 1, true));
    assert_eq!(signed("H S\nH m"), (2, 1, true));
    for text in
        ["S\n", "H S S\n", "S H\n", "H S H\n", "H SS\n", "H made:\n", "H S\nH S H", "H mode:"]
    {
        assert!(!signed(text).2, "{text:?}");
    }
}

#[test]
fn a_record_is_whose_who_signed_the_commit_of_its_last_event() {
    use super::super::owner::RecordKey;
    let owner = Owner::new(RecordKey::new([1; 32]), std::path::Path::new("/project"));
    let [a, b, c] = ["a", "b", "c"].map(|digit| digit.repeat(64));
    let first = owner.sign(Origin::Here, "run", 2, &format!("{a} {b}"));
    let second = owner.sign(Origin::Here, "run", 3, &c);
    let whole = format!("{a} {b} {first}\n{c} {second}");
    let check = |text: &str, events: usize, last: &str| {
        Seals::parse(text.as_bytes()).origin(&owner, "run", events, last)
    };
    for (events, last) in [(1, &a), (2, &b), (3, &c)] {
        assert_eq!(check(&whole, events, last), Origin::Here, "{events}");
        assert_eq!(check(&whole, events, &"0".repeat(64)), Origin::Elsewhere, "{events}");
        let other = Seals::parse(whole.as_bytes()).origin(&owner, "other", events, last);
        assert_eq!(other, Origin::Elsewhere);
    }
    // Events that no signed commit speaks of.
    assert_eq!(check(&format!("{a} {b} {first}\n{c}\n"), 3, &c), Origin::Elsewhere);
    assert_eq!(check(&format!("{a} {b} {first}\n"), 3, &c), Origin::Elsewhere);
    assert_eq!(check("", 0, ""), Origin::Elsewhere);
    // A commit cut back, or put together anew.
    assert_eq!(check(&format!("{a} {first}\n"), 1, &a), Origin::Elsewhere);
    assert_eq!(check(&format!("{a}\n{b} {first}\n"), 2, &b), Origin::Elsewhere);
}

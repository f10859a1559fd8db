//! Two changes of one text in one.
//!
//! Invariant: a merge that succeeds holds every line of both changes, and no place in the text was changed by both in
//! different ways.

use super::diff::{Hunk, hunks, is_text, lines};

/// Merges two versions of a text; nothing where both changed the same place or places that touch.
pub(super) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if ![base, ours, theirs].into_iter().all(is_text) {
        return None;
    }
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    let (our_hunks, their_hunks) = (hunks(&base, &ours), hunks(&base, &theirs));
    let (mut our_rest, mut their_rest) = (&our_hunks[..], &their_hunks[..]);
    let (mut merged, mut at) = (Vec::new(), 0);
    loop {
        let (source, hunk) = match (our_rest, their_rest) {
            ([], []) => break,
            ([one, ones @ ..], [two, twos @ ..]) if is_same((one, &ours), (two, &theirs)) => {
                (our_rest, their_rest) = (ones, twos);
                (&ours, one)
            }
            ([one, ..], [two, ..]) if touch(one, two) => return None,
            ([one, ones @ ..], [two, ..]) if one.before.start < two.before.start => {
                our_rest = ones;
                (&ours, one)
            }
            (_, [two, twos @ ..]) => {
                their_rest = twos;
                (&theirs, two)
            }
            ([one, ones @ ..], []) => {
                our_rest = ones;
                (&ours, one)
            }
        };
        merged.extend_from_slice(&base[at..hunk.before.start as usize]);
        merged.extend_from_slice(&source[hunk.after.start as usize..hunk.after.end as usize]);
        at = hunk.before.end as usize;
    }
    merged.extend_from_slice(&base[at..]);
    Some(merged.concat())
}

/// Whether both made the same change.
fn is_same((one, ours): (&Hunk, &[&[u8]]), (two, theirs): (&Hunk, &[&[u8]])) -> bool {
    fn new<'a, 't>(hunk: &Hunk, lines: &'a [&'t [u8]]) -> &'a [&'t [u8]] {
        &lines[hunk.after.start as usize..hunk.after.end as usize]
    }
    one.before == two.before && new(one, ours) == new(two, theirs)
}

/// Whether two changes are of the same place, or of places with nothing between them.
fn touch(one: &Hunk, two: &Hunk) -> bool {
    one.before.start <= two.before.end && two.before.start <= one.before.end
}

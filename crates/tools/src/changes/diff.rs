//! Differences between two texts, in lines.
//!
//! Invariant: whatever the texts are, this takes no more than a moment: beyond the limit a difference is everything
//! between the lines that both texts begin and end with.

use std::ops::Range;

use imara_diff::{Algorithm, Diff as Difference, InternedInput};

/// How many lines are compared with each other. Those that both texts begin and end with do not count.
const LINES: usize = 20_000;
/// How much of the beginning tells whether it is a text.
const LOOKED_AT: usize = 8_000;
/// How many lines around a change are shown.
const CONTEXT: u32 = 3;

/// Whether a file is a text, by the rule of Git.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

/// Lines with their ends.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Lines of the old text that became lines of the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) before: Range<u32>,
    pub(super) after: Range<u32>,
}

/// Where two texts differ.
pub(super) fn hunks(before: &[&[u8]], after: &[&[u8]]) -> Vec<Hunk> {
    let count = |lines: &[&[u8]]| u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[start..], &after[start..]);
    let ends = before.iter().rev().zip(after.iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
    let start = u32::try_from(start).unwrap_or(u32::MAX);
    let shifted = |lines: Range<u32>| lines.start + start..lines.end + start;
    if before.len().max(after.len()) > LINES {
        let (before, after) = (shifted(0..count(before)), shifted(0..count(after)));
        return vec![Hunk { before, after }];
    }
    let mut input = InternedInput::default();
    input.reserve(count(before), count(after));
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let difference = Difference::compute(Algorithm::Histogram, &input);
    let hunk =
        |hunk: imara_diff::Hunk| Hunk { before: shifted(hunk.before), after: shifted(hunk.after) };
    difference.hunks().map(hunk).collect()
}

/// The differences in the form that `diff -u` and Git have, without a header.
pub(super) fn unified(before: &[u8], after: &[u8]) -> Vec<u8> {
    let (old, new) = (lines(before), lines(after));
    let hunks = hunks(&old, &new);
    let mut text = Vec::new();
    let mut rest = &hunks[..];
    while let Some(first) = rest.first() {
        // Those that are near each other are shown together.
        let near = |pair: &[Hunk]| pair[1].before.start - pair[0].before.end <= 2 * CONTEXT;
        let together = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        let (group, others) = rest.split_at(together);
        rest = others;
        let last = &group[together - 1];
        let lead = first.before.start.min(CONTEXT);
        let old_count = u32::try_from(old.len()).unwrap_or(u32::MAX);
        let trail = (old_count - last.before.end).min(CONTEXT);
        let before = first.before.start - lead..last.before.end + trail;
        let after = first.after.start - lead..last.after.end + trail;
        text.extend_from_slice(format!("@@ -{} +{} @@\n", span(&before), span(&after)).as_bytes());
        let mut at = before.start;
        for hunk in group {
            push(&mut text, b' ', &old, at..hunk.before.start);
            push(&mut text, b'-', &old, hunk.before.clone());
            push(&mut text, b'+', &new, hunk.after.clone());
            at = hunk.before.end;
        }
        push(&mut text, b' ', &old, at..before.end);
    }
    text
}

fn span(lines: &Range<u32>) -> String {
    let count = lines.end - lines.start;
    let start = if count == 0 { lines.start } else { lines.start + 1 };
    if count == 1 { start.to_string() } else { format!("{start},{count}") }
}

fn push(text: &mut Vec<u8>, sign: u8, lines: &[&[u8]], range: Range<u32>) {
    for line in &lines[range.start as usize..range.end as usize] {
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

//! Which of two versions is the newer one.

use std::cmp::Ordering;

#[cfg(test)]
mod tests;

/// Compares versions the way semantic versioning does; anything else part by part. No version is older
/// than any.
pub fn compare(one: Option<&str>, other: Option<&str>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => compare_texts(one, other),
        _ => one.is_some().cmp(&other.is_some()),
    }
}

fn compare_texts(one: &str, other: &str) -> Ordering {
    let ((one, one_early), (other, other_early)) = (parts(one), parts(other));
    let longest = one.len().max(other.len());
    let zero = "0";
    let at = |parts: &[&str], at: usize| parts.get(at).map_or(zero, |part| *part).to_owned();
    let numbers = (0..longest).map(|place| compare_parts(&at(&one, place), &at(&other, place)));
    let early = || match (one_early.is_empty(), other_early.is_empty()) {
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => one_early
            .iter()
            .zip(&other_early)
            .map(|(a, b)| compare_parts(a, b))
            .find(|order| order.is_ne())
            .unwrap_or(one_early.len().cmp(&other_early.len())),
    };
    numbers.into_iter().find(|order| order.is_ne()).unwrap_or_else(early)
}

/// The numbers, and what marks a version before its release. Build metadata does not count.
fn parts(version: &str) -> (Vec<&str>, Vec<&str>) {
    let version =
        version.trim().trim_start_matches(['v', 'V']).split('+').next().unwrap_or_default();
    let (numbers, early) = version.split_once('-').unwrap_or((version, ""));
    (numbers.split('.').collect(), early.split('.').filter(|part| !part.is_empty()).collect())
}

fn compare_parts(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(other),
    }
}

use super::*;

fn at(text: &str, random: u32) -> String {
    name_run(text.parse().unwrap(), random).to_string()
}

#[test]
fn a_name_says_when_the_run_began_in_utc() {
    assert_eq!(at("2026-11-15T08:30:00.999Z", 0), "20261115_083000_zy00");
    assert_eq!(at("2026-11-15T08:30:00+02:00", 35), "20261115_063000_000z");
    assert_eq!(at("2026-11-15T08:30:00Z", 36_u32.pow(2) - 1), "20261115_083000_00zz");
    assert_eq!(at("2026-11-15T08:30:00Z", 36_u32.pow(2)), "20261115_083000_0000");
}

#[test]
fn names_sort_by_time_within_a_second() {
    let names: Vec<String> = (0..1_000)
        .step_by(7)
        .map(|ms| at(&format!("2026-11-15T08:30:00.{ms:03}Z"), 1_295 - ms))
        .collect();
    assert!(names.is_sorted(), "{names:?}");
}

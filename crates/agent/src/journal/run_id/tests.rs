use super::*;

fn at(text: &str, random: u32) -> String {
    RunId::new(text.parse().unwrap(), random).to_string()
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

#[test]
fn a_taken_name_is_followed_by_another_of_the_same_second() {
    let next = |text: &str| text.parse::<RunId>().unwrap().next().to_string();
    assert_eq!(next("20261115_083000_0000"), "20261115_083000_0001");
    assert_eq!(next("20261115_083000_00zz"), "20261115_083000_0100");
    assert_eq!(next("20261115_083000_zzzz"), "20261115_083000_0000");
}

#[test]
fn a_name_is_read_back_and_a_child_knows_its_parent() {
    for (text, parent) in [
        ("20261115_083000_k3f9", None),
        ("20261115_083000_k3f9.2", Some("20261115_083000_k3f9")),
        ("20261115_083000_k3f9.2.10", Some("20261115_083000_k3f9.2")),
    ] {
        let id: RunId = text.parse().unwrap();
        assert_eq!((id.as_str(), id.parent()), (text, parent));
    }
}

#[test]
fn nothing_else_is_a_name() {
    for text in [
        "",
        ".",
        "..",
        "../20261115_083000_k3f9",
        "20261115_083000_k3f9/..",
        "20261115_083000_k3f9.",
        "20261115_083000_k3f9..1",
        "20261115_083000_k3f9.x",
        "20261115_083000_k3f9.1234567890",
        "20261115_083000_K3F9",
        "20261115_083000_k3f",
        "20261115_083000_k3f9a",
        "20261115-083000-k3f9",
        "2026111x_083000_k3f9",
        "20261115_083000_k3fé",
    ] {
        assert_eq!(text.parse::<RunId>(), Err(InvalidRunId(text.to_owned())), "{text}");
    }
}

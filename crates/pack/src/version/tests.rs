use super::*;

#[test]
fn versions_are_in_the_order_of_semantic_versioning() {
    let ordered = [
        None,
        Some("0.9"),
        Some("1.0.0-alpha"),
        Some("1.0.0-alpha.1"),
        Some("1.0.0-alpha.beta"),
        Some("1.0.0-rc.1"),
        Some("1.0.0"),
        Some("1.0.1"),
        Some("1.2"),
        Some("1.10"),
        Some("2"),
        Some("v10.0"),
    ];
    for (place, one) in ordered.iter().enumerate() {
        for (other_place, other) in ordered.iter().enumerate() {
            assert_eq!(compare(*one, *other), place.cmp(&other_place), "{one:?} and {other:?}");
        }
    }
    assert_eq!(compare(Some("1.0"), Some("1.0.0+build5")), Ordering::Equal);
}

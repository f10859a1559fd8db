use super::*;

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

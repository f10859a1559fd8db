use serde_json::json;

use super::*;

#[test]
fn plain_scalars_are_resolved_and_nothing_is_lost() {
    for (text, expected) in [
        ("", json!(null)),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("true", json!(true)),
        ("FALSE", json!(false)),
        ("yes", json!("yes")),
        ("12", json!(12)),
        ("-3", json!(-3)),
        ("1.5", json!(1.5)),
        ("1.0", json!(1.0)),
        ("1.10", json!("1.10")),
        ("007", json!("007")),
        ("1e5", json!("1e5")),
        ("0x1F", json!("0x1F")),
        (".inf", json!(".inf")),
        ("123456789012345678901234567890", json!("123456789012345678901234567890")),
        ("2024-01-01", json!("2024-01-01")),
    ] {
        assert_eq!(Value::plain(text).to_json(), expected, "{text}");
    }
    assert_eq!(Value::quoted("12").to_json(), json!("12"));
    assert_eq!(Value::quoted("").to_json(), json!(""));
}

#[test]
fn only_a_scalar_that_is_not_null_has_text() {
    assert_eq!(Value::plain("a").text(), Some("a"));
    assert_eq!(Value::quoted("~").text(), Some("~"));
    assert_eq!(Value::plain("~").text(), None);
    assert_eq!(Value::List(vec![]).text(), None);
    assert!(Value::plain("NULL").is_null() && !Value::quoted("null").is_null());
    assert!(!Value::Map(Map::default()).is_null());
}

#[test]
fn every_scalar_is_visited() {
    let inner =
        Map(vec![("k".to_owned(), Value::List(vec![Value::plain("b"), Value::quoted("c")]))]);
    let value = Value::List(vec![Value::plain("a"), Value::Map(inner)]);
    let mut seen = Vec::new();
    value.scalars(&mut |scalar| seen.push(scalar.text.as_str()));
    assert_eq!(seen, ["a", "b", "c"]);
}

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Detaches and attaches again; answers with what would be in the line.
fn check(data: &Value) -> Value {
    let mut kept: HashMap<Sha256, String> = HashMap::new();
    let line = detach(data, &mut |text| {
        let sha256 = Sha256::of(text.as_bytes());
        kept.insert(sha256, text.to_owned());
        Ok(Kept { name: format!("kept/{sha256}"), sha256 })
    })
    .unwrap()
    .unwrap_or_else(|| data.clone());
    let back = attach(line.clone(), &mut |reference| {
        let text = kept[&reference.sha256].clone();
        assert_eq!(text.chars().count() as u64, reference.chars);
        Ok(text)
    });
    assert_eq!(back.as_ref(), Ok(data));
    line
}

#[test]
fn a_text_leaves_its_line_when_it_has_more_than_2000_bytes() {
    assert_eq!(check(&json!({"text": "x".repeat(2_000)})), json!({"text": "x".repeat(2_000)}));
    let text = "ü".repeat(1_001);
    let sha256 = Sha256::of(text.as_bytes());
    let line = check(&json!({"in": [1, {"text": text}]}));
    assert_eq!(
        line,
        json!({"in": [1, {"text": {"$ref": format!("kept/{sha256}"), "sha256": sha256, "chars": 1_001}}]})
    );
}

#[test]
fn data_with_references_of_its_own_keeps_them() {
    let line =
        check(&json!({"$ref": "#/definitions/x", "$$ref": 1, "ref": 2, "$": 3, "$reference": 4}));
    assert_eq!(
        line,
        json!({"$$ref": "#/definitions/x", "$$$ref": 1, "ref": 2, "$": 3, "$reference": 4})
    );
}

#[test]
fn data_may_be_deep_but_not_endlessly() {
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
    check(&nested(DEPTH));
    let refused = detach(&nested(DEPTH + 1), &mut |_| unreachable!());
    assert!(matches!(refused, Err(JournalError::TooDeep { limit: DEPTH })));
}

#[test]
fn a_malformed_reference_is_an_error() {
    for reference in [
        json!({"$ref": 1, "sha256": "", "chars": 0}),
        json!({"$ref": "observations/x.txt"}),
        json!({"$ref": "observations/x.txt", "sha256": "0", "chars": -1}),
    ] {
        let attached = attach(json!([reference]), &mut |_| unreachable!());
        assert!(matches!(attached, Err(Unattached::Malformed(_))), "{reference}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        "[a-zü]{1}".prop_map(|letter| Value::from(letter.repeat(1_500))),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let key = prop_oneof!["[$]{0,3}ref", "[a-z$]{0,4}", Just("sha256".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_detached_comes_back(data in any_value()) {
        check(&data);
    }

    #[test]
    fn whatever_is_written_is_read_back(data in any_value()) {
        let text = serde_json::to_string(&data).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }
}

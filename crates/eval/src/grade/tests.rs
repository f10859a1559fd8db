use super::*;

#[test]
fn a_judgement_counts_only_with_words_of_the_answer() {
    let answer = "The sum is\n42, as expected.";
    for (said, passed, evidence) in [
        (Some(r#"{"passed": true, "evidence": "The sum is 42"}"#), true, "The sum is 42"),
        (Some("```json\n{\"passed\": true, \"evidence\": \"42\"}\n```"), true, "42"),
        (Some(r#"{"passed": false, "evidence": "no unit"}"#), false, "no unit"),
        (Some(r#"{"passed": true, "evidence": ""}"#), false, "called true without evidence"),
        (
            Some(r#"{"passed": true, "evidence": "43"}"#),
            false,
            "called true, but this is not in the answer: 43",
        ),
        (
            Some(r#"{"evidence": "42"}"#),
            false,
            "not judged: the model did not say whether it passed",
        ),
        (Some("yes"), false, "not judged: the model's answer is not JSON"),
        (None, false, "not judged: the model gave no answer"),
    ] {
        let expected = Graded {
            text: "It says 42".to_owned(),
            passed,
            judged: !evidence.starts_with("not judged"),
            evidence: evidence.to_owned(),
        };
        assert_eq!(graded("It says 42", answer, said), expected, "{said:?}");
    }
}

#[test]
fn the_question_holds_statement_request_and_answer() {
    let question = question("It says 42", "Sum it", "42");
    for part in ["Statement: It says 42", "request: Sum it", "==========\n42\n=========="] {
        assert!(question.contains(part), "{question}");
    }
}

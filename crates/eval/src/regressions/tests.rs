use super::*;
use crate::report::Report;
use crate::report::tests::result;

fn report(results: Vec<CaseResult>) -> Report {
    Report::new(Default::default(), results)
}

#[test]
fn what_became_worse_better_or_is_gone_is_named() {
    let before = report(vec![
        result("s", "a", 1, true),
        result("s", "b", 1, false),
        result("s", "c", 1, true),
        result("s", "d", 1, true),
        result("s", "d", 2, true),
    ]);
    let now = report(vec![
        result("s", "a", 1, false),
        result("s", "b", 1, true),
        result("s", "d", 1, true),
        result("s", "d", 2, false),
        result("s", "new", 1, false),
    ]);
    let change = |name: &str, before, now| Change { name: name.to_owned(), before, now };
    let expected = Changes {
        regressions: vec![change("s/a", 1.0, 0.0), change("s/d", 1.0, 0.5)],
        improvements: vec![change("s/b", 0.0, 1.0)],
        missing: vec!["s/c".to_owned()],
    };
    assert_eq!(Changes::between(&before.results, &now.results), expected);
    assert_eq!(Changes::between(&now.results, &now.results), Changes::default());
}

use super::*;

#[test]
fn waits_double_with_jitter_up_to_the_longest() {
    let backoff =
        Backoff { retries: 9, first: Duration::from_millis(500), longest: Duration::from_secs(10) };
    let wait = |failures, again, random| {
        backoff.wait(failures, again, random).map(|wait| wait.as_millis())
    };
    let later = Again::Later(None);
    assert_eq!([1, 2, 3, 9].map(|n| wait(n, later, 1.0)), [500, 1_000, 2_000, 10_000].map(Some));
    assert_eq!([0.0, 0.5].map(|random| wait(2, later, random)), [500, 750].map(Some));
    assert_eq!(wait(10, later, 1.0), None);
    assert_eq!(wait(1, Again::Never, 1.0), None);
    assert_eq!([1, 2].map(|n| wait(n, Again::Once, 1.0)), [Some(500), None]);
    let asked = |seconds| Again::Later(Some(Duration::from_secs(seconds)));
    assert_eq!(wait(1, asked(7), 1.0), Some(7_000));
    assert_eq!(wait(1, asked(11), 1.0), None);
}

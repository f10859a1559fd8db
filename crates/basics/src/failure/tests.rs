use super::*;

#[derive(Debug, thiserror::Error)]
#[error("the disk cannot be read")]
struct Disk;

#[derive(Debug, thiserror::Error)]
#[error("the run cannot be opened")]
struct Run(#[source] Disk);

impl Explain for Run {
    fn exit(&self) -> Exit {
        Exit::Refused
    }

    fn code(&self) -> &'static str {
        "RunClosed"
    }

    fn hint(&self) -> Cow<'static, str> {
        "open it".into()
    }
}

#[test]
fn an_error_becomes_a_failure_with_all_its_causes() {
    let failure = Failure::from(Run(Disk));
    assert_eq!(failure.to_string(), "the run cannot be opened: the disk cannot be read");
    assert_eq!((failure.exit, failure.code), (Exit::Refused, "RunClosed"));
    assert_eq!((failure.hint.as_deref(), failure.details), (Some("open it"), None));
}

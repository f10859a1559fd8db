//! What came of a program: for the model, and for the record; and what stood around it.

use agent::observation::{Details, Facts, Observation};
use serde_json::json;
use tools::sandbox::{Applied, Ending, Exit, Isolation, Network, Reason};
use tools::view::ViewKind;

use super::streams::Kept;

/// Whether every wall stands: then the mode `contained` asks nobody.
pub(super) fn is_contained(applied: &Applied) -> bool {
    applied.landlock_abi.is_some()
        && applied.seccomp
        && applied.no_new_privileges
        && applied.isolation == Isolation::Namespaces
        && matches!(applied.network, Some(Network::Denied | Network::Private))
        && matches!(applied.view, Some(ViewKind::Overlay | ViewKind::Copy))
}

/// What will really stand around a program, in words.
pub(super) fn walls(applied: &Applied) -> String {
    if applied.landlock_abi.is_none() && !applied.seccomp {
        return "without a sandbox: it can use the network and change all that you can".to_owned();
    }
    let network = match applied.network {
        Some(Network::Denied | Network::Private) => "no network",
        Some(Network::Internet) | None => "with network",
    };
    let writes = match (applied.landlock_abi, applied.view) {
        (None, _) => "but it can read and write all that you can",
        (Some(_), Some(ViewKind::ReadOnly)) => "and it cannot write to your folder",
        (Some(_), _) => "what it writes is shown to you before it reaches your files",
    };
    format!("in a sandbox, {network}; {writes}")
}

pub(super) fn observed(exit: &Exit, [stdout, stderr]: &[Kept; 2]) -> Observation {
    let mut result = json!({
        "ok": true,
        "exit_code": exit_code(exit.ending),
        "stdout": stdout.shown,
        "stderr": stderr.shown,
        "seconds": (exit.duration.as_millis() as f64) / 1000.0,
        "truncated": stdout.truncated || stderr.truncated,
        "sha256": stdout.sha256,
        "storage_ref": stdout.name,
    });
    if exit.applied.unsearched > 0 {
        result["note"] = json!(format!(
            "{} folders of the workspace are too many to be looked through for secrets, so this script could not read them",
            exit.applied.unsearched
        ));
    }
    if exit.applied.view == Some(ViewKind::ReadOnly) {
        result["note"] =
            json!("the workspace can only be read here: write to the folders in $TMPDIR and $HOME");
    }
    let code = failure_code(exit.ending);
    if let Some(code) = code {
        result["ok"] = false.into();
        result["error"] = json!({"code": code, "message": ending_in_words(exit.ending), "hint": "read stderr; call it otherwise, or do without it"});
    }
    Observation {
        code: code.map(str::to_owned),
        facts: Facts {
            exit_code: exit_code(exit.ending),
            stdout: Some(stdout.noted()),
            stderr: Some(stderr.noted()),
            more: Details::of(&json!({
                "ending": exit.ending,
                "duration_ms": exit.duration.as_millis() as u64,
                "sandbox": exit.applied,
            })),
            ..Facts::default()
        },
        storage_ref: stdout.name.clone(),
        ..Observation::of(result.to_string())
    }
}

pub(super) fn exit_code(ending: Ending) -> Option<i32> {
    match ending {
        Ending::Exited(code) => Some(code),
        _ => None,
    }
}

fn failure_code(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Exited(0) => None,
        Ending::Killed(Reason::Time) => Some("Timeout"),
        Ending::Killed(Reason::Cancelled) => Some("Cancelled"),
        Ending::Killed(_) => Some("BudgetExceeded"),
        _ => Some("ExitNonZero"),
    }
}

pub(super) fn ending_in_words(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => format!("ended by signal {signal}"),
        Ending::Killed(Reason::Time) => "killed: it took too long".to_owned(),
        Ending::Killed(Reason::Cancelled) => "killed: the run was cancelled".to_owned(),
        Ending::Killed(reason) => {
            format!("killed: over the limit of {}", json!(reason).as_str().unwrap_or("resources"))
        }
    }
}

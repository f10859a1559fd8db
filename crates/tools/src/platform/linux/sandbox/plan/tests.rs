use super::*;
use crate::containment::{Limits, Network};

fn in_mode(mode: SandboxMode) -> Confinement {
    Confinement { mode, ..Confinement::default() }
}

#[track_caller]
fn check(lacking: &[Feature], mode: SandboxMode, expected: Result<Isolation, Feature>) {
    let kernel =
        lacking.iter().fold(Kernel::complete(), |kernel, feature| kernel.without(*feature));
    let planned = plan(&kernel, &in_mode(mode)).map(|(_, applied)| applied.isolation);
    let planned = planned.map_err(|error| match error {
        SandboxError::Unavailable { feature, .. } => feature,
        other => panic!("{other}"),
    });
    assert_eq!(planned, expected, "{lacking:?} {mode:?}");
}

#[test]
fn a_complete_kernel_isolates_by_namespaces() {
    check(&[], SandboxMode::Required, Ok(Isolation::Namespaces));
    check(&[], SandboxMode::BestEffort, Ok(Isolation::Namespaces));
}

#[test]
fn a_supervisor_stands_in_for_namespaces() {
    check(&[Feature::Namespaces], SandboxMode::Required, Ok(Isolation::Supervised));
    check(&[Feature::ProcessLimit], SandboxMode::Required, Ok(Isolation::Namespaces));
    check(&[Feature::Supervision], SandboxMode::Required, Ok(Isolation::Namespaces));
}

#[test]
fn what_nothing_stands_in_for_is_required() {
    let required = SandboxMode::Required;
    check(&[Feature::Landlock], required, Err(Feature::Landlock));
    check(&[Feature::Seccomp], required, Err(Feature::Seccomp));
    check(&[Feature::Namespaces, Feature::Supervision], required, Err(Feature::Supervision));
}

#[test]
fn the_best_effort_takes_what_there_is_and_says_what_is_missing() {
    let lacking = [Feature::Landlock, Feature::Supervision, Feature::Namespaces];
    check(&lacking, SandboxMode::BestEffort, Ok(Isolation::Swept));
    let kernel =
        lacking.iter().fold(Kernel::complete(), |kernel, feature| kernel.without(*feature));
    let (_, applied) = plan(&kernel, &in_mode(SandboxMode::BestEffort)).unwrap();
    assert_eq!(applied.missing, lacking);
    assert_eq!((applied.landlock_abi, applied.seccomp), (None, true));
    assert_eq!(applied.network, Some(Network::Denied));
    let kernel = Kernel::complete().without(Feature::Seccomp);
    let (_, applied) = plan(&kernel, &in_mode(SandboxMode::BestEffort)).unwrap();
    assert_eq!(applied.network, None, "nothing keeps it from the network");
}

#[test]
fn no_sandbox_was_asked_for_and_none_is_claimed() {
    let (_, applied) = plan(&Kernel::complete(), &in_mode(SandboxMode::Off)).unwrap();
    let expected = serde_json::json!({
        "mode": "off", "landlock_abi": null, "seccomp": false, "no_new_privileges": false,
        "limits": null, "network": null, "hidden": 0, "unsearched": 0, "view": null,
        "private_network": false, "isolation": "swept", "missing": [],
    });
    assert_eq!(serde_json::to_value(applied).unwrap(), expected);
}

#[test]
fn limits_are_written_in_plain_units() {
    let (_, applied) = plan(&Kernel::complete(), &in_mode(SandboxMode::Required)).unwrap();
    let expected = serde_json::json!({
        "time": 120.0, "cpu": 60.0, "memory": 2_147_483_648_u64, "processes": 256,
        "file_size": 536_870_912, "disk": 2_147_483_648_u64, "files": 100_000, "open_files": 1024,
        "output": 1_073_741_824, "kept": 65536,
    });
    assert_eq!(serde_json::to_value(applied.limits).unwrap(), expected);
    let read: Limits = serde_json::from_str(r#"{"time": 0.5}"#).unwrap();
    assert_eq!(read, Limits { time: std::time::Duration::from_millis(500), ..Limits::default() });
    for refused in [r#"{"time": -1}"#, r#"{"time": 1e300}"#, r#"{"tiem": 1}"#] {
        assert!(serde_json::from_str::<Limits>(refused).is_err(), "{refused}");
    }
}

#[test]
fn a_private_network_is_only_inside_a_view() {
    let confinement = Confinement { network: Network::Private, ..in_mode(SandboxMode::Required) };
    let (_, applied) = plan(&Kernel::complete(), &confinement).unwrap();
    assert_eq!((applied.network, applied.private_network), (Some(Network::Denied), false));
    for (has_network, expected) in [(true, Network::Private), (false, Network::Denied)] {
        let (plan, applied) = plan_inside(&Kernel::complete(), &confinement, has_network).unwrap();
        assert_eq!((plan.network, applied.network), (expected, Some(expected)));
        assert!(applied.private_network);
    }
}

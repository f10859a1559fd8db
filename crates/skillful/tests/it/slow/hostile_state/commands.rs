//! The commands that come to a place, those that only look first.

use super::places::Reach;

/// A request that needs no model of anybody; it may write `out.txt` and nothing else.
pub(crate) const RUN: &str = "run --apply --model scripted:../turns.json kingfisher";
/// A case of the user's own.
const CASE: &str = "eval run ../home/case.json";

const SETTINGS: &[&str] = &[
    "config show --origin",
    "list",
    "search tidy --json",
    "inspect tidy",
    "why tidy",
    "doctor",
    "refresh",
    "permissions list",
    "trust project --dry-run",
    "scan",
    "validate",
    MCP,
    RUN,
    "run --model offline --json hello",
    "config init",
];
const SKILLS: &[&str] = &[
    "list",
    "inspect tidy --json",
    "doctor",
    "verify tidy --scope project",
    "outdated",
    "update --scope project",
    "install ../kingfisher/tidy --scope project --backup --allow-unsafe",
    "uninstall tidy --scope project",
    "restore tidy --scope project",
    "uninstall tidy --scope project --purge --yes",
    "install ../kingfisher/tidy --scope project --force --allow-unsafe",
    "install --locked --scope project",
];
const RUNS: &[&str] = &[
    "runs list",
    "runs list --json",
    "usage",
    "usage --json",
    "runs show last",
    "runs verify last",
    "run --resume last --yes",
    RUN,
    MCP,
    PRUNE,
];
const RECORD: &[&str] = &[
    "runs list",
    "runs show RUN",
    "runs show RUN --json",
    "runs verify RUN",
    "runs verify RUN --json",
    "runs replay RUN",
    "runs undo RUN --dry-run",
    "runs adopt RUN --dry-run",
    "eval from-run RUN --dry-run",
    "eval judge RUN --case ../home/case.json",
    "runs undo RUN",
    "run --resume RUN --yes --model scripted:../turns.json",
    "run --resume last --yes --model scripted:../turns.json",
    "runs adopt RUN --yes",
    "run --resume RUN --yes --model scripted:../turns.json",
    "runs undo RUN",
    "eval from-run RUN",
    "usage --json",
    PRUNE,
];
const LARGE: &[&str] = &[
    "runs list",
    "runs show RUN --json",
    "runs verify RUN",
    "runs replay RUN",
    "runs adopt RUN --yes",
    "usage",
    PRUNE,
];
const RESUMED: &[&str] = &[
    "runs show RUN",
    "runs verify RUN",
    "run --resume RUN --yes --model scripted:../turns.json",
    "runs list --json",
    "runs undo RUN",
    PRUNE,
];
const EVALS: &[&str] = &[
    "eval run",
    "eval run .agent/evals --json",
    "eval from-run last",
    "eval new tidy",
    "trust project --dry-run",
    "trust evals .agent/evals --dry-run",
    "doctor",
];
const RESULTS: &[&str] =
    &[CASE, RESUME_CASE, "eval run ../home/case.json --json --report md,html,junit"];
const RESUME_CASE: &str = "eval run ../home/case.json --resume last";
const PRUNE: &str = "runs prune --older-than 0 --max-megabytes 0";
/// Stands for a server that is asked two things over its input.
pub(crate) const MCP: &str = "mcp";

/// What a client says to it.
pub(crate) const CLIENT: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

/// The commands for a place; those about a run are about this one.
pub(crate) fn of(reach: Reach, run: &str) -> Vec<String> {
    let lines: Vec<&str> = match reach {
        Reach::Everything => [SETTINGS, RECORD, EVALS, RESULTS, SKILLS, RUNS]
            .into_iter()
            .flatten()
            .copied()
            .collect(),
        Reach::Settings => SETTINGS.to_vec(),
        Reach::Skills => SKILLS.to_vec(),
        Reach::Runs => RUNS.to_vec(),
        Reach::Record => RECORD.to_vec(),
        Reach::Large => LARGE.to_vec(),
        Reach::Resumed => RESUMED.to_vec(),
        Reach::Evals => EVALS.to_vec(),
        Reach::Results => RESULTS.to_vec(),
    };
    lines.into_iter().map(|line| line.replace("RUN", run)).collect()
}

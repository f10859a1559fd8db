//! Every file and folder of state below `.agent`.

/// What belongs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
}

/// Which commands come there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Everything,
    Settings,
    Skills,
    /// All runs.
    Runs,
    /// One run.
    Record,
    /// One run that is large.
    Large,
    /// A run that goes on.
    Resumed,
    Evals,
    Results,
}

/// One file or folder.
#[derive(Debug)]
pub(crate) struct Place {
    /// Below the project; names in braces are those of the genuine folder.
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    pub(crate) reach: Reach,
    /// Whether it is also filled with tens of thousands of names, and the like.
    pub(crate) is_roomy: bool,
}

const fn folder(path: &'static str, reach: Reach) -> Place {
    Place { path, kind: Kind::Folder, reach, is_roomy: false }
}

const fn roomy(path: &'static str, reach: Reach) -> Place {
    Place { path, kind: Kind::Folder, reach, is_roomy: true }
}

const fn file(path: &'static str, reach: Reach) -> Place {
    Place { path, kind: Kind::File, reach, is_roomy: false }
}

/// All of them.
pub(crate) const PLACES: &[Place] = &[
    folder(".agent", Reach::Everything),
    file(".agent/config.json", Reach::Settings),
    file(".agent/skills.lock", Reach::Skills),
    folder(".agent/skills", Reach::Skills),
    folder(".agent/skills/tidy", Reach::Skills),
    folder(".agent/skills/.staging", Reach::Skills),
    folder(".agent/skills/.packs", Reach::Skills),
    folder(".agent/skills/.trash", Reach::Skills),
    folder(".agent/skills/.trash/tidy", Reach::Skills),
    roomy(".agent/skills/.backup", Reach::Skills),
    folder(".agent/skills/.backup/tidy", Reach::Skills),
    folder(".agent/skills/.backup/tidy/{backup}", Reach::Skills),
    file(".agent/skills/.backup/tidy/{backup}.json", Reach::Skills),
    roomy(".agent/runs", Reach::Runs),
    file(".agent/runs/.gitignore", Reach::Runs),
    roomy(".agent/runs/.indexes", Reach::Runs),
    file(".agent/runs/.indexes/{index}", Reach::Runs),
    folder(".agent/runs/.removed-{run}", Reach::Runs),
    folder(".agent/runs/{run}", Reach::Record),
    folder(".agent/runs/{run}.1", Reach::Record),
    file(".agent/runs/{run}/events.jsonl", Reach::Record),
    file(".agent/runs/{run}/events.seal", Reach::Record),
    file(".agent/runs/{run}/run.json", Reach::Record),
    file(".agent/runs/{run}/index.json", Reach::Record),
    file(".agent/runs/{run}/final.md", Reach::Record),
    file(".agent/runs/{run}/state.json", Reach::Record),
    folder(".agent/runs/{run}/inputs", Reach::Record),
    file(".agent/runs/{run}/inputs/catalog.txt", Reach::Record),
    roomy(".agent/runs/{run}/observations", Reach::Record),
    file(".agent/runs/{run}/{observation}", Reach::Record),
    folder(".agent/runs/{run}/artifacts", Reach::Record),
    folder(".agent/runs/{run}/sandbox", Reach::Record),
    folder(".agent/runs/{run}/changes", Reach::Record),
    file(".agent/runs/{run}/changes/000001.json", Reach::Record),
    folder(".agent/runs/{waiting}", Reach::Resumed),
    file(".agent/runs/{waiting}/events.jsonl", Reach::Resumed),
    file(".agent/runs/{waiting}/events.seal", Reach::Resumed),
    file(".agent/runs/{waiting}/state.json", Reach::Resumed),
    file(".agent/runs/{waiting}/state.json.tmp", Reach::Resumed),
    file(".agent/runs/{waiting}/run.json", Reach::Resumed),
    file(".agent/runs/{waiting}/run.json.tmp", Reach::Resumed),
    file(".agent/runs/{waiting}/final.md.tmp", Reach::Resumed),
    folder(".agent/runs/{waiting}/inputs", Reach::Resumed),
    folder(".agent/runs/{waiting}/observations", Reach::Resumed),
    folder(".agent/runs/{waiting}/artifacts", Reach::Resumed),
    folder(".agent/runs/{waiting}/sandbox", Reach::Resumed),
    folder(".agent/runs/{waiting}/changes", Reach::Resumed),
    file(".agent/runs/{waiting}/changes/000001.json", Reach::Resumed),
    file(".agent/runs/{waiting}/changes/000001.json.tmp", Reach::Resumed),
    roomy(".agent/evals", Reach::Evals),
    folder(".agent/evals/recorded", Reach::Evals),
    folder(".agent/evals/recorded/{run}", Reach::Evals),
    file(".agent/evals/recorded/{run}/case.json", Reach::Evals),
    roomy(".agent/eval-runs", Reach::Results),
    folder(".agent/eval-runs/{results}", Reach::Results),
    file(".agent/eval-runs/{results}/results.jsonl", Reach::Results),
    file(".agent/eval-runs/{results}/report.json", Reach::Results),
    folder(".agent/eval-runs/{results}/records", Reach::Results),
    file(".agent/eval-runs/{results}/records/{record}", Reach::Results),
];

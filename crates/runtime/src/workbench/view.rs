//! How a run sees its workspace: through its layer, from the first moment that something could be written.
//!
//! Invariant: once there is a layer, scripts, commands and file tools see the same, and nothing but an approved change
//! set comes from there to the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agent::request::Refusal;
use basics::skill::Source;
use state::{Access, Durability, Folder, StateError};
use tools::changes::Rules;
use tools::script::Surroundings;
use tools::view::{View, ViewKind, ViewOptions, ViewPlaces};
use tools::workspace::agent_state_in;

use super::Workbench;
use crate::changes::{LAYER, Layered, SINCE};
use crate::conversation::take_layer;
use crate::journal::Owner;
use crate::open::Runtime;

/// A run's own folders for the programs that it runs.
const HOME: &str = "sandbox/home";
const TEMPORARY: &str = "sandbox/tmp";
/// More than the times of files can be behind.
const CLOCK: Duration = Duration::from_millis(25);
/// Where private copies of skills and scripts lie.
const PRIVATE: &str = "artifacts";

/// What a run sees, once it does.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) view: Arc<View>,
    /// What it writes; none where nothing can be written.
    pub(super) layered: Option<Layered>,
}

impl Workbench<'_> {
    /// Says which run it is for: its layer is in that run's folder.
    pub fn begin(&mut self, run: &Path) -> Result<(), StateError> {
        self.run = Some(Folder::open(run)?);
        Ok(())
    }

    /// Goes on with the layer of an earlier run, once something needs it.
    pub(crate) fn inherit(&mut self, run: PathBuf, owner: Owner) {
        self.inherited = Some((run, owner));
    }

    /// The run that the layer belongs to.
    pub(super) fn run(&self) -> Result<&Folder, Refusal> {
        self.run.as_ref().ok_or_else(|| {
            Refusal::new("InvalidAction", "there is no run that could keep what is written", "")
        })
    }

    /// Whether something may have been written already.
    pub(super) fn has_layer(&self) -> bool {
        let is_there = |run: &Folder| matches!(run.find(LAYER), Ok(Some(_)));
        self.seen.is_some() || self.inherited.is_some() || self.run.as_ref().is_some_and(is_there)
    }

    /// Notes that an action begins which may write: after an interruption, that is all that is known of it.
    pub(super) fn mark_beginning(&self) {
        self.outlast_clock();
        if let Some(run) = &self.run {
            // Without it, what the action writes over counts as changed by somebody else.
            let _ = run.replace(SINCE, b"", Durability::NoSync);
        }
    }

    /// Waits until files that were there before this run are surely older than what it does: times of files are not
    /// exact, and what was changed in the same moment would count as changed by somebody else.
    fn outlast_clock(&self) {
        std::thread::sleep(CLOCK.saturating_sub(self.opened.elapsed()));
    }

    /// When the action began that was interrupted.
    pub(super) fn last_beginning(&self) -> SystemTime {
        let noted = || self.run.as_ref()?.open_file(SINCE).ok()?.metadata().ok()?.modified().ok();
        noted().unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The run's view, opened now if it was not before.
    pub(super) fn view(&mut self) -> Result<Arc<View>, Refusal> {
        if let Some(seen) = &self.seen {
            return Ok(Arc::clone(&seen.view));
        }
        self.outlast_clock();
        let began = SystemTime::now();
        let run = self.run()?;
        if let Some((earlier, owner)) = &self.inherited {
            take_layer(earlier, run, owner).map_err(|error| super::io_error(&error))?;
        }
        let own = |name: &str| run.create_folder(name, Access::Private)?.real_path();
        run.create_folder("sandbox", Access::Private)?;
        let places = ViewPlaces {
            workspace: self.folder.clone(),
            layer: own(LAYER)?,
            home: own(HOME)?,
            temporary: own(TEMPORARY)?,
        };
        let options = ViewOptions {
            copy_bytes: self.copy_bytes,
            mode: self.scripts.confinement.mode,
            secrets: self.workspace.secrets.clone(),
            protected: self.closed.clone(),
        };
        let view = View::open(&self.scripts.kernel, places, options)?;
        let layered = match view.kind() {
            ViewKind::ReadOnly => None,
            ViewKind::Overlay => Layered::open(run, &self.folder, self.change_rules())?,
            ViewKind::Copy => {
                let layered = Layered::open(run, &self.folder, self.change_rules())?;
                layered.map(|layered| layered.with_copy(run, began)).transpose()?
            }
        };
        let handle = view.root().try_clone_to_owned().map_err(|error| super::io_error(&error))?;
        self.workspace.look_through(handle, view.path());
        let view = Arc::new(view);
        self.inherited = None;
        self.seen = Some(Seen { view: Arc::clone(&view), layered });
        Ok(view)
    }

    /// What counts for the changes of a run here.
    fn change_rules(&self) -> Rules {
        let limits = &self.scripts.confinement.limits;
        let mut rules = Rules::default();
        rules.hidden = self.workspace.secrets.clone();
        rules.closed = self.closed.clone();
        rules.limits.files = limits.files;
        rules.limits.bytes = limits.disk;
        rules
    }

    /// Refuses to write where the workspace can only be read.
    pub(super) fn check_writable(&mut self) -> Result<(), Refusal> {
        let view = self.view()?;
        match (view.kind(), view.reason()) {
            (ViewKind::ReadOnly, reason) => Err(Refusal::new(
                "ReadOnlyView",
                format!("files can only be read here: {}", reason.unwrap_or("there is no layer")),
                "put results into the final answer",
            )),
            _ => Ok(()),
        }
    }

    /// Where and with what programs of the run work.
    pub(super) fn surroundings(&mut self) -> Result<Surroundings, Refusal> {
        let view = self.view()?;
        let private = self.run()?.create_folder(PRIVATE, Access::Private)?.real_path()?;
        Ok(Surroundings {
            view,
            private,
            environment: self.scripts.environment.clone(),
            interpreters: self.scripts.interpreters.clone(),
            arguments: self.scripts.arguments,
            confinement: self.scripts.confinement.clone(),
        })
    }
}

/// Files and folders that neither programs nor change sets may touch: those of skills, and the user's own state of
/// agents, which a link may lead here. A folder that the workspace lies in closes nothing: then its skills are closed
/// one by one.
pub(crate) fn closed_folders(
    runtime: &Runtime,
    skills: impl Iterator<Item = PathBuf>,
) -> Vec<PathBuf> {
    let workspace = &runtime.surroundings.working_directory;
    let roots = runtime.surroundings.roots().into_iter();
    let roots = roots.filter(|root| root.source != Source::Builtin).map(|root| root.path);
    let cache = runtime.cache_folder().map(Path::to_owned);
    let homes = runtime.surroundings.home.as_deref().into_iter();
    let state = homes.chain([runtime.surroundings.project()]).flat_map(agent_state_in);
    let all = roots.chain(skills).chain(cache).chain(state);
    let mut closed: Vec<PathBuf> = all.filter(|path| !workspace.starts_with(path)).collect();
    closed.sort();
    closed.dedup();
    closed
}

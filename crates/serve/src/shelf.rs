//! What is served: the skills as they are now, and what they are handed over with.
//!
//! Invariant: whoever took the skills keeps them as they were; a change makes a new [`Snapshot`].

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use permission::{Engine, Invocation, Permission};
use runtime::journal::{IndexSnapshot, Owner, Redactor};
use runtime::open::Runtime;
use runtime::skill_tool::{self, Definition};
use skill::index::{Entry, Index};
use skill::offer::{Catalog, Offer};
use tokio::sync::watch;

/// What every session is given.
pub struct Settings {
    /// Settings, folders and records of the project.
    pub runtime: Arc<Runtime>,
    /// What may be done.
    pub engine: Engine,
    /// Who signs the records.
    pub owner: Option<Owner>,
    /// What takes secrets out of everything that is recorded.
    pub redactor: Redactor,
    /// The command that began the server.
    pub invocation: Invocation,
}

/// The skills at one moment.
pub struct Snapshot {
    /// All of them.
    pub index: Arc<Index>,
    tools: OnceLock<(Catalog, Vec<Definition>)>,
    record: OnceLock<IndexSnapshot>,
}

/// What is served.
pub struct Shelf {
    /// What every session is given.
    pub settings: Settings,
    current: Mutex<Arc<Snapshot>>,
    changes: watch::Sender<()>,
    /// Sessions that have not finished their record.
    open: Mutex<usize>,
    closed: Condvar,
}

impl Snapshot {
    fn new(index: Arc<Index>) -> Arc<Self> {
        Arc::new(Self { index, tools: OnceLock::new(), record: OnceLock::new() })
    }

    /// The index as records have it.
    pub(crate) fn record(&self) -> &IndexSnapshot {
        self.record.get_or_init(|| IndexSnapshot::of(&self.index))
    }
}

impl Shelf {
    /// A shelf with the skills of an index.
    pub fn new(index: Arc<Index>, settings: Settings) -> Self {
        Self {
            settings,
            current: Mutex::new(Snapshot::new(index)),
            changes: watch::Sender::new(()),
            open: Mutex::new(0),
            closed: Condvar::new(),
        }
    }

    /// Serves other skills from now on, and tells everyone.
    pub fn replace(&self, index: Arc<Index>) {
        *locked(&self.current) = Snapshot::new(index);
        self.changes.send_replace(());
    }

    /// The skills as they are now.
    pub(crate) fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&locked(&self.current))
    }

    /// Hears of every change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// The skills a client may see.
    pub(crate) fn offer<'a>(&self, snapshot: &'a Snapshot) -> Offer<'a> {
        let denied = self.settings.engine.denials(Permission::Skill);
        snapshot.index.offer(|entry| !denied(&entry.rule_name()))
    }

    /// The skills a person may choose directly, by name; some of them the model is not told about.
    pub(crate) fn invocable<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a Entry> {
        let denied = self.settings.engine.denials(Permission::Skill);
        let own = snapshot.index.skills.iter().filter(|entry| {
            entry.trusted && entry.controls.disable_model_invocation && !denied(&entry.rule_name())
        });
        let mut entries: Vec<&Entry> = self.offer(snapshot).skills().chain(own).collect();
        entries.retain(|entry| entry.controls.user_invocable);
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }

    /// The list of skills and the tools that go with it, made once for each snapshot.
    pub(crate) fn tools<'a>(&self, snapshot: &'a Snapshot) -> &'a (Catalog, Vec<Definition>) {
        snapshot.tools.get_or_init(|| {
            let offer = self.offer(snapshot);
            let limits = self.settings.runtime.layers.config.catalog_limits();
            let catalog = offer.catalog(limits, "");
            let tools = skill_tool::definitions(&offer, &self.settings.engine, &catalog);
            (catalog, tools)
        })
    }

    /// Counts a session until what it returns is dropped.
    pub(crate) fn opened(self: &Arc<Self>) -> Open {
        *locked(&self.open) += 1;
        Open(Arc::clone(self))
    }

    /// Waits until every session has finished its record; says whether they did in time.
    pub fn wait_until_closed(&self, patience: Duration) -> bool {
        let open = locked(&self.open);
        let waited = self.closed.wait_timeout_while(open, patience, |open| *open > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// A session that has not finished its record.
pub(crate) struct Open(Arc<Shelf>);

impl Open {
    pub(crate) fn shelf(&self) -> &Shelf {
        &self.0
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        *locked(&self.0.open) -= 1;
        self.0.closed.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! How a run sees its workspace: everything can be read and written, and nothing is changed.
//!
//! What programs and file tools write goes into a private layer of the run. Where the kernel has mount namespaces,
//! that is an overlay over the workspace, seen at the workspace's own path in a root that holds nothing but the
//! system's programs, a private `/tmp`, and what was granted. Where it cannot be had, it is a copy, and where that
//! would be too large, the workspace is read-only.
//!
//! With namespaces there is a private network as well ([`Network::Private`](crate::sandbox::Network::Private)):
//! programs of one run reach each other over its loopback and over Unix sockets, and nobody else. Not counted for
//! the limits are open files on their way through such a socket. Buffers of sockets keep their usual size.
//!
//! Without namespaces what is closed to changes can be changed in the copy; whoever applies the changes refuses
//! them.
//!
//! Invariants: nothing outside the run's own folders changes. What the file tools hide, no program reads.

mod closed;
mod closing;
mod copy;
mod probe;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::containment::{Closing, Layout, Source};
use crate::platform::sandbox::{self as walls, Built};
use crate::sandbox::{
    Applied, Confinement, Exit, Invocation, Kernel, Output, SandboxError, SandboxMode,
};
use crate::workspace::PathPatterns;
use closing::Wishes;
use copy::{Copied, Ignored, NoCopy};

pub use crate::containment::ViewKind;
pub use probe::probe;

/// Where a run keeps what it writes.
#[derive(Debug, Clone)]
pub struct ViewPlaces {
    /// The workspace, without symbolic links on its way.
    pub workspace: PathBuf,
    /// A folder of the run that only the view uses.
    pub layer: PathBuf,
    /// The home of its programs.
    pub home: PathBuf,
    /// A folder that they see as `/tmp`, where there are namespaces.
    pub temporary: PathBuf,
}

/// What a view is like.
#[derive(Debug, Clone)]
pub struct ViewOptions {
    /// The largest copy, in bytes.
    pub copy_bytes: u64,
    /// Whether there is a sandbox to see it from.
    pub mode: SandboxMode,
    /// What programs cannot read, by name.
    pub secrets: PathPatterns,
    /// What they cannot change, besides what agents and version control keep for themselves.
    pub protected: Vec<PathBuf>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            copy_bytes: 512 << 20,
            mode: SandboxMode::default(),
            secrets: PathPatterns::secrets(),
            protected: Vec::new(),
        }
    }
}

/// A workspace as one run sees it; when dropped, its namespaces end.
pub struct View {
    places: ViewPlaces,
    options: ViewOptions,
    kind: ViewKind,
    reason: Option<String>,
    /// Where programs find the workspace.
    folder: PathBuf,
    /// None without namespaces.
    built: Option<Built>,
    /// The workspace as it is seen, where there are none.
    root: Option<OwnedFd>,
    /// What a copy was made without.
    linked: Vec<PathBuf>,
    /// Keeps the layer for this view alone: a layer that is mounted twice breaks.
    _lock: Lock,
}

impl std::fmt::Debug for View {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("View")
            .field("kind", &self.kind)
            .field("places", &self.places)
            .finish()
    }
}

/// The records of runs, which no program has any business in.
const RUNS: &str = ".agent/runs";

impl View {
    /// Opens the view of a run, with what an earlier one of the same layer has written; one at a time.
    ///
    /// # Errors
    ///
    /// If a folder cannot be used, another view has the layer, or an earlier layer cannot be seen any more.
    pub fn open(
        kernel: &Kernel,
        places: ViewPlaces,
        options: ViewOptions,
    ) -> Result<Self, SandboxError> {
        let lock = Lock::take(&places.layer)
            .map_err(|source| SandboxError::Setup { what: "have the run's layer alone", source })?;
        let opening = Opening { kernel, places, options, lock };
        for name in ["upper", "work", "root"] {
            let made = fs::create_dir(opening.places.layer.join(name));
            if let Err(source) = made
                && source.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(SandboxError::Setup { what: "prepare the run's layer", source });
            }
        }
        let earlier = copy::earlier(&opening.places.layer).map_err(opening.failed())?;
        if let Some(copied) = earlier {
            return opening
                .with_copy(copied, "an earlier action of the run began with a copy".into());
        }
        let reason = match opening.overlay() {
            Ok(Some(built)) => return Ok(opening.finish(ViewKind::Overlay, None, Some(built))),
            Ok(None) if opening.options.mode == SandboxMode::Off => "the sandbox is off".to_owned(),
            Ok(None) => "there are no namespaces".to_owned(),
            Err(error) if opening.has_written() => return Err(error),
            Err(error) => with_source(&error),
        };
        opening.without_overlay(reason)
    }

    /// How the workspace is seen.
    #[must_use]
    pub fn kind(&self) -> ViewKind {
        self.kind
    }

    /// Why it is not seen under a layer.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Where programs find the workspace.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folders of the run.
    #[must_use]
    pub fn places(&self) -> &ViewPlaces {
        &self.places
    }

    /// What programs see as the folder for temporary files.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        match self.built {
            Some(_) => Path::new("/tmp"),
            None => &self.places.temporary,
        }
    }

    /// Folders of the workspace that are not in the copy but seen as they are, read-only.
    #[must_use]
    pub fn linked(&self) -> &[PathBuf] {
        &self.linked
    }

    /// Whether programs can have a network of their own.
    #[must_use]
    pub fn has_private_network(&self) -> bool {
        self.built.as_ref().is_some_and(Built::has_network)
    }

    /// The workspace as the run sees it, for tools of this process; it is only for going on from there.
    #[must_use]
    pub fn root(&self) -> BorrowedFd<'_> {
        match (&self.built, &self.root) {
            (Some(built), _) => built.root(),
            (None, Some(root)) => root.as_fd(),
            (None, None) => rustix::fs::CWD,
        }
    }

    /// A path of this process that leads to it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.built.as_ref().map_or_else(|| self.folder.clone(), Built::path)
    }

    /// The walls that would stand around a program.
    ///
    /// # Errors
    ///
    /// If the kernel cannot contain it as demanded.
    pub fn applied(
        &self,
        kernel: &Kernel,
        confinement: &Confinement,
    ) -> Result<Applied, SandboxError> {
        let applied = match &self.built {
            Some(built) => walls::applied_inside(kernel, built, confinement),
            None => walls::applied(kernel, confinement),
        }?;
        Ok(Applied { view: Some(self.kind), ..applied })
    }

    /// Runs a program that sees the workspace, and what `confinement` grants besides.
    ///
    /// Blocks the thread. Several may run at once.
    ///
    /// # Errors
    ///
    /// See [`crate::sandbox::run`].
    pub fn run(
        &self,
        kernel: &Kernel,
        confinement: &Confinement,
        invocation: &Invocation,
        output: Output<'_>,
        cancelled: &AtomicBool,
    ) -> Result<Exit, SandboxError> {
        let mut confinement = confinement.clone();
        confinement.write.push(self.places.home.clone());
        // Git would take what is shown of the run itself for files of the user's.
        let ignored = self.places.workspace.join(RUNS).join(".gitignore");
        confinement.read.extend(ignored.is_file().then_some(ignored));
        let closing = match self.options.mode {
            SandboxMode::Off => Closing::default(),
            SandboxMode::Required | SandboxMode::BestEffort => self.closing(&confinement)?,
        };
        let (unsearched, hidden) = (closing.unsearched, closing.hidden.len() as u64);
        let watched = self.watched();
        let mut exit = match &self.built {
            Some(built) => {
                let room = (built, &closing);
                let (kernel, confinement) = (kernel, &confinement);
                walls::run_inside(
                    kernel,
                    room,
                    confinement,
                    invocation,
                    &watched,
                    output,
                    cancelled,
                )?
            }
            None => {
                self.grant(&mut confinement, closing);
                walls::run(kernel, &confinement, invocation, &watched, output, cancelled)?
            }
        };
        exit.applied.view = Some(self.kind);
        exit.applied.unsearched = unsearched;
        exit.applied.hidden = hidden;
        Ok(exit)
    }

    /// What is closed to a command with these grants.
    fn closing(&self, confinement: &Confinement) -> Result<Closing, SandboxError> {
        let granted = confinement.read.iter().chain(&confinement.write).map(PathBuf::as_path);
        let own = own(&self.places);
        let settled: Vec<_> = granted.chain(own.iter().map(PathBuf::as_path)).collect();
        let mut closing = look(&self.places, &self.options, &settled)?;
        closing.hidden.extend(own);
        closing.linked = self.linked.clone();
        if self.kind == ViewKind::Copy {
            // The copy was made with them.
            closing.replaced.clear();
        }
        Ok(closing)
    }

    /// Where programs fill the disk.
    fn watched(&self) -> Vec<PathBuf> {
        let layer = match self.kind {
            ViewKind::Overlay => Some(self.places.layer.join("upper")),
            ViewKind::Copy => Some(self.places.layer.join("copy")),
            ViewKind::ReadOnly => None,
        };
        let own = [&self.places.home, &self.places.temporary].map(PathBuf::clone);
        layer.into_iter().chain(own).collect()
    }

    /// Grants, without namespaces, what is seen there with them.
    fn grant(&self, confinement: &mut Confinement, closing: Closing) {
        confinement.write.push(self.places.temporary.clone());
        confinement.read.extend(self.linked.iter().cloned());
        match self.kind {
            ViewKind::ReadOnly => {
                confinement.read.push(self.places.workspace.clone());
                confinement.hidden.extend(closing.hidden);
                confinement.hidden.extend(closing.replaced.into_iter().map(|(path, _)| path));
            }
            ViewKind::Copy | ViewKind::Overlay => {
                confinement.write.push(self.folder.clone());
                let hidden = closing.hidden.into_iter();
                let linked = |path: &PathBuf| self.linked.iter().any(|root| path.starts_with(root));
                confinement.hidden.extend(hidden.filter(linked));
            }
        }
    }
}

/// A view that is being opened.
struct Opening<'a> {
    kernel: &'a Kernel,
    places: ViewPlaces,
    options: ViewOptions,
    lock: Lock,
}

impl Opening<'_> {
    fn failed(&self) -> impl Fn(io::Error) -> SandboxError {
        |source| SandboxError::Setup { what: "open the run's layer", source }
    }

    fn overlay(&self) -> Result<Option<Built>, SandboxError> {
        let built = self.build(Source::Overlay(self.places.layer.clone()))?;
        // The kernel makes it so that nobody can list it, and every backup of the workspace would complain.
        let inner = self.places.layer.join("work/work");
        if built.is_some() && inner.is_dir() {
            fs::set_permissions(inner, Permissions::from_mode(0o700)).map_err(self.failed())?;
        }
        Ok(built)
    }

    fn build(&self, source: Source) -> Result<Option<Built>, SandboxError> {
        if self.options.mode == SandboxMode::Off {
            return Ok(None);
        }
        let layout = Layout {
            workspace: self.places.workspace.clone(),
            source,
            temporary: self.places.temporary.clone(),
            mount_point: self.places.layer.join("root"),
        };
        walls::build(self.kernel, layout)
    }

    /// Whether an earlier view has put something into the layer.
    fn has_written(&self) -> bool {
        fs::read_dir(self.places.layer.join("upper")).is_ok_and(|mut found| found.next().is_some())
    }

    fn without_overlay(self, reason: String) -> Result<View, SandboxError> {
        let own = own(&self.places);
        let settled: Vec<_> = own.iter().map(PathBuf::as_path).collect();
        let mut closing = match self.options.mode {
            SandboxMode::Off => Closing::default(),
            SandboxMode::Required | SandboxMode::BestEffort => {
                look(&self.places, &self.options, &settled)?
            }
        };
        closing.hidden.extend(own.iter().cloned());
        let ViewPlaces { workspace, layer, .. } = &self.places;
        match copy::make(workspace, layer, &closing, self.options.copy_bytes) {
            Ok(copied) => self.with_copy(copied, reason),
            Err(NoCopy::TooLarge) => {
                let most = self.options.copy_bytes;
                let reason = format!("{reason}; a copy would have more than {most} bytes");
                self.read_only(reason)
            }
            Err(NoCopy::Failed(error)) => self.read_only(format!("{reason}; no copy: {error}")),
        }
    }

    fn with_copy(self, copied: Copied, reason: String) -> Result<View, SandboxError> {
        let built = self.build(Source::Copy(copied.folder.clone())).unwrap_or_default();
        let ignored = if built.is_some() { Ignored::Hollow } else { Ignored::Linked };
        copied.settle(&self.places.workspace, ignored).map_err(self.failed())?;
        let mut view = self.finish(ViewKind::Copy, Some(reason), built);
        if view.built.is_none() {
            view.root = Some(opened(&copied.folder)?);
            view.folder = copied.folder;
        }
        view.linked = copied.linked;
        Ok(view)
    }

    fn read_only(self, reason: String) -> Result<View, SandboxError> {
        let built = self.build(Source::ReadOnly).unwrap_or_default();
        let mut view = self.finish(ViewKind::ReadOnly, Some(reason), built);
        if view.built.is_none() {
            view.root = Some(opened(&view.folder)?);
        }
        Ok(view)
    }

    fn finish(self, kind: ViewKind, reason: Option<String>, built: Option<Built>) -> View {
        let Self { places, options, lock, .. } = self;
        let folder = places.workspace.clone();
        let (root, linked) = (None, Vec::new());
        View { places, options, kind, reason, folder, built, root, linked, _lock: lock }
    }
}

/// What of the workspace belongs to runs: their records, and the folders of this one.
fn own(places: &ViewPlaces) -> Vec<PathBuf> {
    let runs = places.workspace.join(RUNS);
    let others = [&places.layer, &places.home, &places.temporary].map(PathBuf::clone).into_iter();
    let others =
        others.filter(|path| path.starts_with(&places.workspace) && !path.starts_with(&runs));
    let mut own: Vec<_> = others.collect();
    own.push(runs);
    own
}

fn look(
    places: &ViewPlaces,
    options: &ViewOptions,
    settled: &[&Path],
) -> Result<Closing, SandboxError> {
    let wishes = Wishes {
        workspace: &places.workspace,
        secrets: &options.secrets,
        protected: &options.protected,
        settled,
        shown: &places.layer.join("shown"),
    };
    closing::look(&wishes)
        .map_err(|source| SandboxError::Setup { what: "look through the workspace", source })
}

/// A layer that nobody else uses.
struct Lock(File);

impl Lock {
    fn take(layer: &Path) -> io::Result<Self> {
        let file = File::create(layer.join("lock"))?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that another thread has just begun may still have a copy of the file open.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

fn opened(folder: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = crate::platform::PASSING | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
        .map_err(|error| SandboxError::Grant { path: folder.into(), source: error.into() })
}

/// The message and its cause in one line.
fn with_source(error: &SandboxError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

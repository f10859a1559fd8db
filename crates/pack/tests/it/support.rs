//! A folder of skills with a past, and what is done to it.
//!
//! Invariant: times and names are fixed, so that the same changes leave the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skill::metadata::ReadOptions;
use skill::trust::TrustStore;
use skillful_pack::accept::{Concerns, Likeness, Terms, accept};
use skillful_pack::check::{CheckError, Rules, check};
use skillful_pack::disk::Disk;
use skillful_pack::install::{InstallError, Plan, Record, Replace, Root, audit, state_of};
use skillful_pack::make::{manifest_of, write};
use skillful_pack::material::{Limits, Material};
use skillful_pack::source::{Fetching, Source};

/// A temporary folder; in memory where that is possible, since a kill does not lose what was written.
pub(crate) struct World {
    folder: PathBuf,
    /// Removed with it, unless it belongs to another process.
    _own: Option<tempfile::TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.unwrap();
        Self { folder: folder.path().to_owned(), _own: Some(folder) }
    }

    /// The folder of another process.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder, _own: None }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub(crate) fn root(&self) -> Root {
        Root::new(self.path(".agent/skills"))
    }

    pub(crate) fn skill(&self, folder: &str, name: &str, version: &str) -> &Self {
        let folder = self.path(folder).join(name.replace('/', "."));
        fs::create_dir_all(folder.join("scripts")).unwrap();
        let head =
            format!("---\nname: {name}\ndescription: What {name} does.\nversion: {version}\n---\n");
        fs::write(folder.join("SKILL.md"), format!("{head}# Version {version}\n")).unwrap();
        fs::write(folder.join("scripts/run.sh"), format!("#!/bin/sh\necho {name} {version}\n"))
            .unwrap();
        fs::set_permissions(folder.join("scripts/run.sh"), fs::Permissions::from_mode(0o755))
            .unwrap();
        self
    }

    /// Everything in `.agent`: modes and bytes.
    pub(crate) fn state(&self) -> BTreeMap<String, (u32, Vec<u8>)> {
        let (top, mut found) = (self.path(".agent"), BTreeMap::new());
        let mut waiting = vec![top.clone()];
        while let Some(path) = waiting.pop() {
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let content = match metadata.is_dir() {
                true => {
                    waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                    Vec::new()
                }
                false => fs::read(&path).unwrap(),
            };
            let inner = path.strip_prefix(&top).unwrap().to_string_lossy().into_owned();
            found.insert(inner, (metadata.permissions().mode(), content));
        }
        found
    }

    /// Puts back what [`Self::state`] saw.
    pub(crate) fn reset(&self, state: &BTreeMap<String, (u32, Vec<u8>)>) {
        let top = self.path(".agent");
        let _ = fs::remove_dir_all(&top);
        for (inner, (mode, content)) in state {
            let path = top.join(inner);
            match mode & 0o170_000 == 0o040_000 {
                true => fs::create_dir_all(&path).unwrap(),
                false => fs::write(&path, content).unwrap(),
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o7777)).unwrap();
        }
    }

    /// Finishes or undoes what was interrupted, then checks every skill; answers with the state.
    pub(crate) fn recovered(&self) -> BTreeMap<String, (u32, Vec<u8>)> {
        let (root, disk) = (self.root(), Disk::default());
        root.open(&disk, "next").unwrap().give_up();
        for locked in root.lockfile().unwrap().skills() {
            let audited = audit(&root, locked, &TrustStore::default()).unwrap();
            assert!(audited.refusals.is_empty(), "{:?}", audited.refusals);
        }
        self.state()
    }
}

pub(crate) fn fetching() -> Fetching {
    Fetching {
        limits: Limits::default(),
        read: ReadOptions::default(),
        time: Duration::from_secs(60),
        commit: None,
        environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
    }
}

/// The skills of a folder as a pack with a manifest.
pub(crate) fn zipped(folder: &Path) -> Material {
    let fetched = Source::Folder(folder.to_owned()).fetch(&fetching()).unwrap();
    let rules =
        Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
    let pack = check(fetched.material, None, &rules, None, &|_| ()).unwrap();
    let file =
        write(&pack, &manifest_of(&pack).to_bytes(), None, tempfile::tempfile().unwrap()).unwrap();
    Material::zip(file, Limits::default()).unwrap()
}

/// Something that changes a folder of skills.
pub(crate) type Change = fn(&World, &Disk) -> Result<(), InstallError>;

/// Installs every skill of a folder, as one change.
pub(crate) fn install(
    world: &World,
    disk: &Disk,
    folder: &str,
    replace: Replace,
    label: &str,
) -> Result<(), InstallError> {
    let material = zipped(&world.path(folder));
    let root = world.root();
    let mut opened = root.open(disk, label)?;
    let done = (|| {
        let rules =
            Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
        let pack = opened.stage(material, None, &rules, &|_| ())?;
        let keep = |name: &str| match opened.lockfile.get(name) {
            Some(locked) if replace == Replace::Force => state_of(&root, locked).unwrap().edited(),
            _ => Vec::new(),
        };
        let names = pack.skills.iter().map(|skill| skill.name().to_owned());
        let plan = Plan {
            keep: names.map(|name| (name.clone(), keep(&name))).collect(),
            replace,
            label: label.to_owned(),
            record: Record::New {
                source: folder.to_owned(),
                resolved: None,
                now: "2026-01-01T00:00:00Z".to_owned(),
            },
        };
        let skills: Vec<_> = pack.skills.iter().collect();
        let terms = Terms {
            rules: Rules { allowed: Rules::NEGOTIABLE, ..rules },
            needs_signature: false,
            lockfile: &opened.lockfile,
            likeness: Likeness::Successor,
        };
        let agreement = Concerns::of(&pack, &skills)?.agree();
        let accepted = accept(&pack, skills, &terms, &agreement).map_err(CheckError::from)?;
        opened.install(&accepted, &plan).map(|_| ())
    })();
    if done.is_err() {
        opened.give_up();
    }
    done
}

fn change(
    world: &World,
    disk: &Disk,
    act: impl FnOnce(&mut skillful_pack::install::Opened<'_>) -> Result<(), InstallError>,
) -> Result<(), InstallError> {
    let root = world.root();
    let mut opened = root.open(disk, "change")?;
    let done = act(&mut opened);
    if done.is_err() {
        opened.give_up();
    }
    done
}

/// Every kind of change, on a folder that [`prepared`] made.
pub(crate) const CHANGES: &[(&str, Change)] = &[
    ("install one", |world, disk| install(world, disk, "one", Replace::Never, "20260102T000000Z")),
    ("install several, replacing with a backup", |world, disk| {
        install(world, disk, "several", Replace::Backup, "20260102T000000Z")
    }),
    ("update several, keeping what was edited", |world, disk| {
        install(world, disk, "several", Replace::Force, "20260102T000000Z")
    }),
    ("uninstall", |world, disk| {
        change(world, disk, |opened| {
            opened.uninstall("beta", false, "20260102T000000Z").map(|_| ())
        })
    }),
    ("uninstall for good", |world, disk| {
        change(world, disk, |opened| {
            opened.uninstall("acme/gamma", true, "20260102T000000Z").map(|_| ())
        })
    }),
    ("restore", |world, disk| {
        let kept = world.root().list_kept("delta")?.remove(0);
        change(world, disk, |opened| {
            opened.restore("delta", &kept, Replace::Never, "20260102T000000Z").map(|_| ())
        })
    }),
    ("restore over another", |world, disk| {
        let kept = world.root().list_kept("beta")?.remove(0);
        change(world, disk, |opened| {
            opened.restore("beta", &kept, Replace::Backup, "20260102T000000Z").map(|_| ())
        })
    }),
];

/// Skills `beta` (once replaced), `acme/gamma` (edited), `delta` (uninstalled); sources for more.
pub(crate) fn prepared() -> World {
    let world = World::new();
    let disk = Disk::default();
    world.skill("old", "beta", "0.9.0");
    world
        .skill("past", "beta", "1.0.0")
        .skill("past", "acme/gamma", "1.0.0")
        .skill("past", "delta", "1.0.0");
    world.skill("one", "alpha", "1.0.0");
    world.skill("several", "alpha", "1.0.0").skill("several", "beta", "2.0.0").skill(
        "several",
        "acme/gamma",
        "2.0.0",
    );
    install(&world, &disk, "old", Replace::Never, "20260101T000000Z").unwrap();
    install(&world, &disk, "past", Replace::Backup, "20260101T000001Z").unwrap();
    change(&world, &disk, |opened| {
        opened.uninstall("delta", false, "20260101T000002Z").map(|_| ())
    })
    .unwrap();
    world
}

//! What was found out about servers, kept for the next run.
//!
//! It may be lost at any time: it is then found out again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::dialect::Dialect;
use serde::{Deserialize, Serialize};
use state::{Durability, Folder};

/// A few lines for each server.
const LARGEST: u64 = 1 << 20;

/// Servers are updated: after this long it is tried again what they understand.
const LIFE_SECONDS: i64 = 7 * 24 * 3_600;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Servers(BTreeMap<String, Learned>);

#[derive(Debug, Serialize, Deserialize)]
struct Learned {
    /// Seconds since 1970.
    at: i64,
    dialect: Dialect,
}

impl Learned {
    fn counts(&self, now: Timestamp) -> bool {
        (0..LIFE_SECONDS).contains(&(now.as_second() - self.at))
    }
}

/// A file in the cache, and the server it is about.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    file: PathBuf,
    server: String,
}

impl Memory {
    pub(super) fn new(cache: &Path, server: String) -> Self {
        Self { file: cache.join("models.json"), server }
    }

    pub(super) fn recall(&self, now: Timestamp) -> Option<Dialect> {
        let learned = self.read().0.remove(&self.server)?;
        learned.counts(now).then_some(learned.dialect)
    }

    pub(super) fn keep(&self, dialect: Dialect, now: Timestamp) {
        let mut servers = self.read();
        servers.0.retain(|_, learned| learned.counts(now));
        servers.0.insert(self.server.clone(), Learned { at: now.as_second(), dialect });
        // Without it the next run finds out again.
        let _ = self.write(&servers);
    }

    fn read(&self) -> Servers {
        let read =
            || Folder::around(&self.file).and_then(|(folder, name)| folder.read(name, LARGEST));
        serde_json::from_slice(&read().unwrap_or_default()).unwrap_or_default()
    }

    fn write(&self, servers: &Servers) -> std::io::Result<()> {
        let folder = Folder::at_or_new(self.file.parent().unwrap_or(Path::new(".")))?.private();
        let name = self.file.file_name().unwrap_or_default();
        Ok(folder.replace_among_many(name, &serde_json::to_vec(servers)?, Durability::NoSync)?)
    }
}

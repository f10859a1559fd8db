//! Files from a folder or a repository, gathered into one temporary file that nobody else can change.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use skill::metadata::{Metadata, ReadOptions};

use crate::material::{ArchiveError, Entry, Limits, Material, Method, Mode};
use crate::name::{Names, PackPath};
use crate::refusal::{Flaw, Refusal};

const SKILL_FILE: &str = "SKILL.md";
/// A `SKILL.md` beyond this is not one.
const LARGEST_SKILL_FILE: u64 = 2_000_000;

/// A material that is being gathered.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    at: u64,
    limits: Limits,
    /// By the place of the skill in its source.
    skills: BTreeMap<String, Vec<Entry>>,
    count: u64,
    names: Names,
}

impl Spool {
    pub(crate) fn new(limits: Limits) -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        Ok(Self { file, at: 0, limits, skills: BTreeMap::new(), count: 0, names: Names::default() })
    }

    /// Announces a folder, so that its name is checked even where nothing is in it.
    pub(crate) fn folder(&mut self, place: &str, path: &[u8]) -> Result<(), Refusal> {
        let path = PackPath::new(path)?;
        self.names.add_folder(&within(place, &path))
    }

    /// Adds a file of the skill at `place`; `path` is relative to it.
    pub(crate) fn file(
        &mut self,
        place: &str,
        path: &[u8],
        mode: Mode,
        mut content: impl Read,
    ) -> Result<(), ArchiveError> {
        let path = PackPath::new(path)?;
        self.names.add_file(&within(place, &path))?;
        self.count += 1;
        if self.count > self.limits.entries {
            let refusal = Refusal::of(Flaw::TooManyEntries, path.as_str());
            return Err(refusal.because(format!("the limit is {}", self.limits.entries)).into());
        }
        let start = self.at;
        let room = self.limits.bytes - start;
        self.at += io::copy(&mut content.by_ref().take(room + 1), &mut self.file)?;
        if self.at > self.limits.bytes {
            let refusal = Refusal::of(Flaw::TooLarge, path.as_str());
            return Err(refusal
                .because(format!("the limit is {} bytes in all", self.limits.bytes))
                .into());
        }
        let size = self.at - start;
        let entry =
            Entry { path, mode, size, start, stored: size, method: Method::Stored, crc: None };
        self.skills.entry(place.to_owned()).or_default().push(entry);
        Ok(())
    }

    /// Each skill becomes a folder with the skill's own name, wherever it was.
    pub(crate) fn finish(mut self, options: &ReadOptions) -> Result<Material, ArchiveError> {
        self.file.flush()?;
        let mut names = Names::default();
        let mut entries = Vec::new();
        let Self { skills, mut file, limits, .. } = self;
        let mut folders: Vec<String> = Vec::new();
        for (place, files) in skills {
            let folder = folder_name(&mut file, &place, &files, options)?;
            if folders.contains(&folder) {
                return Err(Refusal::of(Flaw::DuplicateSkill, folder).into());
            }
            for entry in files {
                let path = PackPath::new(format!("{folder}/{}", entry.path).as_bytes())?;
                names.add_file(&path)?;
                entries.push(Entry { path, ..entry });
            }
            folders.push(folder);
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Material { file, entries, limits, left_out: Vec::new() })
    }
}

/// Names of different skills cannot be in each other's way.
fn within(place: &str, path: &PackPath) -> PackPath {
    path.below(place)
}

/// The folder of a skill in a pack: its name. A frontmatter that cannot be read is complained about
/// later, with the folder's own name.
fn folder_name(
    file: &mut File,
    place: &str,
    files: &[Entry],
    options: &ReadOptions,
) -> Result<String, ArchiveError> {
    let own =
        place.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("skill").to_owned();
    let found = files.iter().find(|entry| entry.path.as_str() == SKILL_FILE);
    let Some(entry) = found.filter(|entry| entry.size <= LARGEST_SKILL_FILE) else {
        return Ok(own);
    };
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(entry.start))?;
    file.take(entry.size).read_to_end(&mut content)?;
    Ok(Metadata::of_file(&content, &own, options)
        .map_or(own, |metadata| pack_folder(&metadata.name)))
}

/// The folder that a skill of this name has in packs; a namespace does not make two of it.
pub(crate) fn pack_folder(name: &str) -> String {
    name.replace('/', ".")
}

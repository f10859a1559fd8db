//! A git repository as a source: objects are fetched and read, nothing is checked out.
//!
//! Invariant: no content of a repository is executed or interpreted. There is no work tree, so there
//! are no hooks, filters, links or submodules; only names, modes and bytes.

mod command;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Instant;

use super::places::{place_of, places};
use super::{Fetched, Fetching, GitSource, SourceError};
use crate::material::{ArchiveError, Mode};
use crate::name::PackPath;
use crate::refusal::{Flaw, Refusal};
use crate::spool::Spool;
use command::Git;

/// The list of a repository's files beyond this is not read.
const LARGEST_LIST: u64 = 64 << 20;

/// Fetches one commit and gathers the skills in it.
pub(super) fn fetch(source: &GitSource, fetching: &Fetching) -> Result<Fetched, SourceError> {
    if let Some(folder) = &source.subfolder {
        PackPath::new(folder.as_bytes()).map_err(ArchiveError::from)?;
    }
    let failed =
        |error: std::io::Error| SourceError::Read { path: std::env::temp_dir(), source: error };
    let folder = tempfile::tempdir().map_err(failed)?;
    let git = Git { folder: folder.path(), fetching, deadline: Instant::now() + fetching.time };
    git.run(&["init", "--quiet", "--bare", "."])?;
    let reference = fetching.commit.as_deref().or(source.reference.as_deref()).unwrap_or("HEAD");
    let commit = obtain(&git, &source.repository, reference)?;
    let tree = match &source.subfolder {
        Some(folder) => format!("{commit}:{folder}"),
        None => commit.clone(),
    };
    let list =
        git.read(&["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", &tree], LARGEST_LIST)?;
    let files = files_of_skills(&list, source)?;
    let material = gather(&git, &files, fetching)?;
    Ok(Fetched { material, detached: None, resolved: Some(commit) })
}

/// The commit that a reference stands for, with everything that belongs to it.
fn obtain(git: &Git<'_>, repository: &str, reference: &str) -> Result<String, SourceError> {
    if reference.starts_with('-')
        || reference.chars().any(|c| c.is_control() || c == ':' || c == '^')
    {
        return Err(SourceError::Git { message: format!("`{reference}` is not a reference") });
    }
    let one = git.run(&[
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
        "--end-of-options",
        repository,
        reference,
    ]);
    let found = match one {
        Ok(()) => "FETCH_HEAD".to_owned(),
        // A short commit, or a server that gives only what has a name.
        Err(error) => {
            let everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
            let all =
                ["fetch", "--quiet", "--no-recurse-submodules", "--end-of-options", repository];
            git.run(&[&all[..], &everything[..]].concat()).map_err(|_| error)?;
            reference.to_owned()
        }
    };
    let commit = git.read(
        &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{found}^{{commit}}")],
        1_000,
    );
    let commit =
        commit.map_err(|_| SourceError::Git { message: format!("there is no `{reference}`") })?;
    Ok(String::from_utf8_lossy(&commit).trim().to_owned())
}

/// A file of a skill in a repository.
struct GitFile {
    place: String,
    path: Vec<u8>,
    mode: Mode,
    object: String,
}

fn files_of_skills(list: &[u8], source: &GitSource) -> Result<Vec<GitFile>, ArchiveError> {
    let lines: Vec<(&[u8], &[u8])> = list
        .split(|byte| *byte == 0)
        .filter_map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            Some((&line[..tab], &line[tab + 1..]))
        })
        .collect();
    let places = places(lines.iter().map(|(_, path)| *path));
    let top = source.subfolder.as_deref().unwrap_or(&source.repository);
    let top = Path::new(top).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut files = Vec::new();
    for (facts, path) in lines {
        let Some(place) = place_of(path, &places) else { continue };
        let inner = if place.is_empty() { path } else { &path[place.len() + 1..] };
        let facts = String::from_utf8_lossy(facts);
        let mut facts = facts.split(' ');
        let mode = match facts.next() {
            Some("100644" | "100664") => Ok(Mode::Plain),
            Some("100755") => Ok(Mode::Executable),
            Some("120000") => Err(Flaw::Symlink),
            Some("160000") => Err(Flaw::Submodule),
            _ => Err(Flaw::OddType),
        };
        let place = String::from_utf8_lossy(place);
        let place = if place.is_empty() { top.clone() } else { place.into_owned() };
        let mode = mode.map_err(|flaw| Refusal::of(flaw, String::from_utf8_lossy(path)))?;
        let object = facts.nth(1).unwrap_or_default().to_owned();
        files.push(GitFile { place, path: inner.to_vec(), mode, object });
    }
    Ok(files)
}

/// Reads the objects one after another.
fn gather(
    git: &Git<'_>,
    files: &[GitFile],
    fetching: &Fetching,
) -> Result<crate::material::Material, SourceError> {
    let failed = |source| SourceError::Content(ArchiveError::Read(source));
    let mut spool = Spool::new(fetching.limits).map_err(failed)?;
    let mut running = git.start(&["cat-file", "--batch", "--buffer"])?;
    let (mut stdin, stdout) = running.pipes()?;
    let result = thread::scope(|scope| {
        scope.spawn(move || {
            // Whoever reads may have had enough.
            let _ = files.iter().try_for_each(|file| writeln!(stdin, "{}", file.object));
        });
        let mut stdout = BufReader::with_capacity(64 << 10, stdout);
        let gathered = files.iter().try_for_each(|file| take(&mut stdout, file, &mut spool));
        // Without a reader the other side ends.
        drop(stdout);
        gathered
    });
    let ended = running.wait();
    result.and(ended)?;
    Ok(spool.finish(&fetching.read)?)
}

/// One answer: `OBJECT blob SIZE`, the content, an end of line.
fn take(stdout: &mut impl BufRead, file: &GitFile, spool: &mut Spool) -> Result<(), SourceError> {
    let failed = |source| SourceError::Content(ArchiveError::Read(source));
    let broken = || SourceError::Git { message: format!("object {} cannot be read", file.object) };
    let mut line = String::new();
    stdout.by_ref().take(200).read_line(&mut line).map_err(failed)?;
    let size = line
        .trim()
        .strip_prefix(&format!("{} blob ", file.object))
        .and_then(|size| size.parse().ok());
    let size: u64 = size.ok_or_else(broken)?;
    spool.file(&file.place, &file.path, file.mode, stdout.by_ref().take(size))?;
    let mut end = [0];
    stdout.read_exact(&mut end).map_err(failed)
}

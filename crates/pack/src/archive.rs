//! A zip file, checked structurally before a byte of it is inflated.
//!
//! Invariant: an archive that is accepted has no byte that its structure does not account for: entries lie one
//! after another from the first byte to the central directory, which is followed by the end record.

mod header;
pub(crate) mod write;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};

use crate::manifest::{MANIFEST, SIGNATURE};
use crate::material::{ArchiveError, Entry, Limits, Material, Method};
use crate::name::{Names, PackPath};
use crate::refusal::{Flaw, Refusal};
use header::{Central, End, Local};

impl Material {
    /// Checks a zip file.
    pub fn zip(file: File, limits: Limits) -> Result<Self, ArchiveError> {
        let mut entries = read(&file, &limits)?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { file, entries, limits, left_out: Vec::new() })
    }
}

/// What does not count as content.
const OWN: [&str; 2] = [MANIFEST, SIGNATURE];

/// Checks the structure of a zip file; answers with its files, folders left out.
pub fn read(file: &File, limits: &Limits) -> Result<Vec<Entry>, ArchiveError> {
    let size = file.metadata()?.len();
    let end = End::find(file, size)?;
    let too_many =
        || Refusal::whole(Flaw::TooManyEntries).because(format!("the limit is {}", limits.entries));
    if u64::from(end.entries) > limits.entries + OWN.len() as u64 {
        return Err(too_many().into());
    }
    let directory = read_exactly(file, end.directory_start, end.directory_size.into())?;
    let mut names = Names::default();
    let mut files = Vec::with_capacity(usize::from(end.entries));
    let mut places = Vec::with_capacity(usize::from(end.entries));
    let mut rest = directory.as_slice();
    for _ in 0..end.entries {
        let (central, behind) = Central::parse(rest)?;
        rest = behind;
        let place = check_entry(file, &central, end.directory_start)?;
        let found = entry(&central, place.data, limits)?;
        match found {
            Found::Folder(path) => names.add_folder(&path)?,
            Found::File(entry) => {
                names.add_file(&entry.path)?;
                files.push(entry);
            }
        }
        places.push((place, central.name.to_vec()));
    }
    if !rest.is_empty() {
        return Err(Refusal::whole(Flaw::HiddenData).because("in the central directory").into());
    }
    let starts = check_places(places, end.directory_start)?;
    let content = files.iter().filter(|entry| !OWN.contains(&entry.path.as_str()));
    let (count, total) =
        content.fold((0, 0), |(count, total), entry| (count + 1, total + entry.size));
    let folders = starts.len() - files.len();
    if (count + folders) as u64 > limits.entries {
        return Err(too_many().into());
    }
    check_comment(file, &end, &directory, &starts)?;
    if total > limits.bytes {
        return Err(Refusal::whole(Flaw::TooLarge)
            .because(format!("{total} bytes, the limit is {}", limits.bytes))
            .into());
    }
    Ok(files)
}

/// Where an entry begins and ends, and where its content begins.
#[derive(Debug, Clone, Copy)]
struct Extent {
    start: u64,
    data: u64,
    end: u64,
}

/// Holds the local header to what the central directory says.
fn check_entry(file: &File, central: &Central<'_>, directory: u64) -> Result<Extent, ArchiveError> {
    let shown = || String::from_utf8_lossy(central.name).into_owned();
    let start = u64::from(central.start);
    let mismatch = |what: &str| Refusal::of(Flaw::HeaderMismatch, shown()).because(what);
    if start + Local::SIZE > directory {
        return Err(Refusal::of(Flaw::OverlappingEntries, shown()).into());
    }
    let fixed = read_exactly(file, start, Local::SIZE)?;
    let local = Local::parse(&fixed).ok_or_else(|| mismatch("there is no local header"))?;
    let names = start + Local::SIZE;
    let data = names + u64::from(local.name_length) + u64::from(local.extra_length);
    if data > directory {
        return Err(Refusal::of(Flaw::OverlappingEntries, shown()).into());
    }
    let tail = read_exactly(file, names, data - names)?;
    let (name, extra) = tail.split_at(usize::from(local.name_length));
    if name != central.name {
        return Err(mismatch("another name").into());
    }
    header::check_extra(extra).map_err(|flaw| Refusal::of(flaw, shown()))?;
    local.compare(central).map_err(mismatch)?;
    let mut end = data + u64::from(central.compressed);
    if end > directory {
        return Err(Refusal::of(Flaw::OverlappingEntries, shown()).into());
    }
    if local.has_descriptor() {
        let behind = read_exactly(file, end, (directory - end).min(16))?;
        let length = header::descriptor_length(&behind, central)
            .ok_or_else(|| mismatch("another data descriptor"))?;
        end += length;
    }
    Ok(Extent { start, data, end })
}

enum Found {
    Folder(PackPath),
    File(Entry),
}

fn entry(central: &Central<'_>, start: u64, limits: &Limits) -> Result<Found, Refusal> {
    let (bytes, is_folder) = match central.name.strip_suffix(b"/") {
        Some(folder) => (folder, true),
        None => (central.name, false),
    };
    let path = PackPath::new(bytes)?;
    let refuse = |flaw| Err(Refusal::of(flaw, path.as_str()));
    let mode = match central.mode() {
        Ok(mode) => mode,
        Err(flaw) => return refuse(flaw),
    };
    if central.is_folder_by_mode().is_some_and(|folder| folder != is_folder) {
        return refuse(Flaw::FileAndFolder);
    }
    if is_folder {
        let is_empty = central.size == 0 && central.compressed == 0;
        return if is_empty { Ok(Found::Folder(path)) } else { refuse(Flaw::FolderWithContent) };
    }
    if u64::from(central.size) > limits.bytes {
        return refuse(Flaw::TooLarge);
    }
    let method = match central.method {
        0 => Method::Stored,
        8 => Method::Deflated,
        _ => return refuse(Flaw::OddMethod),
    };
    if method == Method::Stored && central.size != central.compressed {
        return refuse(Flaw::SizeLie);
    }
    if u64::from(central.size) > limits.ratio.saturating_mul(u64::from(central.compressed)) {
        return refuse(Flaw::RatioTooHigh);
    }
    let (size, stored) = (central.size.into(), central.compressed.into());
    Ok(Found::File(Entry { path, mode, size, start, stored, method, crc: Some(central.crc) }))
}

/// Entries must cover everything before the central directory, each byte once; answers with their places
/// in that order.
fn check_places(
    mut places: Vec<(Extent, Vec<u8>)>,
    directory: u64,
) -> Result<Vec<Extent>, Refusal> {
    places.sort_by_key(|(place, _)| place.start);
    let mut covered = 0;
    for (place, name) in &places {
        let name = || String::from_utf8_lossy(name).into_owned();
        if place.start < covered {
            return Err(Refusal::of(Flaw::OverlappingEntries, name()));
        }
        if place.start > covered {
            let flaw = if covered == 0 { Flaw::LeadingData } else { Flaw::HiddenData };
            return Err(Refusal::of(flaw, name()));
        }
        covered = place.end;
    }
    match covered {
        _ if covered == directory => Ok(places.into_iter().map(|(place, _)| place).collect()),
        0 => Err(Refusal::whole(Flaw::LeadingData)),
        _ => Err(Refusal::whole(Flaw::HiddenData).because("before the central directory")),
    }
}

/// A comment is empty, a commit as `git archive` writes it, or a pack's own hash of its headers.
fn check_comment(
    file: &File,
    end: &End,
    directory: &[u8],
    places: &[Extent],
) -> Result<(), ArchiveError> {
    let (record, comment) = end.record.split_at(End::SIZE);
    let is_commit =
        matches!(comment.len(), 0 | 40 | 64) && comment.iter().all(u8::is_ascii_hexdigit);
    if is_commit {
        return Ok(());
    }
    let refuse = |why: &str| Err(Refusal::whole(Flaw::OddComment).because(why).into());
    if comment.len() != write::COMMENT {
        return refuse("its purpose is unknown");
    }
    let mut headers = Sha256::new();
    for place in places {
        headers.update(read_exactly(file, place.start, place.data - place.start)?);
    }
    headers.update(directory);
    headers.update(record);
    match write::comment(headers) == comment {
        true => Ok(()),
        false => refuse("the headers were changed"),
    }
}

fn read_exactly(file: &File, start: u64, length: u64) -> Result<Vec<u8>, ArchiveError> {
    let length = usize::try_from(length).map_err(|_| Refusal::whole(Flaw::Truncated))?;
    let mut bytes = vec![0; length];
    match file.read_exact_at(&mut bytes, start) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Err(Refusal::whole(Flaw::Truncated).into())
        }
        Err(error) => Err(error.into()),
    }
}

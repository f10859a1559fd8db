//! Making a pack.

use std::io::{self, Write};

use crate::archive::write::Writer;
use crate::check::{Pack, Verified};
use crate::manifest::{MANIFEST, Manifest, ManifestSkill, SIGNATURE};
use crate::material::{ArchiveError, Mode};

/// The manifest of what a pack holds.
pub fn manifest_of(pack: &Pack) -> Manifest {
    let skills = pack.skills.iter().map(|skill| ManifestSkill {
        name: skill.name().to_owned(),
        version: skill.version().map(str::to_owned),
        dir: skill.dir.clone(),
    });
    Manifest::new(skills.collect(), pack.files.clone())
}

/// Writes a pack: entries in the order of their paths, and nothing that depends on time or place.
pub fn write<W: Write>(
    pack: &Verified<Pack>,
    manifest: &[u8],
    signature: Option<&str>,
    to: W,
) -> Result<W, ArchiveError> {
    let mut writer = Writer::new(to);
    let own = [(MANIFEST, Some(manifest)), (SIGNATURE, signature.map(str::as_bytes))];
    let mut own = own.into_iter().filter_map(|(name, content)| Some((name, content?))).peekable();
    for file in &pack.files {
        while let Some((name, content)) = own.next_if(|(name, _)| *name < file.path.as_str()) {
            writer.add(name, Mode::Plain, content)?;
        }
        let entry = pack
            .material
            .get(&file.path)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        writer.add(&file.path, file.mode, &pack.material.read(entry, u64::MAX)?)?;
    }
    for (name, content) in own {
        writer.add(name, Mode::Plain, content)?;
    }
    Ok(writer.finish()?)
}

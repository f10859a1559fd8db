//! Whether an installed skill is still what was installed, and still what was signed.

use basics::sha256::Sha256;
use skill::lock::{FileRecord, LockedSkill};
use skill::trust::TrustStore;

use super::state::InstalledState;
use super::{Root, state_of};
use crate::check::differences;
use crate::manifest::{MANIFEST, Manifest, SIGNATURE};
use crate::refusal::{Flaw, Refusal};
use crate::signature;

/// Checks files against the lockfile, and the lockfile against what was signed.
pub fn audit(
    root: &Root,
    locked: &LockedSkill,
    trust: &TrustStore,
) -> std::io::Result<InstalledState> {
    let mut state = state_of(root, locked)?;
    if skill::lock::tree_hash(&locked.files) != locked.sha256 {
        state
            .refusals
            .push(Refusal::of(Flaw::NotAsLocked, &locked.name).because("the hash over all files"));
    }
    if let Err(refusal) = check_manifest(root, locked, trust) {
        state.refusals.push(refusal);
    }
    Ok(state)
}

fn check_manifest(root: &Root, locked: &LockedSkill, trust: &TrustStore) -> Result<(), Refusal> {
    let Some(hash) = &locked.manifest else { return Ok(()) };
    let missing =
        |name: &str| Refusal::of(Flaw::NotAsInstalled, name).because("it is no longer there");
    let kept = root.kept_pack(hash).ok_or_else(|| missing(MANIFEST))?;
    let manifest = kept.manifest;
    if Sha256::of(&manifest).to_string() != *hash {
        return Err(Refusal::of(Flaw::NotAsInstalled, MANIFEST));
    }
    let parsed = Manifest::parse(&manifest)?;
    if !lists(&parsed, locked) {
        return Err(
            Refusal::of(Flaw::NotAsLocked, &locked.name).because("manifest.json lists other files")
        );
    }
    let Some(expected) = &locked.signature else { return Ok(()) };
    let text = kept.signature.ok_or_else(|| missing(SIGNATURE))?;
    if Sha256::of(text.as_bytes()).to_string() != *expected {
        return Err(Refusal::of(Flaw::NotAsInstalled, SIGNATURE));
    }
    match (&locked.signer, signature::check(&text, &manifest, &parsed, trust)) {
        (_, Ok(_)) => Ok(()),
        // Installed in spite of its key being unknown; that is no news.
        (None, Err(refusal)) if refusal.flaw == Flaw::UnknownKey => Ok(()),
        (_, Err(refusal)) => Err(refusal),
    }
}

/// Whether a manifest says the same of a skill as the lockfile does.
pub(super) fn lists(manifest: &Manifest, locked: &LockedSkill) -> bool {
    let Some(skill) = manifest.skills.iter().find(|skill| skill.name == locked.name) else {
        return false;
    };
    let prefix = format!("{}/", skill.dir);
    let own = manifest.files.iter().filter_map(|file| {
        let path = file.path.strip_prefix(&prefix)?.to_owned();
        Some(FileRecord { path, ..file.clone() })
    });
    differences(&own.collect::<Vec<_>>(), &locked.files).is_empty()
        && skill.version == locked.version
}

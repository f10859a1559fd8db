//! A skill of a pack beside what the lockfile says of it.

use basics::sha256::Sha256;
use skill::lock::LockedSkill;

use crate::check::{Pack, PackedSkill};
use crate::refusal::{Flaw, Refusal};

/// What a new copy of an installed skill may not be without the user's word.
pub(crate) fn compare_with_installed(
    skill: &PackedSkill,
    pack: &Pack,
    installed: &LockedSkill,
) -> Vec<Refusal> {
    let refuse = |flaw| Refusal::of(flaw, skill.name());
    let mut refusals = Vec::new();
    match (&installed.signer, &pack.signer) {
        (Some(_), None) => refusals.push(refuse(Flaw::BecameUnsigned)),
        (Some(before), Some(now)) if before.key != now.key => {
            refusals.push(refuse(Flaw::OtherSigner))
        }
        _ => {}
    }
    match crate::version::compare(skill.version(), installed.version.as_deref()) {
        std::cmp::Ordering::Less => refusals.push(refuse(Flaw::OlderVersion)),
        std::cmp::Ordering::Equal
            if installed.version.is_some() && skill.sha256 != installed.sha256 =>
        {
            refusals.push(refuse(Flaw::ChangedVersion));
        }
        _ => {}
    }
    refusals
}

/// What keeps a copy from being exactly the one in the lockfile: files, manifest, signature and signer.
pub(crate) fn compare_with_locked(
    skill: &PackedSkill,
    pack: &Pack,
    locked: &LockedSkill,
) -> Option<Refusal> {
    let signature =
        pack.signature.as_ref().map(|signature| Sha256::of(signature.as_bytes()).to_string());
    let signer = pack.signer.as_ref().map(|signer| &signer.key);
    let locked_signer = locked.signer.as_ref().map(|signer| &signer.key);
    let what = match () {
        () if skill.sha256 != locked.sha256 => "its files differ",
        () if pack.manifest.as_deref().map(|manifest| Sha256::of(manifest).to_string())
            != locked.manifest =>
        {
            "its manifest.json differs"
        }
        () if signature != locked.signature => "its signature differs or is missing",
        // Whoever was not trusted then may be trusted now.
        () if locked_signer.is_some() && signer != locked_signer => "its signer differs",
        () => return None,
    };
    Some(Refusal::of(Flaw::NotAsLocked, skill.name()).because(what))
}

//! Whether skills of a pack may be installed: what they are held to, and a person's word where one is needed.
//!
//! Invariant: only [`accept`] makes an [`Accepted`], and installing takes one. What a person agreed to is the content of
//! skills, whatever they are called.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use skill::lock::{LockedSkill, Lockfile};

use crate::check::{CheckError, Pack, PackedSkill, Rules, Verified};
use crate::compare::{compare_with_installed, compare_with_locked};
use crate::policy::{Concern, concerns, scan, scan_concerns};
use crate::refusal::{Flaw, Refusal};
use crate::scan::Scanner;

/// What skills of a checked pack are held to.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// What their pack was held to, and which flaws the user lets pass.
    pub rules: Rules<'a>,
    /// Whether a trusted key must have signed them.
    pub needs_signature: bool,
    /// What is installed.
    pub lockfile: &'a Lockfile,
    /// What that means for them.
    pub likeness: Likeness,
}

/// How like the skills of the lockfile those of a pack must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Not older, and not signed by somebody else.
    Successor,
    /// The same, to the last byte.
    Exact,
}

/// What a person should know before certain skills are installed.
#[derive(Debug, Default)]
pub struct Concerns {
    /// All there is to know; without any, nobody need be asked.
    pub found: Vec<Concern>,
    contents: HashSet<String>,
}

/// A person's word for skills, by their content.
#[derive(Debug)]
pub struct Agreement(HashSet<String>);

/// Skills of a pack that may be installed.
#[derive(Debug)]
pub struct Accepted<'p> {
    pack: &'p Verified<Pack>,
    skills: Vec<&'p PackedSkill>,
    /// What was found and let pass, because the user allowed it.
    pub let_pass: Vec<Refusal>,
}

impl Concerns {
    /// Looks through skills of a pack.
    pub fn of(pack: &Pack, skills: &[&PackedSkill]) -> Result<Self, CheckError> {
        let scanner = Scanner::new();
        let mut all = Self::default();
        for skill in skills {
            let report = scan(&scanner, pack, skill)?;
            all.found.extend(concerns(skill).into_iter().chain(scan_concerns(skill, &report)));
            all.contents.insert(skill.sha256.clone());
        }
        Ok(all)
    }

    /// These and those of another pack.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.found.extend(other.found);
        self.contents.extend(other.contents);
        self
    }

    /// The word of a person who has seen them.
    pub fn agree(self) -> Agreement {
        Agreement(self.contents)
    }
}

/// Holds skills to the terms; answers what was let pass.
pub fn hold(
    pack: &Verified<Pack>,
    skills: &[&PackedSkill],
    terms: &Terms<'_>,
) -> Result<Vec<Refusal>, Refusal> {
    if terms.needs_signature {
        check_signature(pack)?;
    }
    let mut let_pass = pack.allowed.clone();
    for skill in skills {
        match (terms.likeness, terms.lockfile.get(skill.name())) {
            (Likeness::Exact, locked) => check_exact(skill, pack, locked)?,
            (Likeness::Successor, None) => {}
            (Likeness::Successor, Some(installed)) => {
                for refusal in compare_with_installed(skill, pack, installed) {
                    terms.rules.judge(refusal, &mut let_pass)?;
                }
            }
        }
    }
    Ok(let_pass)
}

/// Refuses a pack that no trusted key signed.
pub fn check_signature(pack: &Pack) -> Result<(), Refusal> {
    if pack.signer.is_some() {
        return Ok(());
    }
    let first = pack.skills.first().map(|skill| skill.name().to_owned());
    let message = "no trusted key signed it, and `install.require_signature` asks for one";
    Err(Refusal { flaw: Flaw::SignatureRequired, entry: first, message: message.to_owned() })
}

fn check_exact(
    skill: &PackedSkill,
    pack: &Pack,
    locked: Option<&LockedSkill>,
) -> Result<(), Refusal> {
    let refusal = match locked {
        Some(locked) => compare_with_locked(skill, pack, locked),
        None => Some(Refusal {
            flaw: Flaw::NotAsLocked,
            entry: Some(skill.name().to_owned()),
            message: "the lockfile does not list it".to_owned(),
        }),
    };
    refusal.map_or(Ok(()), Err)
}

/// Accepts skills that are as the terms want them, and that a person agreed to.
pub fn accept<'p>(
    pack: &'p Verified<Pack>,
    skills: Vec<&'p PackedSkill>,
    terms: &Terms<'_>,
    Agreement(agreed): &Agreement,
) -> Result<Accepted<'p>, Refusal> {
    let let_pass = hold(pack, &skills, terms)?;
    match skills.iter().find(|skill| !agreed.contains(&skill.sha256)) {
        Some(skill) => Err(Refusal::of(Flaw::Unsafe, skill.name())),
        None => Ok(Accepted { pack, skills, let_pass }),
    }
}

impl<'p> Accepted<'p> {
    /// Their pack.
    pub fn pack(&self) -> &'p Verified<Pack> {
        self.pack
    }

    /// The skills.
    pub fn skills(&self) -> &[&'p PackedSkill] {
        &self.skills
    }
}

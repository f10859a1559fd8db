//! What trust says of each skill of a root, from what the index reads anyway.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use basics::sha256::Sha256;
use basics::skill::Source;
use serde::Serialize;

use super::authors::is_own;
use super::{Trust, TrustedFolder, TrustedSkill, relative};
use crate::discover::Link;
use crate::entry::Entry;
use crate::load::ContentHash;
use crate::metadata::{Controls, Meta};
use crate::roots::Root;

/// Why a skill of a project waits for trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The user never looked at it.
    New,
    /// It says something else about itself than when the user looked.
    Changed,
    /// An earlier version of this program trusted it, without looking at everything that it holds.
    Earlier,
}

impl Waiting {
    /// Why it waits, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::New => "you have not trusted it yet",
            Self::Changed => "it has changed since you trusted it",
            Self::Earlier => {
                "you trusted it with an earlier version, which did not check all files"
            }
        }
    }
}

/// What trust says of one root.
#[derive(Debug)]
pub(crate) enum Standing<'a> {
    /// Every skill may be used.
    All,
    /// These, as far as they are what they were; and all that is part of a workspace of the user's.
    Known {
        skills: Option<&'a BTreeMap<String, TrustedSkill>>,
        workspace: Option<PathBuf>,
        /// What the others wait for.
        others: Waiting,
    },
}

/// What trust says of one skill.
pub(crate) enum Verdict {
    /// It may be used, as long as it holds what this stands for, where there is something.
    Trusted(Option<ContentHash>),
    Waits(Waiting),
}

impl Trust {
    /// What is known of `root`, which is really at `real`.
    pub(crate) fn standing(&self, root: &Root, real: &Path) -> Standing<'_> {
        let Self::Only(store) = self else { return Standing::All };
        if root.source != Source::Project {
            return Standing::All;
        }
        let (skills, others) = match store.projects.get(&*real.to_string_lossy()) {
            Some(TrustedFolder::Skills { skills }) => (Some(skills), Waiting::New),
            Some(TrustedFolder::Earlier { .. }) => (None, Waiting::Earlier),
            None => (None, Waiting::New),
        };
        Standing::Known { skills, workspace: store.own_workspace(real), others }
    }
}

impl Standing<'_> {
    pub(crate) fn of(&self, entry: &Entry, root: &Root) -> Verdict {
        let Self::Known { skills, workspace, others } = self else {
            return Verdict::Trusted(None);
        };
        if workspace.as_ref().is_some_and(|workspace| is_own(entry, &root.path, workspace)) {
            return Verdict::Trusted(None);
        }
        let known = skills.filter(|skills| !skills.is_empty());
        match known.and_then(|skills| skills.get(&relative(&root.path, &entry.path))) {
            Some(known) if known.metadata == metadata_hash(entry) => {
                Verdict::Trusted(Some(known.content.clone()))
            }
            Some(_) => Verdict::Waits(Waiting::Changed),
            None => Verdict::Waits(*others),
        }
    }
}

/// `sha256:` over what a skill says about itself, and the links that lead to it.
pub(crate) fn metadata_hash(entry: &Entry) -> String {
    #[derive(Serialize)]
    struct Said<'a> {
        controls: &'a Controls,
        description: &'a str,
        links: &'a [Link],
        meta: &'a Meta,
        name: &'a str,
    }
    let Entry { controls, description, links, meta, name, .. } = entry;
    let said = Said { controls, description, links, meta, name };
    let json = serde_json::to_vec(&said).expect("an entry is plain data");
    format!("sha256:{}", Sha256::of(&json))
}

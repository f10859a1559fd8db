//! What trust says of each skill of a root, from what the index reads anyway.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use basics::sha256::Sha256;
use basics::skill::Source;
use serde::Serialize;

use super::authors::is_own;
use super::{Trust, TrustedFolder, TrustedSkill, relative};
use crate::discover::Link;
use crate::entry::{Entry, Verdict, Waiting};
use crate::metadata::{Controls, Meta};
use crate::roots::Root;

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

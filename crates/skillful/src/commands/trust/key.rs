//! `skillful trust key`, and taking that back

use std::process::ExitCode;

use basics::text::for_terminal;
use pack::signature::public_key;
use schemars::JsonSchema;
use serde::Serialize;
use skill::trust::{TrustStore, TrustedKey};

use super::no_home;
use crate::failure::{Exit, Failure};
use crate::installing::times;
use crate::output::{Output, Palette};
use crate::session::Session;
use runtime::plain_file::read_plain;

/// Trust a key that signs packs
///
/// First check the key with its owner, for example by phone: not in the way you got it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful trust key team.pub --name \"Our team\" --for 'team-*'\n  skillful trust key team.pub --name \"Our team\" --dry-run"
)]
pub(crate) struct TrustKey {
    /// A public key in minisign's format: a file or the key itself
    key: String,
    /// The name of the key's owner
    #[arg(long)]
    name: String,
    /// Trust it only for skills with this name; * is a wildcard (repeatable) [default: *]
    #[arg(long = "for", value_name = "NAME")]
    names: Vec<String>,
    /// Trust a revoked key again
    #[arg(long)]
    unrevoke: bool,
    /// Show what would be trusted, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A key that is trusted now, or is not any more.
#[derive(Serialize, JsonSchema)]
pub(crate) struct KeyChange {
    /// As minisign shows it.
    key: String,
    name: String,
    /// Names of skills that it may sign.
    names: Vec<String>,
    trusted: bool,
    written: bool,
}

impl TrustKey {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let file = session.surroundings.working_directory.join(&self.key);
        let text = match file.is_file() {
            true => read_plain(&file)?,
            false => self.key.clone(),
        };
        let (id, public_key) = public_key(&text)?;
        let names = if self.names.is_empty() { vec!["*".to_owned()] } else { self.names.clone() };
        let store = session.trust_store()?;
        if store.keys.get(&id).is_some_and(|known| known.revoked_at.is_some()) && !self.unrevoke {
            return Err(Failure::new(
                Exit::Refused,
                "RevokedKey",
                format!("you revoked the key {id}"),
            )
            .hint("add --unrevoke to trust it again"));
        }
        let (_, trusted_at) = times();
        let key = TrustedKey {
            name: self.name.clone(),
            public_key,
            names: names.clone(),
            trusted_at,
            revoked_at: None,
        };
        if !self.dry_run {
            let file = session.trust_file().ok_or_else(no_home)?;
            TrustStore::change(&file, |store| store.keys.insert(id.clone(), key))?;
        }
        let change = KeyChange {
            key: id,
            name: self.name.clone(),
            names,
            trusted: true,
            written: !self.dry_run,
        };
        report(&change, output)
    }
}

pub(super) fn revoke(
    id: &str,
    dry_run: bool,
    session: &Session,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let store = session.trust_store()?;
    let known: Vec<String> = store.keys.keys().cloned().collect();
    let Some(key) = store.keys.get(&id.to_uppercase()) else {
        let failure =
            Failure::new(Exit::Failed, "UnknownKey", format!("there is no trusted key `{id}`"));
        return Err(failure.hint(if known.is_empty() {
            "you trust no key".to_owned()
        } else {
            format!("you trust {}", known.join(", "))
        }));
    };
    let (name, names) = (key.name.clone(), key.names.clone());
    if !dry_run {
        TrustStore::change(&session.trust_file().ok_or_else(no_home)?, |store| {
            if let Some(key) = store.keys.get_mut(&id.to_uppercase()) {
                key.revoked_at = Some(times().1);
            }
        })?;
    }
    report(
        &KeyChange { key: id.to_uppercase(), name, names, trusted: false, written: !dry_run },
        output,
    )
}

fn report(change: &KeyChange, output: &Output) -> Result<ExitCode, Failure> {
    output.result(change, |out, Palette { bold, dim, .. }| {
        let state = if change.trusted { "may sign" } else { "revoked; it could sign" };
        writeln!(
            out,
            "{bold}{}{bold:#}  {}  {dim}{state} {}{dim:#}",
            change.key,
            for_terminal(&change.name),
            for_terminal(&change.names.join(", "))
        )
    })?;
    if !change.written {
        output.note("Nothing was written.");
    }
    Ok(ExitCode::SUCCESS)
}

//! `skillful keygen` and `skillful sign`

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::text::for_terminal;
use pack::make::manifest_of;
use pack::signature::{Password, SignError, generate, needs_password, sign};
use pack::source::Source;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::pack::{PackFile, beside, checked};
use crate::failure::{Exit, Failure, cannot_write};
use crate::installing::fetch;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Create a key pair to sign packs
///
/// Writes NAME.sec and NAME.pub in minisign's format. Keep NAME.sec secret. Give NAME.pub to others; they
/// trust it with `skillful trust key`. The command asks for a password, or reads SKILLFUL_KEY_PASSWORD.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful keygen ~/.agent/key\n  skillful keygen ci-key --no-password"
)]
pub(crate) struct Keygen {
    /// The path of the key files, without .sec and .pub
    name: PathBuf,
    /// Create the secret key without a password
    #[arg(long)]
    no_password: bool,
    /// Show what would be written, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Sign a pack
///
/// The signature goes into the pack. Nothing else in the pack changes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful sign csv-report.zip --key ~/.agent/key.sec\n  skillful sign csv-report.zip --key ~/.agent/key.sec --detached"
)]
pub(crate) struct Sign {
    /// The pack to sign
    pack: PathBuf,
    /// Sign with this secret key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Write the signature beside the pack, as PACK.sig
    #[arg(long)]
    detached: bool,
    /// Check everything, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Keys that were made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GeneratedKeys {
    /// As minisign shows it.
    key: String,
    public: String,
    secret: String,
    written: bool,
}

/// A pack that was signed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SignedPack {
    path: String,
    /// Where the signature is.
    signature: String,
    /// What the signature says of the pack.
    comment: String,
    written: bool,
}

impl Keygen {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let file = |extension: &str| {
            let mut name = session.surroundings.working_directory.join(&self.name).into_os_string();
            name.push(extension);
            PathBuf::from(name)
        };
        let (secret, public) = (file(".sec"), file(".pub"));
        for path in [&secret, &public] {
            if path.exists() {
                return Err(Failure::new(
                    Exit::Failed,
                    "AlreadyExists",
                    format!("`{}` already exists", path.display()),
                )
                .hint("choose another name: you cannot get a lost key back"));
            }
        }
        let password = if self.no_password { Password::None } else { new_password(session)? };
        let keys = generate(&password)?;
        if !self.dry_run {
            write_new(&secret, &keys.secret, 0o600)?;
            write_new(&public, &keys.public, 0o644)?;
        }
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let made = GeneratedKeys {
            key: keys.id,
            public: shown(&public),
            secret: shown(&secret),
            written: !self.dry_run,
        };
        output.result(&made, |out, Palette { bold, .. }| {
            writeln!(
                out,
                "{bold}{}{bold:#}\n  {}\n  {}",
                made.key,
                for_terminal(&made.secret),
                for_terminal(&made.public)
            )
        })?;
        output.note(if self.dry_run {
            "Nothing was written."
        } else {
            "Keep the .sec file secret, and make a backup. Give the .pub file to others."
        });
        Ok(ExitCode::SUCCESS)
    }
}

impl Sign {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let path = session.surroundings.working_directory.join(&self.pack);
        let mut fetched = fetch(&Source::Zip(path.clone()), &session.fetching(None), output)?;
        // An old signature is about to be replaced.
        fetched.detached = None;
        let pack = checked(fetched, session, output)?;
        let manifest = pack.manifest.clone().unwrap_or_else(|| manifest_of(&pack).to_bytes());
        if self.detached && pack.manifest.is_none() {
            return Err(Failure::new(
                Exit::Failed,
                "NoManifest",
                "the pack has no manifest.json to sign",
            )
            .hint("leave out --detached; then signing adds one"));
        }
        let signature = signed(&open_key(&self.key, session)?, &manifest)?;
        let place = match self.detached {
            true => beside(&path),
            false => path.clone(),
        };
        match (self.detached, self.dry_run) {
            (true, false) => {
                std::fs::write(&place, &signature).map_err(|error| cannot_write(&place, &error))?
            }
            (true, true) => {}
            (false, dry_run) => {
                PackFile { path: path.clone(), force: true, dry_run }.write(
                    &pack,
                    &manifest,
                    Some(&signature),
                )?;
            }
        }
        let comment = pack::manifest::Manifest::parse(&manifest)?.labels();
        let result = SignedPack {
            path: path.to_string_lossy().into_owned(),
            signature: place.to_string_lossy().into_owned(),
            comment,
            written: !self.dry_run,
        };
        output.result(&result, |out, Palette { bold, .. }| {
            writeln!(
                out,
                "{bold}{}{bold:#}  {}",
                for_terminal(&result.signature),
                for_terminal(&result.comment)
            )
        })?;
        if self.dry_run {
            output.note("Nothing was written.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A secret key and what opens it.
pub(crate) struct OpenedKey {
    text: String,
    password: Password,
}

pub(crate) fn open_key(path: &Path, session: &Session) -> Result<OpenedKey, Failure> {
    let path = session.surroundings.working_directory.join(path);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::new(Exit::Failed, "IOError", format!("cannot read `{}`: {error}", path.display()))
            .hint("`skillful keygen` creates a key")
    })?;
    let password = if needs_password(&text)? {
        Password::Word(password(session, "Password of the key: ")?)
    } else {
        Password::None
    };
    Ok(OpenedKey { text, password })
}

pub(crate) fn signed(key: &OpenedKey, manifest: &[u8]) -> Result<String, Failure> {
    sign(&key.text, &key.password, manifest).map_err(|error| match error {
        SignError::Manifest(refusal) => refusal.into(),
        SignError::Key(error) => error.into(),
    })
}

fn new_password(session: &Session) -> Result<Password, Failure> {
    let first = password(session, "New password (empty for none): ")?;
    if first.is_empty() {
        return Ok(Password::None);
    }
    if session.variable(PASSWORD).is_none() && password(session, "Once more: ")? != first {
        return Err(Failure::new(Exit::Failed, "WrongPassword", "the two passwords differ")
            .hint("try again"));
    }
    Ok(Password::Word(first))
}

/// Where scripts have the password.
pub(crate) const PASSWORD: &str = "SKILLFUL_KEY_PASSWORD";

fn password(session: &Session, question: &str) -> Result<String, Failure> {
    if let Some(word) = session.variable(PASSWORD) {
        return Ok(word.to_string_lossy().into_owned());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(
            Exit::Approval,
            "PasswordNeeded",
            "the key needs a password, and there is no terminal to ask for it",
        )
        .hint("set SKILLFUL_KEY_PASSWORD, or use --no-password for a new key"));
    }
    Ok(crate::output::ask_hidden(question)?)
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed = |error: std::io::Error| cannot_write(path, &error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}

//! `skillful pack` and `skillful export`

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::text::for_terminal;
use pack::check::{Pack as CheckedPack, Rules, Verified};
use pack::install::{KeptPack, Root};
use pack::make::{manifest_of, write};
use pack::manifest::{Manifest, ManifestSkill};
use pack::material::ArchiveError;
use pack::source::{Fetched, Source};
use schemars::JsonSchema;
use serde::Serialize;
use skill::lock::LockedSkill;

use crate::commands::sign::{open_key, signed};
use crate::failure::{Exit, Failure, cannot_write};
use crate::installing::{Scope, check};
use crate::output::{Output, Palette, count};
use crate::session::Session;

/// Make a pack from skill folders
///
/// A pack is a zip file with a list of hashes. The same skills always give the same bytes, on every
/// computer.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful pack csv-report -o csv-report.zip\n  skillful pack skills/* -o all.zip --sign ~/.agent/key.sec"
)]
pub(crate) struct Pack {
    /// Skill folders, or folders that contain skill folders
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    target: Target,
}

/// Make a pack from an installed skill
///
/// If you did not change the skill, you get the pack that you installed, with its signature. A signature in a
/// separate file goes to FILE.sig. If the pack had several skills, you get only this one, without the
/// signature, because the signature covers them all.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful export csv-report -o csv-report.zip\n  skillful export csv-report -o - | sha256sum"
)]
pub(crate) struct Export {
    /// The skill's name
    name: String,
    /// Export the skill installed for you or for this project
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, clap::Args)]
struct Target {
    /// Write the pack to FILE, or to stdout with -
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Sign the pack with this secret key
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
    /// Check everything, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A pack that was made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Packed {
    path: String,
    /// Of the pack's bytes.
    sha256: String,
    size: u64,
    /// `name@version` of every skill.
    skills: Vec<String>,
    files: usize,
    signed: bool,
    written: bool,
}

impl Pack {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folders = self.folders.iter().map(|folder| {
            let path = session.surroundings.working_directory.join(folder);
            match path.is_dir() {
                true => session.refuse_led_out(&path).map(|()| path),
                false => Err(Failure::new(
                    Exit::Failed,
                    "SourceNotFound",
                    format!("`{}` is not a folder", folder.display()),
                )
                .hint("give folders that contain a SKILL.md")),
            }
        });
        let folders: Vec<PathBuf> = folders.collect::<Result<_, _>>()?;
        let fetching = session.fetching(None);
        let material = pack::source::gather(&folders, &fetching)?;
        let pack = checked(Fetched { material, detached: None, resolved: None }, session, output)?;
        let manifest = manifest_of(&pack).to_bytes();
        self.target.make(&pack, unsigned(manifest), session, output)
    }
}

impl Export {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let scope = session.scope_of(&self.name, self.scope)?;
        let root = session.install_root(scope)?;
        let path = root.skill(&self.name);
        if !path.join("SKILL.md").exists() {
            return Err(pack::install::InstallError::NotThere {
                name: self.name.clone(),
                root: root.path().to_owned(),
            }
            .into());
        }
        session.refuse_led_out(&path)?;
        let lockfile = root.lockfile()?;
        let locked = lockfile.get(&self.name);
        let kept = locked.and_then(|locked| Kept::read(&root, locked));
        let mut fetched = Source::Folder(path).fetch(&session.fetching(None))?;
        if let Some(dir) = kept.as_ref().and_then(|kept| kept.dir_of(&self.name)) {
            fetched.material = fetched.material.under(dir)?;
        }
        let pack = checked(fetched, session, output)?;
        let own = manifest_of(&pack);
        let sealed = match kept.filter(|kept| kept.is_of(&own)) {
            Some(kept) => kept.sealed,
            None => unsigned(own.to_bytes()),
        };
        let was_signed = locked.is_some_and(|locked| locked.signature.is_some());
        if was_signed && sealed.signature.is_none() && self.target.sign.is_none() {
            output.warn(&format!(
                "{} was signed, but the export is not: its signature covers other files, or several skills",
                self.name
            ));
        }
        self.target.make(&pack, sealed, session, output)
    }
}

fn unsigned(manifest: Vec<u8>) -> KeptPack {
    KeptPack { manifest, signature: None, is_detached: false }
}

/// What a skill came with.
struct Kept {
    sealed: KeptPack,
    parsed: Manifest,
}

impl Kept {
    fn read(root: &Root, locked: &LockedSkill) -> Option<Self> {
        let sealed = root.kept_pack(locked.manifest.as_ref()?)?;
        let parsed = Manifest::parse(&sealed.manifest).ok()?;
        Some(Self { sealed, parsed })
    }

    /// The folder that the only skill had in its pack.
    fn dir_of(&self, name: &str) -> Option<&str> {
        match self.parsed.skills.as_slice() {
            [skill] if skill.name == name => Some(&skill.dir),
            _ => None,
        }
    }

    /// Whether it says the same as the manifest of the skill as it is.
    fn is_of(&self, own: &Manifest) -> bool {
        Manifest::new(self.parsed.skills.clone(), self.parsed.files.clone()) == *own
    }
}

pub(crate) fn checked(
    fetched: Fetched,
    session: &Session,
    output: &Output,
) -> Result<Verified<CheckedPack>, Failure> {
    let trust = session.trust_store()?;
    let read = session.layers.config.read_options();
    // What is being made or signed need not be trusted yet.
    let rules = Rules { trust: &trust, read: &read, allowed: Rules::NEGOTIABLE };
    Ok(check(fetched, &rules, output)?)
}

impl Target {
    fn make(
        &self,
        pack: &Verified<CheckedPack>,
        mut sealed: KeptPack,
        session: &Session,
        output: &Output,
    ) -> Result<ExitCode, Failure> {
        if let Some(key) = &self.sign {
            sealed.signature = Some(signed(&open_key(key, session)?, &sealed.manifest)?);
            sealed.is_detached = false;
        }
        let embedded = sealed.signature.as_deref().filter(|_| !sealed.is_detached);
        let detached = sealed.signature.as_deref().filter(|_| sealed.is_detached);
        let place = PackFile {
            path: session.surroundings.working_directory.join(&self.output),
            force: self.force,
            dry_run: self.dry_run,
        };
        if self.output == Path::new("-") && !self.dry_run {
            if output.json {
                let message = "the pack and `--json` cannot both go to stdout";
                return Err(Failure::new(Exit::Usage, "Usage", message)
                    .hint("write the pack to a file with -o FILE"));
            }
            if detached.is_some() {
                output.warn("the pack's signature is a separate file and is not in this output; use -o FILE");
            }
            let to = Counted::new(std::io::stdout().lock());
            write(pack, &sealed.manifest, embedded, to).map_err(cannot_make)?;
            return Ok(ExitCode::SUCCESS);
        }
        let beside = PackFile { path: beside(&place.path), ..place };
        if detached.is_some() {
            beside.check()?;
        }
        let (sha256, size) = place.write(pack, &sealed.manifest, embedded)?;
        if let Some(signature) = detached.filter(|_| !self.dry_run) {
            std::fs::write(&beside.path, signature)
                .map_err(|error| cannot_write(&beside.path, &error))?;
        }
        let labels =
            Manifest::parse(&sealed.manifest)?.skills.iter().map(ManifestSkill::label).collect();
        let packed = Packed {
            path: place.path.to_string_lossy().into_owned(),
            sha256,
            size,
            skills: labels,
            files: pack.files.len(),
            signed: sealed.signature.is_some(),
            written: !self.dry_run,
        };
        print(&packed, output)
    }
}

pub(crate) fn print(packed: &Packed, output: &Output) -> Result<ExitCode, Failure> {
    output.result(packed, |out, Palette { bold, dim, .. }| {
        writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{} bytes, sha256:{}{dim:#}",
            for_terminal(&packed.path),
            packed.size,
            packed.sha256
        )?;
        let signed = if packed.signed { ", signed" } else { "" };
        writeln!(
            out,
            "  {}, {}{signed}",
            for_terminal(&packed.skills.join(", ")),
            count(packed.files, "file")
        )
    })?;
    if !packed.written {
        output.note("Nothing was written.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a pack is written, as a whole or not at all.
pub(crate) struct PackFile {
    pub(crate) path: PathBuf,
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
}

/// Where a signature of a pack lies that is not in it.
pub(crate) fn beside(pack: &Path) -> PathBuf {
    let mut name = pack.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

impl PackFile {
    /// Sees to it that nothing is in the way.
    fn check(&self) -> Result<(), Failure> {
        if self.dry_run || self.force || !self.path.exists() {
            return Ok(());
        }
        let message = format!("`{}` already exists", self.path.display());
        Err(Failure::new(Exit::Failed, "AlreadyExists", message).hint("use --force to replace it"))
    }

    /// Writes the pack; answers with its hash and size.
    pub(crate) fn write(
        &self,
        pack: &Verified<CheckedPack>,
        manifest: &[u8],
        signature: Option<&str>,
    ) -> Result<(String, u64), Failure> {
        let failed = |error: std::io::Error| cannot_write(&self.path, &error);
        if self.dry_run {
            return Ok(write(pack, manifest, signature, Counted::new(std::io::sink()))
                .map_err(cannot_make)?
                .finish());
        }
        self.check()?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let counted =
            write(pack, manifest, signature, Counted::new(BufWriter::new(file.as_file_mut())))
                .map_err(cannot_make)?;
        let facts = counted.finish();
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(facts)
    }
}

fn cannot_make(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::Refused(refusal) => refusal.into(),
        ArchiveError::Read(error) => error.into(),
    }
}

/// Bytes on their way, hashed and counted.
struct Counted<W> {
    to: W,
    hasher: sha2::Sha256,
    count: u64,
}

impl<W: Write> Counted<W> {
    fn new(to: W) -> Self {
        Self { to, hasher: sha2::Digest::new(), count: 0 }
    }

    fn finish(self) -> (String, u64) {
        let hash = sha2::Digest::finalize(self.hasher);
        (hash.iter().map(|byte| format!("{byte:02x}")).collect(), self.count)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(bytes)?;
        sha2::Digest::update(&mut self.hasher, &bytes[..written]);
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

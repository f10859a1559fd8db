//! What the commands that install, pack and verify have in common: where, how, and what they say.

mod scope;

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use basics::text::for_terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pack::check::{CheckError, Pack, Rules, Verified};
use pack::install::{Opened, Root};
use pack::material::{Limits, Material};
use pack::refusal::Flaw;
use pack::source::{Fetched, Fetching, Source};
use permission::argument;
use skill::lock::LockedSkill;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;
use runtime::settings::RequireSignature;
use runtime::spelling::plain;
pub(crate) use scope::Scope;

impl Session {
    /// Finishes or undoes what an interrupted install left, so that an index built next shows whole skills. Nobody
    /// was asked for trust yet: the rules of [`Root::tidy`] keep a clone from meaning anything by it. Whoever only
    /// reads does not fail for it: the next install says what is wrong.
    pub(crate) fn finish_interrupted_installs(&self) {
        for root in Scope::ALL.iter().filter_map(|scope| self.install_root(*scope).ok()) {
            let _ = root.tidy(&pack::disk::Disk::default());
        }
    }

    /// A source of a scope's lockfile as text; the project's are relative to it, so that others can use them.
    pub(crate) fn source_text(&self, source: &Source, scope: Scope) -> String {
        source.to_text((scope == Scope::Project).then(|| self.surroundings.project()))
    }

    /// A source in a scope's lockfile.
    pub(crate) fn locked_source(&self, text: &str) -> Result<Source, Failure> {
        Ok(Source::parse(text, self.surroundings.project())?)
    }

    /// Whether the user knows where an installed skill comes from. A lockfile that came with a clone can name any
    /// address, and any folder of the user's.
    pub(crate) fn check_source(&self, scope: Scope, skill: &LockedSkill) -> Result<(), Failure> {
        if !self.is_projects(scope) {
            return Ok(());
        }
        let (project, lockfile) =
            (self.surroundings.project(), self.install_root(scope)?.lockfile_path());
        let LockedSkill { name, source, .. } = skill;
        if self.index_options()?.trust.knows_source(project, &lockfile, name, source) {
            return Ok(());
        }
        let message = format!(
            "the project's lockfile installs `{name}` from `{source}`, which you have not trusted"
        );
        Err(Failure::new(Exit::Refused, "SourceUntrusted", message).hint(format!(
            "if you trust this source, run `skillful trust project {}`",
            argument(name)
        )))
    }

    /// Whether what comes from a source must be signed by a key that the user trusts.
    pub(crate) fn needs_signature(&self, source: &Source) -> bool {
        match self.layers.config.install.require_signature {
            RequireSignature::Never => false,
            RequireSignature::Remote => source.is_remote(),
            RequireSignature::Always => true,
        }
    }

    pub(crate) fn pack_limits(&self) -> Limits {
        let install = &self.layers.config.install;
        Limits { entries: install.max_entries, bytes: install.max_bytes, ratio: install.max_ratio }
    }

    pub(crate) fn fetching(&self, commit: Option<String>) -> Fetching {
        let passed_on = [
            "PATH",
            "HTTPS_PROXY",
            "https_proxy",
            "NO_PROXY",
            "no_proxy",
            "ALL_PROXY",
            "all_proxy",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "GIT_SSL_CAINFO",
            "GIT_EXEC_PATH",
            "TMPDIR",
        ];
        let environment = passed_on
            .iter()
            .filter_map(|name| Some(((*name).into(), self.variable(name)?.clone())));
        Fetching {
            limits: self.pack_limits(),
            read: self.layers.config.read_options(),
            time: Duration::from_secs(self.layers.config.install.timeout_seconds),
            commit,
            environment: environment.collect(),
        }
    }

    pub(crate) fn source(&self, text: &str) -> Result<Source, Failure> {
        let here = &self.surroundings.working_directory;
        self.refuse_led_out(&here.join(text))?;
        Ok(Source::parse(text, here)?)
    }

    /// Refuses a path in the project that leads out of it: whoever names it means something of the project.
    pub(crate) fn refuse_led_out(&self, path: &Path) -> Result<(), Failure> {
        let project = self.surroundings.project();
        let (Ok(real), Ok(own)) = (path.canonicalize(), project.canonicalize()) else {
            return Ok(());
        };
        let named = plain(path);
        let is_named_inside = named.starts_with(project) || named.starts_with(&own);
        if !is_named_inside || real.starts_with(&own) {
            return Ok(());
        }
        let message =
            format!("`{}` leads to `{}`, outside the project", named.display(), real.display());
        let hint = format!(
            "if you want that folder, give its own path: {}",
            argument(&real.to_string_lossy())
        );
        Err(Failure::new(Exit::Refused, "OutsideProject", message).hint(hint))
    }
}

/// Now, as a name for folders and in RFC 3339.
pub(crate) fn times() -> (String, String) {
    let now =
        jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    (now.strftime("%Y%m%dT%H%M%SZ").to_string(), now.to_string())
}

/// The name of one change among others.
pub(crate) fn change_id(label: &str) -> String {
    format!("{label}-{}", std::process::id())
}

/// Does something with a root that nobody else can change; leaves it as it was where that fails.
pub(crate) fn changing<T>(
    root: &Root,
    label: &str,
    change: impl FnOnce(&mut Opened<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let disk = pack::disk::Disk::default();
    let mut opened = root.open(&disk, &change_id(label))?;
    let result = change(&mut opened);
    if result.is_err() {
        opened.give_up();
    }
    result
}

/// Fetches a source, with a sign of life where somebody watches.
pub(crate) fn fetch(
    source: &Source,
    fetching: &Fetching,
    output: &Output,
) -> Result<Fetched, Failure> {
    let bar = spinner(output, "fetching");
    let fetched = source.fetch(fetching);
    bar.finish_and_clear();
    Ok(fetched?)
}

fn spinner(output: &Output, message: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target(output)).with_message(message);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// A bar for the bytes of a pack.
pub(crate) fn byte_bar(material: &Material, output: &Output) -> ProgressBar {
    let total = material.entries().iter().map(|entry| entry.size).sum();
    let bar = ProgressBar::with_draw_target(Some(total), target(output));
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn target(output: &Output) -> ProgressDrawTarget {
    let watched = !output.quiet && !output.json && std::io::stderr().is_terminal();
    if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

/// Checks a pack without unpacking it.
pub(crate) fn check(
    fetched: Fetched,
    rules: &Rules<'_>,
    output: &Output,
) -> Result<Verified<Pack>, CheckError> {
    let bar = byte_bar(&fetched.material, output);
    let checked = pack::check::check(fetched.material, fetched.detached, rules, None, &|bytes| {
        bar.inc(bytes)
    });
    bar.finish_and_clear();
    checked
}

/// A question that takes a yes; none where nobody can be asked.
pub(crate) fn ask(question: &str) -> Option<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let Palette { bold, .. } = Palette::for_stream(&std::io::stderr());
    let mut out = std::io::stderr();
    write!(out, "{bold}{}{bold:#} [y/N] ", for_terminal(question))
        .and_then(|()| out.flush())
        .ok()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(matches!(line.trim(), "y" | "Y" | "yes" | "Yes"))
}

/// Which refusals a user lets pass, by their codes.
pub(crate) fn parse_flaw(text: &str) -> Result<Flaw, String> {
    let known = Rules::NEGOTIABLE;
    let found = known.iter().find(|flaw| flaw.code() == text);
    found.copied().ok_or_else(|| {
        format!(
            "use one of {}",
            known.iter().map(|flaw| flaw.code()).collect::<Vec<_>>().join(", ")
        )
    })
}

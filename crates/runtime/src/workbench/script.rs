//! A skill's script: prepared, approved by its content and that of its whole skill, run in the sandbox.
//!
//! Invariant: where everything that a skill holds could be looked at, what runs is a private copy of exactly that.

use std::path::PathBuf;
use std::sync::LazyLock;

use agent::action::Action;
use agent::observation::Observation;
use agent::request::{Refusal, Request};
use basics::inner_path::InnerPath;
use basics::sha256::Sha256;
use basics::skill::Source;
use permission::{Approved, Engine, Permission, Risk, SkillHash};
use serde_json::json;
use skill::index::Entry;
use skill::load::{CopyError, Files, LoadError};
use state::{Access, Folder, StateError};
use tools::sandbox::{Confinement, Kernel};
use tools::script::{self, ApprovedContent, ArgumentLimits, Environment, Interpreters, Script};

use super::program::observed;
use super::streams::Streams;
use super::{Workbench, io_error, request};
use crate::driver::Means;
use crate::journal::Journal;

/// How scripts run.
#[derive(Debug)]
pub struct ScriptSettings {
    /// What the kernel can do; found out when first needed.
    pub kernel: LazyLock<Kernel>,
    /// What a script gets of the environment.
    pub environment: Environment,
    /// What runs it.
    pub interpreters: Interpreters,
    /// What it can be called with.
    pub arguments: ArgumentLimits,
    /// What it may touch besides skill, workspace and sandbox folder, and how much it may use.
    pub confinement: Confinement,
}

impl Workbench<'_> {
    pub(super) fn prepare_script(
        &mut self,
        action: &Action,
        engine: &Engine,
    ) -> Result<Request, Refusal> {
        let Action::RunScript { skill, relative_path, .. } = action else {
            return Err(Refusal::new("InvalidAction", "not a script", ""));
        };
        let entry = self.entry(skill)?;
        let path = InnerPath::new(relative_path).map_err(LoadError::from)?;
        let files = Files::open(entry)?;
        let bytes = files.read(&path, self.limits.file_bytes)?;
        let modified = self.verify(&files, &path, &bytes)?;
        let command = self.scripts.interpreters.command(path.as_ref(), &bytes)?;
        let program = command.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        let content = files.content().hash();
        let (mut effect, contained) = self.would_run(program, engine)?;
        if modified {
            effect += "; the skill was changed since it was installed";
        }
        if let Err(gap) = content {
            effect += &format!("; not all that the skill holds can be checked: {gap}");
        }
        let mut params = request::payload(action);
        params["skill"] = json!({"name": entry.name, "source": entry.source});
        let file = Sha256::of(&bytes);
        params["sha256"] = json!(file);
        // Whoever answers later answers to this content, and to no other.
        params["content"] = content.ok().map(ToString::to_string).into();
        Ok(Request {
            file: Some(file),
            patterns: patterns(entry, &path),
            risk: Risk::Medium,
            effect,
            params,
            contained,
            skill_hash: content.ok().map(|hash| SkillHash(hash.to_string())),
            read_only: false,
            ..Request::new(action.clone(), Permission::RunScript)
        })
    }

    pub(super) fn run_script(
        &mut self,
        request: Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let Action::RunScript { skill, relative_path, args, stdin } = &request.action else {
            return Err(Refusal::new("InvalidAction", "not a script", ""));
        };
        let entry = self.entry(skill)?;
        let files = Files::open(entry)?;
        let path = InnerPath::new(relative_path).map_err(LoadError::from)?;
        let bytes = files.read(&path, self.limits.file_bytes)?;
        self.verify(&files, &path, &bytes)?;
        let mut surroundings = self.surroundings()?;
        let skill = Launched::new(entry, &files, &request, journal)?;
        let script = Script {
            skill: skill.folder,
            path: PathBuf::from(path.as_str()),
            content: ApprovedContent::new(bytes, approved_hash(&request)?)?,
            arguments: args.iter().map(Into::into).collect(),
            stdin: stdin.clone().unwrap_or_default().into_bytes(),
        };
        let Means { redactor, cancel, .. } = *means;
        let limits = &mut surroundings.confinement.limits;
        limits.time = cancel.time_left().map_or(limits.time, |left| left.min(limits.time));
        let streams = Streams::create(journal, redactor).map_err(|error| io_error(&error))?;
        let (exit, kept) = streams.collect(means.show, |output| {
            script::run(&self.scripts.kernel, &script, &surroundings, output, cancel.flag())
        })?;
        Ok(observed(&exit, &kept))
    }

    /// Holds a script, and everything that it may read of its skill, to what was installed; answers
    /// whether something differs.
    fn verify(&self, files: &Files, path: &InnerPath, bytes: &[u8]) -> Result<bool, Refusal> {
        let how = self.limits.verify;
        let own = files.verify(path.as_str(), bytes, how)?;
        let all = files.verify_all(how)?;
        Ok(own.or(all).is_some())
    }
}

/// The folder of a skill whose script runs.
struct Launched {
    folder: PathBuf,
    /// Where it is a copy.
    _copy: Option<Copy>,
}

/// A private copy of a skill; removed when dropped.
struct Copy {
    artifacts: Folder,
    name: String,
}

impl Launched {
    /// What was approved, in a private copy that nobody changes meanwhile. Where not all of it could be looked at,
    /// the person was told, and it runs where it is.
    fn new(
        entry: &Entry,
        files: &Files,
        request: &Request,
        journal: &Journal,
    ) -> Result<Self, Refusal> {
        let Some(SkillHash(approved)) = &request.skill_hash else {
            if entry.source == Source::Builtin {
                return Err(changed(&entry.name));
            }
            return Ok(Self { folder: entry.path.clone(), _copy: None });
        };
        let (copy, place) = Copy::place(journal)?;
        match files.copy_to(&place) {
            Ok((name, found)) if found.as_str() == approved => {
                let folder = place.real_path()?.join(name);
                Ok(Self { folder, _copy: Some(copy) })
            }
            Ok(_) | Err(CopyError::Gap(_)) => Err(changed(&entry.name)),
            Err(CopyError::Write(error)) => Err(io_error(&error)),
        }
    }
}

impl Copy {
    /// A new folder of the run's own for the copy.
    fn place(journal: &Journal) -> Result<(Self, Folder), StateError> {
        let artifacts = journal.state().create_folder("artifacts", Access::Private)?;
        let name = format!("skill-{}", journal.next_sequence());
        // What an interruption left is not it.
        artifacts.remove_tree(&name)?;
        let place = artifacts.new_folder(&name, Access::Private)?;
        Ok((Self { artifacts, name }, place))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What cannot be removed stays in the run's own folder and harms nobody.
        let _ = self.artifacts.remove_tree(&self.name);
    }
}

fn changed(name: &str) -> Refusal {
    Refusal::new(
        "SkillChanged",
        format!("files of the skill `{name}` have changed since its script was approved"),
        "run it again: the user is asked about it as it is now",
    )
}

/// What rules are asked about: a script's name and, where that is a link, the name of what it leads to.
fn patterns(entry: &Entry, path: &InnerPath) -> Vec<String> {
    let mut patterns = vec![entry.rule_path(path.as_str())];
    let real = || {
        let (folder, file) = (entry.path.canonicalize().ok()?, entry.path.join(path.as_str()));
        let real = file.canonicalize().ok()?;
        Some(real.strip_prefix(&folder).ok()?.to_str()?.to_owned())
    };
    let real = (entry.source != Source::Builtin).then(real).flatten();
    let other = real.filter(|real| real != path.as_str());
    patterns.extend(other.map(|real| entry.rule_path(&real)));
    patterns
}

/// The content that was looked at when permission was asked for.
fn approved_hash(request: &Request) -> Result<[u8; 32], Refusal> {
    let file = request.file.as_ref().map(Sha256::as_bytes);
    let missing =
        || Refusal::new("InvalidAction", "nobody looked at the script", "decide it again");
    file.copied().ok_or_else(missing)
}

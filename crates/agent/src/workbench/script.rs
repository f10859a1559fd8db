//! A skill's script: prepared, approved by its content, run in the sandbox.

use std::borrow::Cow;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::json;
use skill::inner_path::InnerPath;
use skill::load::Files;
use skill::roots::Source;
use tools::permission::{Approved, Risk, SkillHash};
use tools::sandbox::{Captured, Confinement, Ending, Exit, Kernel, Output, Reason, SandboxError};
use tools::script::{
    self, ApprovedContent, ArgumentLimits, Environment, Interpreters, Script, ScriptError,
    Surroundings,
};

use super::{Workbench, io_error, of_load, request};
use crate::action::Action;
use crate::driver::Cancel;
use crate::journal::{Journal, Redactor};
use crate::step::{Observation, Refusal, Request};

/// Bytes of each stream that the model sees.
const SHOWN: usize = 12_000;

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
    pub(super) fn prepare_script(&self, action: &Action) -> Result<Request, Refusal> {
        let Action::RunScript { skill, relative_path, .. } = action else {
            return Err(Refusal::new("InvalidAction", "not a script", ""));
        };
        let entry = self.entry(skill)?;
        let path = InnerPath::new(relative_path).map_err(|error| of_load(&error.into()))?;
        let files = Files::open(entry).map_err(|error| of_load(&error))?;
        let bytes = files.read(&path, self.limits.file_bytes).map_err(|error| of_load(&error))?;
        let modified = self.verify(&files, &path, &bytes)?;
        let command = self
            .scripts
            .interpreters
            .command(path.as_ref(), &bytes)
            .map_err(|error| of_script(&error))?;
        let program = command.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        let mut params = request::payload(action);
        params["skill"] = json!({"name": entry.name, "source": entry.source});
        params["sha256"] = crate::sha256(&bytes).into();
        Ok(Request {
            action: action.clone(),
            permission: "run_script".to_owned(),
            patterns: vec![format!("{}/{path}", entry.name)],
            risk: Risk::Medium,
            effect: format!(
                "runs {program} in a sandbox, no network, writes only to the run's sandbox folder{}",
                if modified { "; the skill was changed since it was installed" } else { "" }
            ),
            params,
            skill_hash: Some(SkillHash(format!("sha256:{}", files.content_hash()))),
            read_only: false,
        })
    }

    pub(super) fn run_script(
        &self,
        request: Approved<Request>,
        cancel: &Cancel,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let Action::RunScript { skill, relative_path, args, stdin } = &request.action else {
            return Err(Refusal::new("InvalidAction", "not a script", ""));
        };
        let entry = self.entry(skill)?;
        let files = Files::open(entry).map_err(|error| of_load(&error))?;
        let path = InnerPath::new(relative_path).map_err(|error| of_load(&error.into()))?;
        let bytes = files.read(&path, self.limits.file_bytes).map_err(|error| of_load(&error))?;
        self.verify(&files, &path, &bytes)?;
        let folder = match entry.source {
            // A script needs its neighbours on disk.
            Source::Builtin => {
                files.unpack(&journal.folder().join("inputs")).map_err(|error| of_load(&error))?
            }
            _ => entry.path.clone(),
        };
        let script = Script {
            skill: folder,
            path: PathBuf::from(path.as_str()),
            content: ApprovedContent::new(bytes, approved_hash(&request))
                .map_err(|error| of_script(&error))?,
            arguments: args.iter().map(Into::into).collect(),
            stdin: stdin.clone().unwrap_or_default().into_bytes(),
        };
        let surroundings = self.surroundings(journal.folder()).map_err(|error| io_error(&error))?;
        let streams = Streams::create(journal).map_err(|error| io_error(&error))?;
        let exit = streams.collect(|output| {
            script::run(&self.scripts.kernel, &script, &surroundings, output, cancel.flag())
        });
        let exit = exit.map_err(|error| of_script(&error))?;
        streams.keep(journal, &exit, &self.redactor).map_err(|error| io_error(&error))
    }

    /// Holds a script, and everything that it may read of its skill, to what was installed; answers
    /// whether something differs.
    fn verify(&self, files: &Files, path: &InnerPath, bytes: &[u8]) -> Result<bool, Refusal> {
        let how = self.limits.verify;
        let own = files.verify(path.as_str(), bytes, how).map_err(|error| of_load(&error))?;
        let all = files.verify_all(how).map_err(|error| of_load(&error))?;
        Ok(own.or(all).is_some())
    }

    fn surroundings(&self, run: &Path) -> std::io::Result<Surroundings> {
        let sandbox = run.join("sandbox").canonicalize()?;
        let private = run.join("artifacts").canonicalize()?;
        let mut confinement = self.scripts.confinement.clone();
        // A script has no business in other runs, nor in this one's record.
        confinement.hidden.push(self.folder.join(".agent/runs"));
        Ok(Surroundings {
            sandbox,
            workspace: self.folder.clone(),
            private,
            environment: self.scripts.environment.clone(),
            interpreters: self.scripts.interpreters.clone(),
            arguments: self.scripts.arguments,
            confinement,
        })
    }
}

/// The content that was looked at when permission was asked for.
fn approved_hash(request: &Request) -> [u8; 32] {
    let mut hash = [0; 32];
    let text = request.params["sha256"].as_str().unwrap_or_default();
    for (place, byte) in hash.iter_mut().enumerate() {
        *byte = text
            .get(place * 2..place * 2 + 2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .unwrap_or(0);
    }
    hash
}

/// The whole of both streams, on disk from the first byte on.
struct Streams {
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Streams {
    fn create(journal: &Journal) -> std::io::Result<Self> {
        let folder = journal.folder().join("observations");
        let number = journal.next_sequence();
        let file = |stream: &str| -> std::io::Result<PathBuf> {
            let path = folder.join(format!("script-{number}.{stream}"));
            File::create(&path)?;
            Ok(path)
        };
        Ok(Self { stdout: file("stdout")?, stderr: file("stderr")? })
    }

    fn collect(
        &self,
        run: impl FnOnce(Output<'_>) -> Result<Exit, ScriptError>,
    ) -> Result<Exit, ScriptError> {
        let open = |path: &Path| {
            let prepare = |source| ScriptError::Prepare { path: path.to_owned(), source };
            File::options().append(true).open(path).map_err(prepare)
        };
        let (mut stdout, mut stderr) = (open(&self.stdout)?, open(&self.stderr)?);
        run(Output { stdout: &mut stdout, stderr: &mut stderr })
    }

    fn keep(
        &self,
        journal: &Journal,
        exit: &Exit,
        redactor: &Redactor,
    ) -> std::io::Result<Observation> {
        let mut hashes = [crate::hex(&exit.stdout.sha256), crate::hex(&exit.stderr.sha256)];
        let mut kept = Vec::new();
        for (path, hash) in [&self.stdout, &self.stderr].into_iter().zip(&mut hashes) {
            match fs::metadata(path)?.len() {
                0 => {
                    fs::remove_file(path)?;
                    kept.push(None);
                }
                _ => {
                    if let Some(other) = without_secrets(path, redactor)? {
                        *hash = other;
                    }
                    File::open(path)?.sync_all()?;
                    let relative = path.strip_prefix(journal.folder()).unwrap_or(path);
                    kept.push(Some(relative.to_string_lossy().into_owned()));
                }
            }
        }
        let [stdout, stderr] = [shown(&exit.stdout), shown(&exit.stderr)];
        let mut result = json!({
            "ok": true,
            "exit_code": exit_code(exit.ending),
            "stdout": stdout.text,
            "stderr": stderr.text,
            "truncated": stdout.truncated || stderr.truncated,
            "sha256": hashes[0],
            "storage_ref": kept[0],
        });
        let code = failure_code(exit.ending);
        if let Some(code) = code {
            result["ok"] = false.into();
            result["error"] = json!({"code": code, "message": ending_in_words(exit.ending), "hint": "read stderr; call it otherwise, or do without it"});
        }
        Ok(Observation {
            code: code.map(str::to_owned),
            facts: json!({
                "ending": exit.ending, "exit_code": exit_code(exit.ending), "duration_ms": exit.duration.as_millis() as u64,
                "sandbox": exit.applied,
                "stdout": {"bytes": exit.stdout.bytes, "ref": kept[0], "sha256": hashes[0]},
                "stderr": {"bytes": exit.stderr.bytes, "ref": kept[1], "sha256": hashes[1]},
            }),
            storage_ref: kept[0].clone(),
            ..Observation::of(result.to_string())
        })
    }
}

/// Streams up to this size are cleaned of secrets; a longer one is data, and reading it would take the
/// memory that streaming saves.
const CLEANED: u64 = 8 << 20;

/// Takes secrets out of a stream; answers with the hash of what is left, if anything was taken.
fn without_secrets(path: &Path, redactor: &Redactor) -> std::io::Result<Option<String>> {
    if fs::metadata(path)?.len() > CLEANED {
        return Ok(None);
    }
    let bytes = fs::read(path)?;
    match redactor.content(&bytes) {
        Cow::Borrowed(_) => Ok(None),
        Cow::Owned(clean) => {
            fs::write(path, &clean)?;
            Ok(Some(crate::sha256(&clean)))
        }
    }
}

fn exit_code(ending: Ending) -> Option<i32> {
    match ending {
        Ending::Exited(code) => Some(code),
        _ => None,
    }
}

fn failure_code(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Exited(0) => None,
        Ending::Killed(Reason::Time) => Some("Timeout"),
        Ending::Killed(Reason::Cancelled) => Some("Cancelled"),
        Ending::Killed(_) => Some("BudgetExceeded"),
        _ => Some("ExitNonZero"),
    }
}

fn ending_in_words(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => format!("ended by signal {signal}"),
        Ending::Killed(Reason::Time) => "killed: it took too long".to_owned(),
        Ending::Killed(Reason::Cancelled) => "killed: the run was cancelled".to_owned(),
        Ending::Killed(reason) => {
            format!("killed: over the limit of {}", json!(reason).as_str().unwrap_or("resources"))
        }
    }
}

/// What the model sees of a stream.
struct Shown {
    text: String,
    truncated: bool,
}

/// All of a stream, or its beginning and its end.
fn shown(captured: &Captured) -> Shown {
    let visible = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        skill::text::strip_hidden(&text).0.into_owned()
    };
    let whole = visible(&[captured.head.as_slice(), &captured.tail].concat());
    if captured.omitted() == 0 && whole.chars().count() <= SHOWN {
        return Shown { text: whole, truncated: false };
    }
    let head = visible(&captured.head);
    let tail = visible(if captured.tail.is_empty() { &captured.head } else { &captured.tail });
    let end = tail.char_indices().rev().nth(SHOWN / 4).map_or(tail.as_str(), |(at, _)| &tail[at..]);
    let text = format!(
        "{}\n[… {} bytes in all …]\n{end}",
        skill::text::prefix(&head, SHOWN / 2),
        captured.bytes
    );
    Shown { text, truncated: true }
}

fn of_script(error: &ScriptError) -> Refusal {
    let code = match error {
        ScriptError::Outside { .. } => "PathTraversalBlocked",
        ScriptError::Sandbox(SandboxError::Unavailable { .. }) => "SandboxUnavailable",
        ScriptError::Sandbox(_) => "IOError",
        ScriptError::Changed { .. } => "ApprovalRequired",
        ScriptError::Prepare { .. } | ScriptError::CopyWritable { .. } => "IOError",
        _ => "InvalidAction",
    };
    let mut message = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        message.push_str(&format!(": {cause}"));
    }
    Refusal::new(code, message, error.hint())
}

//! What to remember when somebody answers "always".

use crate::command::base_name;
use crate::names::Names;
use crate::options::wrapper;
use crate::programs::{INTERPRETERS, SHELLS, doubt, is_harmless, unversioned};
use crate::word::Word;

/// Programs whose first word says what they do.
const WITH_SUBCOMMANDS: Names = Names(
    "\
    apt brew bundle bun cargo conda deno docker dotnet gh git glab go gradle gradlew helm jj just
    kubectl make mix mvn ninja npm pip pip3 pnpm podman poetry rustup skillful task terraform uv yarn",
);

/// Where the first word is the name of something in the project, and nothing after it belongs to the pattern.
const SCRIPT_RUNNERS: Names = Names(
    "\
    just make npm pnpm task yarn bun",
);

/// Subcommands of `git` that are worth a pattern.
const GIT: Names = Names(
    "\
    add annotate blame branch cat-file check-ignore commit count-objects describe diff diff-tree fetch
    for-each-ref grep log ls-files ls-tree merge-base name-rev reflog remote rev-list rev-parse shortlog
    show show-ref stash status tag whatchanged",
);

/// Programs whose every use is worth a question.
const NEVER: Names = Names(
    "\
    chmod chown chgrp crontab curl dd docker fdisk find fd fdfind halt kill killall kubectl ln mkfs
    mount mv parted pkill podman poweroff reboot rm rmdir rsync shred shutdown systemctl service
    truncate umount unlink useradd userdel usermod wget wipefs",
);

/// The narrowest useful pattern for a command.
pub(crate) fn pattern(words: &[String], shown: &[String]) -> Option<String> {
    let program = words.first()?;
    let name = base_name(program);
    let literal: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
    let starts_others = SHELLS.contains(name) || wrapper(name).is_some() || name == "eval";
    if starts_others
        || NEVER.contains(name)
        || name.starts_with("mkfs")
        || is_harmless(words)
        || doubt(name, &literal).is_some()
    {
        return None;
    }
    // It was written otherwise where it is only known when it runs.
    if !is_plain(program) || shown.first() != Some(program) {
        return None;
    }
    let argument = |at: usize| shown.get(at).filter(|word| is_plain(word)).map(String::as_str);
    if INTERPRETERS.contains(unversioned(name)) {
        return match argument(1)? {
            "-m" => Some(format!("{program} -m {} *", argument(2)?)),
            "run" if matches!(name, "deno" | "bun") => None,
            script if !script.starts_with('-') => Some(format!("{program} {script} *")),
            _ => None,
        };
    }
    if WITH_SUBCOMMANDS.contains(name) {
        let subcommand = argument(1).filter(|word| !word.starts_with('-'))?;
        if name == "git" && !GIT.contains(subcommand) {
            return None;
        }
        let mut pattern = format!("{program} {subcommand}");
        let mut length = 2;
        if matches!(subcommand, "run" | "run-script" | "pr" | "issue" | "compose") {
            pattern = format!("{pattern} {}", argument(2).filter(|word| !word.starts_with('-'))?);
            length = 3;
        }
        let is_exact = SCRIPT_RUNNERS.contains(name) && words.len() == length;
        return Some(if is_exact { pattern } else { format!("{pattern} *") });
    }
    Some(format!("{program} *"))
}

/// A word that means itself in a pattern and in a shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@+=,%".contains(&byte))
}

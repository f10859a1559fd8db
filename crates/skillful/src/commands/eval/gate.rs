//! Whose word cases are, and whether they may run.
//!
//! A repository can bring any case. Invariant: a case of a project runs only where the user trusts its file with
//! everything that it brings along, and what runs is what was compared.

use std::path::{Path, PathBuf};

use basics::skill::Source;
use eval::case::Located;
use eval::shelf::{Reach, Shelf, ShelfError};
use permission::shell_quoted;
use runtime::spelling::{plain, real};
use serde_json::json;
use skill::index::Index;
use skill::roots::Root;
use skill::trust::EvalsTrust;

use crate::failure::{Exit, Failure};
use crate::session::Session;

/// Cases that may run.
pub(super) struct Passed {
    pub(super) cases: Vec<Located>,
    /// What they bring along stays as long as they do.
    _shelf: Shelf,
}

/// Whose word a file is.
pub(crate) enum Whose {
    Users,
    /// That of the project in this folder.
    Projects(PathBuf),
}

/// Lets cases pass that are the user's, or that the user trusts; `own` folders were written by this program.
pub(super) fn pass(
    session: &Session,
    cases: &[Located],
    own: &[PathBuf],
) -> Result<Passed, Failure> {
    let trust = session.index_options()?.trust;
    let mut shelf = Shelf::new()?;
    let (mut passed, mut untrusted, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for cases in cases.chunk_by(|a, b| a.file == b.file) {
        let Whose::Projects(project) = whose(session, &cases[0].file, own) else {
            passed.extend_from_slice(cases);
            continue;
        };
        let users = users_skills(session);
        let reach = Reach { project: &project, users: &users };
        let mut taken = None;
        let said = trust.evals(&project, &cases[0].file, || {
            let found = shelf.take(cases, reach)?;
            let sum = found.sha256.clone();
            taken = Some(found);
            Ok::<_, ShelfError>(sum)
        });
        match said? {
            EvalsTrust::Unknown => untrusted.push(cases[0].file.clone()),
            EvalsTrust::Changed => changed.push(cases[0].file.clone()),
            EvalsTrust::Trusted => passed.extend(match taken {
                Some(taken) => taken.cases,
                None => shelf.take(cases, reach)?.cases,
            }),
        }
    }
    match untrusted.is_empty() && changed.is_empty() {
        true => Ok(Passed { cases: passed, _shelf: shelf }),
        false => Err(refusal(session, &untrusted, &changed)),
    }
}

/// A file lies in a project where a repository is around it, or where the command was given in a folder around it.
/// What is in the user's own folders is the user's, whatever is around them.
pub(crate) fn whose(session: &Session, file: &Path, own: &[PathBuf]) -> Whose {
    let surroundings = &session.surroundings;
    // A link in the project does not make the user's what the project chose.
    let named = plain(file);
    let file = real(file);
    let home = surroundings.home.as_deref().map(real);
    let state = home.as_ref().map(|home| real(&home.join(".agent")));
    let mut users =
        users_skills(session).into_iter().chain(state).chain(own.iter().map(|o| real(o)));
    if users.any(|folder| file.starts_with(folder)) {
        return Whose::Users;
    }
    let repository = file.ancestors().skip(1).find(|folder| folder.join(".git").exists());
    let here = real(surroundings.project());
    let is_here = [&file, &named]
        .iter()
        .any(|path| path.starts_with(&here) || path.starts_with(surroundings.project()));
    match repository {
        Some(repository) => Whose::Projects(repository.to_owned()),
        None if is_here && home.as_ref() != Some(&here) => Whose::Projects(here),
        None => Whose::Users,
    }
}

/// Where the project's cases are looked for: its own, and those of its skills.
pub(crate) fn places(session: &Session) -> Result<Vec<PathBuf>, Failure> {
    let project = session.surroundings.project().join(".agent/evals");
    let mut roots = session.surroundings.roots();
    roots.retain(|root| root.source == Source::Project);
    let index = Index::build(&roots, &session.index_options()?);
    let skills = index.skills.iter().chain(&index.shadowed);
    let skills = skills.map(|entry| entry.path.join("evals"));
    Ok(std::iter::once(project).chain(skills).filter(|folder| folder.is_dir()).collect())
}

/// Folders of skills that the user has or names.
pub(crate) fn users_skills(session: &Session) -> Vec<PathBuf> {
    let is_users = |root: &Root| matches!(root.source, Source::User | Source::Explicit);
    let roots = session.surroundings.roots();
    roots.iter().filter(|root| is_users(root)).map(|root| real(&root.path)).collect()
}

fn refusal(session: &Session, untrusted: &[PathBuf], changed: &[PathBuf]) -> Failure {
    let files: Vec<PathBuf> = untrusted.iter().chain(changed).map(|file| real(file)).collect();
    let first = files.first().map_or(Path::new(""), PathBuf::as_path).display();
    let more = match files.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let message = match untrusted.is_empty() {
        false => format!("`{first}`{more} comes from a project that you do not trust yet"),
        true => format!("`{first}`{more} has changed since you trusted it"),
    };
    // The cases alone: there may be skills of strangers that nobody has looked at.
    let words: Vec<String> = narrowest(session, &files).map(|path| quoted(&path)).collect();
    let trust = format!("`skillful trust evals {}`", words.join(" "));
    let hint = match untrusted.is_empty() {
        true => format!(
            "look at it, then run {trust}; if you write it yourself, `skillful trust project --author` also trusts your later changes"
        ),
        false => format!("look at it, then run {trust}; add --dry-run to see what it uses"),
    };
    let names = |files: &[PathBuf]| -> Vec<String> {
        files.iter().map(|file| real(file).to_string_lossy().into_owned()).collect()
    };
    let details = json!({"untrusted": names(untrusted), "changed": names(changed)});
    Failure::new(Exit::Refused, "EvalsUntrusted", message).hint(hint).details(details)
}

/// The files, or the folders that they lie in where there are many; as short as they can be said here.
fn narrowest(session: &Session, files: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    const MANY: usize = 3;
    let here = real(&session.surroundings.working_directory);
    let evals = real(&session.surroundings.project().join(".agent/evals"));
    let mut named: Vec<PathBuf> = files.to_vec();
    if named.len() > MANY {
        for file in &mut named {
            *file = match file.starts_with(&evals) {
                true => evals.clone(),
                false => file.parent().unwrap_or(file).to_owned(),
            };
        }
        named.sort();
        named.dedup();
    }
    named.into_iter().map(move |file| match file.strip_prefix(&here) {
        Ok(inner) if inner.to_string_lossy().starts_with('-') => Path::new(".").join(inner),
        Ok(inner) => inner.to_owned(),
        Err(_) => file,
    })
}

fn quoted(path: &Path) -> String {
    shell_quoted(path.as_os_str())
}
